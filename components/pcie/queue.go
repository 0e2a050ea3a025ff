package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// queue is the offers of one source, in the order of their acceptance. The
// ordering table holds among them.
type queue struct {
	offers   [numClasses]clocked.FIFO[offer]
	front    [numClasses]uint64 // number of the oldest offer of each class; nobody: none
	accepted uint64             // numbers given to offers
}

// nobody is later than any offer.
const nobody = ^uint64(0)

func newQueues(n int) []queue {
	all := make([]queue, n)
	for i := range all {
		all[i].front = [numClasses]uint64{nobody, nobody, nobody}
	}
	return all
}

// submit offers something new of the unit's. The unit fits it to its first TLP.
func (q *queue) submit(class msg.TLPType, place int32) *offer {
	q.accepted++
	q.front[class] = min(q.front[class], q.accepted)
	o := q.offers[class].Push()
	*o = offer{since: q.accepted, place: place, packet: rules.Packet{Class: rows[class]}}
	return o
}

func (q *queue) empty() bool { return q.front[0]&q.front[1]&q.front[2] == nobody }

// waiting tells whether there are offers.
func (t *transmitter) waiting() bool {
	if !t.queue.empty() {
		return true
	}
	for i := range t.queues {
		if !t.queues[i].empty() {
			return true
		}
	}
	return false
}

// turns chooses from the queues in turn; there is an offer. If none may go, lack
// is what the last of them misses.
func (t *transmitter) turns(now clocked.Time) (c choice, lack Stall) {
	t.starved = false
	if len(t.queues) == 1 {
		return t.pick(now)
	}
	for i := range t.queues {
		k := (t.turn + i) % len(t.queues)
		t.queue = &t.queues[k]
		if t.queue.empty() {
			continue
		}
		c, missing := t.pick(now)
		if missing == stallNone {
			t.turn = (k + 1) % len(t.queues)
			return c, stallNone
		}
		lack = missing
	}
	return c, lack
}
