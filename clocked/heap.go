package clocked

import "math/bits"

// event is a queued wake of a unit. Its key is the place in the order of
// events of equal time (upper 44 bits) and the unit (lower 20): 16 bytes, so
// that the four children of a heap node fill one cache line.
type event struct {
	at  uint64
	key uint64
}

const (
	unitBits = 20
	maxUnits = 1 << unitBits
)

func newEvent(at Time, order uint64, id UnitID) event {
	return event{at: uint64(at), key: order<<unitBits | uint64(id)}
}

func (a event) time() Time    { return Time(a.at) }
func (a event) order() uint64 { return a.key >> unitBits }
func (a event) unit() UnitID  { return UnitID(a.key & (maxUnits - 1)) }

// before is 1 if a comes before b, else 0: a borrow instead of two branches
// that no predictor can guess.
func (a event) before(b event) uint64 {
	_, borrow := bits.Sub64(a.key, b.key, 0)
	_, borrow = bits.Sub64(a.at, b.at, borrow)
	return borrow
}

// eventHeap is a 4-ary min-heap: half as deep as a binary one.
type eventHeap []event

func (h *eventHeap) push(ev event) {
	q := append(*h, ev)
	i := len(q) - 1
	for i > 0 {
		p := (i - 1) / 4
		if ev.before(q[p]) == 0 {
			break
		}
		q[i] = q[p]
		i = p
	}
	q[i] = ev
	*h = q
}

func (h *eventHeap) pop() event {
	q := *h
	top := q[0]
	n := len(q) - 1
	last := q[n]
	q = q[:n]
	*h = q
	if n > 0 {
		q.sink(last)
	}
	return top
}

func (q eventHeap) sink(ev event) {
	i := 0
	for {
		c := 4*i + 1
		if c >= len(q) {
			break
		}
		if c = q.least(c); q[c].before(ev) == 0 {
			break
		}
		q[i] = q[c]
		i = c
	}
	q[i] = ev
}

// least is the earliest of up to four siblings, of which c is the first.
func (q eventHeap) least(c int) int {
	if c+3 < len(q) {
		s := q[c : c+4 : c+4]
		a := s[1].before(s[0])
		b := 2 + s[3].before(s[2])
		if s[b&3].before(s[a&3]) != 0 {
			a = b
		}
		return c + int(a)
	}
	best := c
	for k := c + 1; k < len(q); k++ {
		if q[k].before(q[best]) != 0 {
			best = k
		}
	}
	return best
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
