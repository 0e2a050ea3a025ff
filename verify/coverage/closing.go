package coverage

import (
	"slices"

	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// closing is something under way that takes translations of pages away.
type closing struct {
	kind        kind
	phase       phase
	first, last uint32
	command     *msg.Command          // nil: an ATS Invalidate or a peer's SEND
	record      *measure.Invalidation // nil: nobody stamps its steps
	id          uint64                // of the record, which serves others later
	qp          uint32                // of a peer's SEND with invalidate, from 1
	tag         uint32                // of an ATS Invalidate: its ITag's bit
}

// now is its phase, as far as its record or what was seen tells.
func (x *closing) now() phase {
	r := x.record
	if r == nil || r.ID != x.id || x.phase >= phaseDrained {
		return x.phase
	}
	switch {
	case r.Drained > 0:
		return phaseDrained
	case r.Marked > 0:
		return phaseMarked
	case r.Received > 0:
		return phaseReceived
	}
	return x.phase
}

// over tells whether what it was for is done.
func (x *closing) over() bool {
	if x.phase != phaseAcknowledged {
		return false
	}
	if x.kind == kindSuspend {
		return false // until it is lifted
	}
	return x.record == nil || x.record.ID != x.id || x.record.Done > 0
}

// begin: something is sent that takes translations away.
func (c *Collector) begin(a *adapter, x closing) {
	if x.first == msg.NoPage {
		return
	}
	a.sweep()
	if x.record != nil {
		x.id = x.record.ID
	}
	column := meetInvalidation
	if x.kind == kindSuspend {
		column = meetSuspension
	}
	c.enter(a, &x, phaseSent)
	for p := x.first; p <= x.last; p++ {
		c.meets(a, p, column)
		a.at(p).live++
	}
	a.live = append(a.live, x)
}

// sweep forgets what is over.
func (a *adapter) sweep() {
	for i := 0; i < len(a.live); {
		if a.live[i].over() {
			a.forget(i)
		} else {
			i++
		}
	}
}

func (a *adapter) forget(i int) {
	for p := a.live[i].first; p <= a.live[i].last; p++ {
		a.at(p).live--
	}
	a.live = slices.Delete(a.live, i, i+1)
}

// meets: something begins at a page.
func (c *Collector) meets(a *adapter, p uint32, m meet) {
	if p == msg.NoPage || a.at(p).live == 0 {
		return
	}
	for i := range a.live {
		if x := &a.live[i]; x.first <= p && p <= x.last && !x.over() {
			c.hit(races[x.kind], int(x.now()), int(m))
		}
	}
}

// enter takes note of all that goes on at its pages as it comes to a phase.
func (c *Collector) enter(a *adapter, x *closing, ph phase) {
	for p := x.first; p <= x.last; p++ {
		c.enterAt(a, x, p, ph)
	}
}

func (c *Collector) enterAt(a *adapter, x *closing, p uint32, ph phase) {
	f := a.at(p)
	for m, n := range [...]uint32{meetAsked: uint32(f.asked), meetWalk: uint32(f.walks), meetReadAhead: uint32(f.ahead), meetHeld: uint32(f.held),
		meetWrite: f.writes, meetRead: uint32(f.reads), meetFault: uint32(f.faults), meetFill: uint32(f.fills), meetPrefetch: uint32(f.prefetches)} {
		if n > 0 {
			c.hit(races[x.kind], int(ph), m)
		}
	}
	c.others(a, x, p, ph)
}

// others takes note of the other things under way at a page.
func (c *Collector) others(a *adapter, x *closing, p uint32, ph phase) {
	if a.at(p).live == 0 {
		return
	}
	for i := range a.live {
		y := &a.live[i]
		if y == x || y.first > p || y.last < p || y.over() {
			continue
		}
		column := meetInvalidation
		if y.kind == kindSuspend {
			column = meetSuspension
		}
		c.hit(races[x.kind], int(ph), int(column))
	}
}

// reach: the adapter, or who sent it, has taken it to a phase. Whatever goes on
// when all is drained went on while it drained.
func (c *Collector) reach(a *adapter, x *closing, ph phase) {
	if x.phase >= ph {
		return
	}
	if ph == phaseDrained {
		c.enter(a, x, phaseMarked)
	}
	c.enter(a, x, ph)
	x.phase = ph
}

// of is what a command has under way, or nil.
func (a *adapter) of(cmd *msg.Command) *closing {
	for i := range a.live {
		if a.live[i].command == cmd {
			return &a.live[i]
		}
	}
	return nil
}
