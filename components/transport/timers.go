package transport

import "rnicmmu/clocked"

// deadlines wakes a unit for timers of its QPs. Deadlines mostly move later, so
// an entry stays where it is and is queued again when it comes up too early.
type deadlines struct {
	heap  timers
	at    []clocked.Time // of each QP
	entry []clocked.Time // its earliest entry in the heap
	armed clocked.Time
}

func newDeadlines(qps int) deadlines {
	d := deadlines{at: make([]clocked.Time, qps), entry: make([]clocked.Time, qps), armed: clocked.Never}
	for i := range d.at {
		d.at[i], d.entry[i] = clocked.Never, clocked.Never
	}
	return d
}

func (d *deadlines) set(qp int32, at clocked.Time) {
	d.at[qp] = at
	if at < d.entry[qp] {
		d.entry[qp] = at
		d.heap.push(timer{at: at, qp: qp})
	}
}

// due takes a QP whose deadline has come; none: there is none. Most ticks have
// none, and it is short enough to be told inline.
func (d *deadlines) due(now clocked.Time) int32 {
	if len(d.heap) == 0 || d.heap[0].at > now {
		return none
	}
	return d.take(now)
}

func (d *deadlines) take(now clocked.Time) int32 {
	for len(d.heap) > 0 && d.heap[0].at <= now {
		t := d.heap.pop()
		if t.at != d.entry[t.qp] {
			continue // a later entry than the one that counts
		}
		d.entry[t.qp] = clocked.Never
		if d.at[t.qp] <= now {
			return t.qp
		}
		d.set(t.qp, d.at[t.qp])
	}
	return none
}

// arm asks the engine to wake the unit for the earliest.
func (d *deadlines) arm(now clocked.Time, e *clocked.Engine, id clocked.UnitID) {
	if len(d.heap) == 0 || d.armed > now && d.armed <= d.heap[0].at {
		return
	}
	d.armed = d.heap[0].at
	e.Wake(id, d.armed)
}

// timer is a queued expiry of a QP's deadline.
type timer struct {
	at clocked.Time
	qp int32
}

func (a timer) before(b timer) bool { return a.at < b.at || a.at == b.at && a.qp < b.qp }

// timers is a binary heap of expiries.
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
