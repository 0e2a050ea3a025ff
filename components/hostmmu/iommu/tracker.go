package iommu

import (
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/ats"
)

// inFlight is the reads that an adapter has at memory.
type inFlight struct {
	flights    []flight // by tag
	reads      [2]int   // how many, by generation
	generation uint8    // flips with each drain
}

// tracker knows what writes of a root port are under way at memory.
type tracker struct {
	written  uint64 // writes handed to memory
	placed   uint64 // of them, those known to be in memory
	pending  clocked.FIFO[flush]
	flushes  [ownTags]flush
	flushing uint32 // bit i: flushes[i] is under way
}

// flight is a read at memory.
type flight struct {
	generation uint8
	refusal    msg.Status // a flush tells of a write that was dropped
}

// flush is a read of the IOMMU's own, which memory answers when every write of
// the root port that it was handed before is placed.
type flush struct {
	written    uint64
	adapter    *adapter // whose completion waits; nil: an invalidation does
	completion ats.InvalidateCompletion
}

// Tags of the IOMMU's own reads through a root port's client.
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
		f.refusal = a.refused.take(s.req.Address.Writer)
	}
	a.flights[s.req.Tag] = f
	a.reads[a.generation]++
}

// takeAnswers takes memory's answers: what an adapter asked for goes on to it.
// They are always taken, so that no drain waits for the link.
func (u *Unit) takeAnswers(now clocked.Time, r *rootPort) {
	for m := r.MemDone.Peek(now); m != nil; m = r.MemDone.Peek(now) {
		if m.Tag >= ownTag {
			u.flushed(now, r, int(m.Tag-ownTag))
		} else {
			a := &u.adapters[m.Adapter]
			f := &a.flights[m.Tag]
			a.reads[f.generation]--
			if f.generation != a.generation {
				u.draining.reads--
			}
			done := r.answers.Push()
			*done = answer{now, *m}
			done.done.Status = f.refusal
		}
		r.MemDone.Pop(now)
	}
}

// sendFlushes sends the flushes that wait, in front of everything else.
func (u *Unit) sendFlushes(now clocked.Time, r *rootPort) {
	for r.pending.Len() > 0 && r.Out.Ready(now) {
		i := bits.TrailingZeros32(^r.flushing)
		if i == ownTags {
			return
		}
		f := r.pending.Pop()
		f.written = r.written
		r.flushes[i] = f
		r.flushing |= 1 << i
		*r.Out.Push(now) = msg.MemReq{Kind: msg.KindFlush, Tag: ownTag + uint16(i), Len: 8, PA: u.config.Tables,
			Oracle: msg.Oracle{Page: msg.NoPage}}
	}
}

// flushed takes the answer of a flush.
func (u *Unit) flushed(now clocked.Time, r *rootPort, i int) {
	f := &r.flushes[i]
	r.flushing &^= 1 << i
	r.placed = max(r.placed, f.written)
	if f.adapter == nil {
		u.draining.flushes--
	} else {
		u.credit(now, f.adapter, f.completion)
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
		if n := a.reads[a.generation]; n > 0 {
			u.draining.reads += n
			a.generation ^= 1
		}
	}
	for _, r := range u.roots {
		if r.placed != r.written {
			u.draining.flushes++
			*r.pending.Push() = flush{}
		}
	}
}

// done tells whether nothing is left to wait for.
func (d *drain) done() bool { return d.requests == 0 && d.reads == 0 && d.flushes == 0 }
