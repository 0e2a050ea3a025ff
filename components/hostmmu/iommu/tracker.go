package iommu

import (
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/ats"
)

// tracker knows what an adapter has under way at memory.
type tracker struct {
	flights    []flight // reads at memory, by tag
	inFlight   [2]int   // reads at memory, by generation
	generation uint8    // flips with each drain
	written    uint64   // writes handed to memory
	placed     uint64   // of them, those known to be in memory
	pending    clocked.FIFO[flush]
	flushes    [ownTags]flush
	flushing   uint32 // bit i: flushes[i] is under way
}

// flight is a read at memory.
type flight struct {
	generation uint8
	refusal    msg.Status // a flush tells of a write that was dropped
}

// flush is a read of the IOMMU's own, which memory answers when every write of
// the adapter that it was handed before is placed.
type flush struct {
	written    uint64
	drain      bool // for an invalidation; else for the completion
	completion ats.InvalidateCompletion
}

// Tags of the IOMMU's own reads through an adapter's client.
const (
	ownTag  = 0xFFC0
	ownTags = 32
)

// follow notes a read that leaves for memory.
func (a *adapter) follow(s *request) {
	for int(s.req.Tag) >= len(a.flights) {
		a.flights = append(a.flights, flight{})
	}
	f := flight{generation: a.generation}
	if s.req.Kind == msg.KindFlush {
		f.refusal, a.refused = a.refused, msg.StatusSuccess
	}
	a.flights[s.req.Tag] = f
	a.inFlight[a.generation]++
}

// takeAnswers takes memory's answers: what the adapter asked for goes on to it.
// They are always taken, so that no drain waits for the link.
func (u *Unit) takeAnswers(now clocked.Time, a *adapter) {
	for m := a.ports.MemDone.Peek(now); m != nil; m = a.ports.MemDone.Peek(now) {
		if m.Tag >= ownTag {
			u.flushed(now, a, int(m.Tag-ownTag))
		} else {
			f := &a.flights[m.Tag]
			a.inFlight[f.generation]--
			if f.generation != a.generation {
				u.draining.reads--
			}
			done := a.answers.Push()
			*done = answer{now, *m}
			done.done.Status = f.refusal
		}
		a.ports.MemDone.Pop(now)
	}
}

// sendFlushes sends the flushes that wait, in front of everything else.
func (u *Unit) sendFlushes(now clocked.Time, a *adapter) {
	for a.pending.Len() > 0 && a.ports.Out.Ready(now) {
		i := bits.TrailingZeros32(^a.flushing)
		if i == ownTags {
			return
		}
		f := a.pending.Pop()
		f.written = a.written
		a.flushes[i] = f
		a.flushing |= 1 << i
		*a.ports.Out.Push(now) = msg.MemReq{Kind: msg.KindFlush, Tag: ownTag + uint16(i), Len: 8, PA: u.config.Tables,
			Oracle: msg.Oracle{Page: msg.NoPage}}
	}
}

// flushed takes the answer of a flush.
func (u *Unit) flushed(now clocked.Time, a *adapter, i int) {
	f := &a.flushes[i]
	a.flushing &^= 1 << i
	a.placed = max(a.placed, f.written)
	if f.drain {
		u.draining.flushes--
	} else {
		u.credit(now, a, f.completion)
	}
}

// drain is what an invalidation waits for.
type drain struct {
	requests int // translated before, and still here
	reads    int // at memory
	flushes  int
}

// markTranslated makes the drain wait for every request that is translated and still here.
func (u *Unit) markTranslated() {
	for i := range u.slots {
		s := &u.slots[i]
		if s.stage == stageReady && s.verdict == forward && !s.req.Address.Translated && !s.marked {
			s.marked = true
			u.draining.requests++
		}
	}
}

// place makes the drain wait for all that has left for memory.
func (u *Unit) place() {
	for i := range u.adapters {
		a := &u.adapters[i]
		if n := a.inFlight[a.generation]; n > 0 {
			u.draining.reads += n
			a.generation ^= 1
		}
		if a.placed != a.written {
			u.draining.flushes++
			*a.pending.Push() = flush{drain: true}
		}
	}
}

// done tells whether nothing is left to wait for.
func (d *drain) done() bool { return d.requests == 0 && d.reads == 0 && d.flushes == 0 }
