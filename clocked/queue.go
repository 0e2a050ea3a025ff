package clocked

import (
	"math/bits"
	"slices"
)

// event is a queued wake of a unit. Its key is the place in the order of
// events of equal time (upper 44 bits) and the unit (lower 20).
type event struct {
	at  Time
	key uint64
}

const (
	unitBits = 20
	maxUnits = 1 << unitBits
)

func newEvent(at Time, order uint64, id UnitID) event {
	return event{at: at, key: order<<unitBits | uint64(id)}
}

func (a event) order() uint64 { return a.key >> unitBits }
func (a event) unit() UnitID  { return UnitID(a.key & (maxUnits - 1)) }

func (a event) before(b event) bool {
	return a.at < b.at || a.at == b.at && a.key < b.key
}

// eventQueue is a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, JACM 1990): a
// priority queue for time that never runs backwards. Events wait in the bucket
// of the highest bit in which their time differs from the last time taken.
// When nothing more is due, the lowest bucket's first time becomes that time,
// and its events move to lower buckets: each event moves a few times, without
// comparisons, and hardware on a common clock moves in whole groups.
type eventQueue struct {
	last     Time // the time of due, -1 at first; nothing is pushed at or before it
	due      []event
	head     int // of due: the next to take
	later    [64][]event
	occupied uint64 // bit k: later[k] holds events
	first    event  // of later
	known    bool   // first is valid
	count    int
	shuffled bool // keys do not grow
}

func (q *eventQueue) init() {
	const room = 16 // per bucket, so that small systems never allocate later
	space := make([]event, room*(len(q.later)+1))
	q.last = -1
	q.due = space[0:0:room]
	for k := range q.later {
		from := room * (k + 1)
		q.later[k] = space[from : from : from+room]
	}
}

func (q *eventQueue) push(ev event) {
	q.put(ev)
	q.count++
	if q.known && ev.before(q.first) {
		q.first = ev
	}
}

func (q *eventQueue) put(ev event) {
	k := (bits.Len64(uint64(ev.at^q.last)) - 1) & 63
	q.later[k] = append(q.later[k], ev)
	q.occupied |= 1 << k
}

// peek is the next event; the queue must not be empty.
func (q *eventQueue) peek() event {
	if q.head < len(q.due) {
		return q.due[q.head]
	}
	if !q.known {
		q.known = true
		bucket := q.later[bits.TrailingZeros64(q.occupied)&63]
		q.first = bucket[0]
		for _, ev := range bucket[1:] {
			if ev.before(q.first) {
				q.first = ev
			}
		}
	}
	return q.first
}

func (q *eventQueue) pop() event {
	if q.head == len(q.due) {
		q.advance()
	}
	ev := q.due[q.head]
	q.head++
	q.count--
	return ev
}

// advance makes the first time in the buckets due.
func (q *eventQueue) advance() {
	q.last = q.peek().at
	q.known = false
	q.due, q.head = q.due[:0], 0
	k := bits.TrailingZeros64(q.occupied) & 63
	q.occupied &^= 1 << k
	for _, ev := range q.later[k] {
		if ev.at == q.last {
			q.due = append(q.due, ev)
		} else {
			q.put(ev)
		}
	}
	q.later[k] = q.later[k][:0]
	if q.shuffled { // else they are in order, as they were pushed
		slices.SortFunc(q.due, compareKeys)
	}
}

func compareKeys(a, b event) int {
	if a.key < b.key {
		return -1
	}
	return 1
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
