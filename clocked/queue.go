package clocked

import "math/bits"

// event is a queued wake of a unit. Its key is the place in the order of
// events of equal time (upper 44 bits) and the unit (lower 20).
type event struct {
	at  Time
	key uint64
}

const (
	unitBits  = 20
	orderBits = 64 - unitBits
	maxUnits  = 1 << unitBits
)

func newEvent(at Time, order uint64, id UnitID) event {
	return event{at: at, key: order<<unitBits | uint64(id)}
}

func (a event) order() uint64 { return a.key >> unitBits }
func (a event) unit() UnitID  { return UnitID(a.key & (maxUnits - 1)) }

func (a event) before(b event) bool {
	return a.at < b.at || a.at == b.at && a.key < b.key
}

// The wheel reaches 1 µs ahead, beyond a network's or a memory's latency, in
// slots so short that few hold events of different times.
const (
	slotBits   = 10 // of picoseconds
	wheelSlots = 1024
)

// eventQueue is a timing wheel (Varghese and Lauck, SOSP 1987) for what is
// near, and a heap for what is not. A slot's events are a list in order; one
// that is pushed last mostly belongs at its end.
type eventQueue struct {
	last     Time // of the event taken last, -1 at first; nothing is pushed at or before it
	slots    [wheelSlots]wheelSlot
	occupied [wheelSlots / 64]uint64 // bit by slot
	words    uint64                  // bit by word of occupied: it is not 0
	nodes    []wheelNode
	spare    int32 // list of unused nodes
	far      farHeap
	count    int
}

type wheelSlot struct{ first, last int32 } // valid while occupied

type wheelNode struct {
	event
	next int32
}

const noNode int32 = -1

func (q *eventQueue) init() {
	const room = 256 // so that small systems never allocate later
	q.last, q.spare = -1, noNode
	q.nodes = make([]wheelNode, 0, room)
	q.far = make(farHeap, 0, room)
}

// near tells whether the wheel reaches the event.
func (q *eventQueue) near(ev event) bool { return ev.at>>slotBits-q.last>>slotBits < wheelSlots }

func (q *eventQueue) push(ev event) {
	q.count++
	if q.near(ev) {
		q.place(ev)
	} else {
		q.far.push(ev)
	}
}

// place puts an event into its slot.
func (q *eventQueue) place(ev event) {
	n := q.node(ev)
	i := uint(ev.at>>slotBits) % wheelSlots
	s := &q.slots[i]
	switch {
	case q.occupied[i/64]>>(i%64)&1 == 0:
		q.occupied[i/64] |= 1 << (i % 64)
		q.words |= 1 << (i / 64)
		s.first, s.last = n, n
	case q.nodes[s.last].before(ev):
		q.nodes[s.last].next = n
		s.last = n
	default:
		at := &s.first
		for q.nodes[*at].before(ev) {
			at = &q.nodes[*at].next
		}
		q.nodes[n].next, *at = *at, n
	}
}

func (q *eventQueue) node(ev event) int32 {
	n := q.spare
	if n == noNode {
		q.nodes = append(q.nodes, wheelNode{event: ev, next: noNode})
		return int32(len(q.nodes) - 1)
	}
	q.spare = q.nodes[n].next
	q.nodes[n] = wheelNode{event: ev, next: noNode}
	return n
}

// firstSlot is the earliest occupied slot; there must be one.
func (q *eventQueue) firstSlot() uint {
	from := uint(q.last>>slotBits) % wheelSlots
	w := from / 64
	if bitsLeft := q.occupied[w] >> (from % 64); bitsLeft != 0 {
		return from + uint(bits.TrailingZeros64(bitsLeft))
	}
	// The words after w in a circle, w itself last.
	ahead := bits.RotateLeft64(q.words, -int(w+1))
	w = (w + 1 + uint(bits.TrailingZeros64(ahead))) % 64
	return w*64 + uint(bits.TrailingZeros64(q.occupied[w]))
}

// peek is the next event; the queue must not be empty.
func (q *eventQueue) peek() event {
	if q.words == 0 {
		return q.far[0]
	}
	return q.nodes[q.slots[q.firstSlot()%wheelSlots].first].event
}

func (q *eventQueue) pop() event {
	ev, _ := q.popUntil(Never)
	return ev
}

// popUntil takes the next event if it is not later than limit; the queue must
// not be empty.
func (q *eventQueue) popUntil(limit Time) (ev event, ok bool) {
	if q.words == 0 {
		if ev = q.far[0]; ev.at > limit {
			return ev, false
		}
		q.far.pop()
	} else {
		i := q.firstSlot() % wheelSlots
		s := &q.slots[i]
		n := &q.nodes[s.first]
		if ev = n.event; ev.at > limit {
			return ev, false
		}
		first := s.first
		s.first, n.next, q.spare = n.next, q.spare, first
		if first == s.last {
			if q.occupied[i/64] &^= 1 << (i % 64); q.occupied[i/64] == 0 {
				q.words &^= 1 << (i / 64)
			}
		}
	}
	q.count--
	q.last = ev.at
	for len(q.far) > 0 && q.near(q.far[0]) {
		q.place(q.far.pop())
	}
	return ev, true
}

// farHeap is a binary min-heap of events.
type farHeap []event

func (h *farHeap) push(ev event) {
	q := append(*h, ev)
	i := len(q) - 1
	for i > 0 && ev.before(q[(i-1)/2]) {
		q[i] = q[(i-1)/2]
		i = (i - 1) / 2
	}
	q[i] = ev
	*h = q
}

func (h *farHeap) pop() event {
	q := *h
	top, last := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	*h = q
	i := 0
	for c := 1; c < len(q); c = 2*i + 1 {
		if c+1 < len(q) && q[c+1].before(q[c]) {
			c++
		}
		if !q[c].before(last) {
			break
		}
		q[i] = q[c]
		i = c
	}
	if len(q) > 0 {
		q[i] = last
	}
	return top
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
