package iommu

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/cache"
	"rnicmmu/model/pagetable"
)

// walkUnit is the walk queue, the walkers, and what they ask of memory.
type walkUnit struct {
	walkOf   *cache.Cache // number of the walk of a 4 KiB page: its slot
	walks    []walk
	walkers  []int32 // the walk of each walker, or none
	queue    clocked.FIFO[int32]
	launches clocked.FIFO[launch]
	memory   clocked.FIFO[msg.MemReq]
}

// walk is what misses of one page wait for.
type walk struct {
	context context
	va      model.VA
	step    pagetable.Step
	write   bool // all entries read so far allow stores
	live    bool
	stale   bool // an invalidation made void what it has read
	list    waiters
}

// launch is a walker before its first read.
type launch struct {
	at     clocked.Time
	walker int32
}

// contextTag marks the reads of contexts among those of walkers.
const contextTag = 1 << 15

// miss makes a request wait for the walk of its page, and tells whether one was
// under way.
func (u *Unit) miss(now clocked.Time, n int32, c *context) (merged bool) {
	s := &u.slots[n]
	s.stage = stageWalk
	u.arrived(now, s)
	tag := tagOf(c.Domain, s.va(), model.Shift4K)
	i, merged := u.walkOf.Peek(0, tag)
	if !merged {
		i, _, _ = u.walkOf.Fill(0, tag)
		u.walks[i] = walk{context: *c, va: s.va(), live: true, list: noWaiters}
		*u.queue.Push() = int32(i)
	}
	u.enqueue(&u.walks[i].list, n)
	return merged
}

// beginWalks gives walkers to the walks that queue.
func (u *Unit) beginWalks(now clocked.Time) {
	for k := 0; k < len(u.walkers) && u.queue.Len() > 0; k++ {
		if u.walkers[k] != none {
			continue
		}
		i := u.queue.Pop()
		w := &u.walks[i]
		u.walkers[k] = i
		w.step, w.write = u.psc.start(w.context.Domain, w.va, w.context.Table.Root())
		at := now + u.spec.WalkOverhead
		*u.launches.Push() = launch{at, int32(k)}
		if at > now {
			u.engine.Wake(u.id, at)
		}
	}
	for u.launches.Len() > 0 && u.launches.Front().at <= now {
		u.readEntry(int(u.launches.Pop().walker))
	}
	for u.memory.Len() > 0 && u.ports.WalkReq.Ready(now) {
		*u.ports.WalkReq.Push(now) = u.memory.Pop()
	}
}

// readEntry reads the next entry of a walker's walk.
func (u *Unit) readEntry(k int) {
	u.stats.WalkReads++
	*u.memory.Push() = msg.MemReq{Kind: msg.KindWalk, Tag: uint16(k), Len: 8, PA: u.walks[u.walkers[k]].step.At,
		Oracle: msg.Oracle{Page: msg.NoPage}}
}

// finishReads takes memory's answers to walkers and reads of contexts.
func (u *Unit) finishReads(now clocked.Time) {
	for m := u.ports.WalkDone.Peek(now); m != nil; m = u.ports.WalkDone.Peek(now) {
		if m.Tag&contextTag != 0 {
			u.finishContext(now, int(m.Tag&^contextTag))
		} else {
			u.finishEntry(now, int(m.Tag))
		}
		u.ports.WalkDone.Pop(now)
	}
}

// finishEntry looks at the entry that memory holds at this instant.
func (u *Unit) finishEntry(now clocked.Time, k int) {
	i := u.walkers[k]
	w := &u.walks[i]
	if w.stale {
		u.endWalk(now, k, nil)
		return
	}
	e := u.load(w)
	w.write = w.write && e.Has(pagetable.Write)
	switch {
	case !e.Has(pagetable.Present):
		u.endWalk(now, k, nil)
	case w.step.Leaf(e):
		t := u.leaf(w, e)
		u.iotlb.fill(w.context.Domain, w.va, t)
		u.endWalk(now, k, &t)
	default:
		u.mark(w, pagetable.Accessed)
		u.psc.fill(w.context.Domain, w.va, w.step.Level, pointer{e.PA(), w.write})
		w.step = w.step.Below(e.PA(), w.va)
		u.readEntry(k)
	}
}

// load is the entry at a walk's step. Those of an identity are the IOMMU's own.
func (u *Unit) load(w *walk) pagetable.PTE {
	switch {
	case !w.context.identical(w.va):
		return w.context.Table.Store().Load(w.step.At)
	case w.step.Level == topLevel:
		tables := u.config.Tables + model.PA(uint64(w.va)>>39<<12)
		return pagetable.PTE(tables) | pagetable.Present | pagetable.Write
	}
	return pagetable.PTE(w.va)&^(1<<30-1) | pagetable.Present | pagetable.Write | pagetable.Dirty | pagetable.PageSize
}

// mark sets accessed bits in the entry at a walk's step.
func (u *Unit) mark(w *walk, bits pagetable.PTE) {
	if u.spec.SetAccessed && !w.context.identical(w.va) {
		w.context.Table.Store().Mark(w.step.At, bits)
	}
}

// leaf is the translation that a leaf entry gives, and marks the entry.
func (u *Unit) leaf(w *walk, e pagetable.PTE) translation {
	shift := w.step.Shift()
	t := translation{pa: e.PA() &^ model.PA(shift.Bytes()-1), shift: shift, write: w.write, dirty: e.Has(pagetable.Dirty)}
	bits := pagetable.Accessed
	if t.write && u.spec.SetAccessed && u.storeWaits(w) {
		bits |= pagetable.Dirty
		t.dirty = true
	}
	u.mark(w, bits)
	return t
}

// forget makes void every walk that a request of a context waits for.
func (u *Unit) forget(adapter uint16, pasid uint32) {
	for i := range u.walks {
		w := &u.walks[i]
		if !w.live {
			continue
		}
		for n := w.list.head; n != none; n = u.slots[n].next {
			if s := &u.slots[n]; s.adapter == adapter && s.pasid() == pasid {
				w.stale = true
			}
		}
	}
}

// storeWaits tells whether a store waits for the walk.
func (u *Unit) storeWaits(w *walk) bool {
	for n := w.list.head; n != none; n = u.slots[n].next {
		if u.slots[n].stores() {
			return true
		}
	}
	return false
}

// endWalk frees the walker and lets the requests of its walk go on: with what it
// has found (nil: the page is absent), or from their contexts on if it is void.
func (u *Unit) endWalk(now clocked.Time, k int, t *translation) {
	w := &u.walks[u.walkers[k]]
	void, list := w.stale, w.list
	if void {
		u.stats.Stales++
	}
	u.walkOf.Invalidate(0, tagOf(w.context.Domain, w.va, model.Shift4K))
	w.live = false
	u.walkers[k] = none
	for list.head != none {
		if n := u.dequeue(&list); void {
			u.start(now, n)
		} else {
			u.decide(now, n, t)
		}
	}
}
