package transport

import "rnicmmu/clocked"

// timer is a queued expiry of a QP's deadline.
type timer struct {
	at clocked.Time
	qp int32
}

func (a timer) before(b timer) bool { return a.at < b.at || a.at == b.at && a.qp < b.qp }

// timers is a binary heap of expiries. Deadlines mostly move later, so a QP's
// entry stays where it is and is queued again when it comes up too early.
type timers []timer

func (h *timers) push(t timer) {
	q := append(*h, t)
	i := len(q) - 1
	for i > 0 && t.before(q[(i-1)/2]) {
		q[i] = q[(i-1)/2]
		i = (i - 1) / 2
	}
	q[i] = t
	*h = q
}

func (h *timers) pop() timer {
	q := *h
	top, last := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	*h = q
	i := 0
	for len(q) > 0 {
		c := 2*i + 1
		if c+1 < len(q) && q[c+1].before(q[c]) {
			c++
		}
		if c >= len(q) || !q[c].before(last) {
			q[i] = last
			break
		}
		q[i] = q[c]
		i = c
	}
	return top
}
