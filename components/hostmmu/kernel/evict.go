package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/pagetable"
)

// Bits of the page table that the kernel reads.
const (
	accessed = pagetable.Accessed
	dirty    = pagetable.Dirty
)

type evictionPhase uint8

const (
	evictChecks   evictionPhase = iota // notifier entered
	evictCommands                      // adapters with tables are being told
	evictUpdates                       // all of them have acknowledged
	evictFence                         // the IOMMU, and by it adapters without tables, are being told
	evictDisable                       // an adapter that did not answer is being cut off
	evictFlush                         // page table changed, CPU TLBs flushed
	evictContent                       // pages go to swap, or to another frame
)

// eviction takes a run of pages away from the adapters and the CPU, and then
// to swap or, for a migration, to another frame.
type eviction struct {
	live         bool
	first, count uint32
	trigger      measure.Trigger
	phase        evictionPhase
	notified     clocked.Time
	checked      clocked.Time
	slots        []*notice            // adapters with tables first
	tables       int                  // of slots, those
	told, acked  int                  // of slots
	dmaPages     int                  // of the pages, those in the DMA domain
	departed     int                  // pages that left the DMA domain, and that the IOTLB is flushed for
	departure    clocked.Time         // of those
	detached     bool                 // the page table's entries are cleared
	domain       measure.Invalidation // takes the time of the DMA domain's flush
	process      measure.Invalidation // takes the time of the process's flush
	left         uint32               // frames
	reopening    int                  // commands that end suspensions
	change       change               // to pages that stay where they are
	target       uint32               // frame of a page that moves
	flags        pagetable.PTE        // of a page that moves
	emptied      []model.PA           // tables of split pages: used again when the pages' frames are
}

// invalidate starts on a run of resident pages. From here on no fault maps
// them and every fault that has looked at them looks again.
func (k *Kernel) invalidate(now clocked.Time, first, count uint32, why measure.Trigger) *eviction {
	i := k.evictions.get()
	v := k.evictions.items[i]
	*v = eviction{live: true, first: first, count: count, trigger: why, notified: now, slots: v.slots[:0], emptied: v.emptied[:0], target: noFrame}
	for p := first; p < first+count; p++ {
		pg := &k.pages[p]
		pg.state = pageEvicting
		pg.seq++ // even where nothing is mapped
		k.frames[pg.frame].evict = uint32(i)
	}
	if why == measure.TriggerEvict {
		k.evicting += int(count)
	}
	k.after(now, k.spec.Notifier.Checks, refer(actorEviction, i))
	return v
}

// stepEviction goes on with an eviction.
func (k *Kernel) stepEviction(now clocked.Time, i int) {
	switch k.evictions.items[i].phase {
	case evictChecks:
		k.notify(now, i)
	case evictUpdates:
		k.unmap(now, i)
	case evictFlush:
		k.flushed(now, i)
	}
}

// unmap takes the pages out of the DMA domain and, where adapters walk the page
// table, out of that; then no walk finds them, and what caches hold of them can
// be flushed for good.
func (k *Kernel) unmap(now clocked.Time, i int) {
	v := k.evictions.items[i]
	k.leaveDomain(now, v)
	if v.tables < len(v.slots) {
		k.detach(now, i)
	}
	if v.departed == 0 && v.tables == len(v.slots) {
		k.unmapped(now, i)
		return
	}
	v.phase = evictFence
	k.flushIOTLB(i)
	k.tellWalkers(i)
}

// leaveDomain takes the pages of an eviction out of the DMA domain.
func (k *Kernel) leaveDomain(now clocked.Time, v *eviction) {
	for p := v.first; p < v.first+v.count; p++ {
		if !k.leaves(v, p) {
			continue
		}
		k.unmapDMA(p)
		if k.config.FlushCount > 0 && v.target == noFrame && v.change == changeNone {
			k.putOff(now, p)
		} else { // a page that stays or moves is mapped again soon
			v.departed++
			v.departure = now
		}
	}
}

// detach clears the entries of the page table and notes what they say, or
// changes those of pages that stay.
func (k *Kernel) detach(now clocked.Time, i int) {
	v := k.evictions.items[i]
	v.detached = true
	if v.change != changeNone {
		k.alter(now, v)
		return
	}
	for p := v.first; p < v.first+v.count; p++ {
		pg := &k.pages[p]
		v.flags = k.remove(v, p)
		if pg.writable != 0 { // an adapter with a table might have stored
			v.flags |= pagetable.Dirty
		}
		if v.flags.Has(pagetable.Dirty) {
			k.frames[pg.frame].dirty = true
		}
		k.transit++
	}
}

// unmapped: no device reaches the pages. They leave the page table, if they
// have not, and the CPUs' TLBs.
func (k *Kernel) unmapped(now clocked.Time, i int) {
	v := k.evictions.items[i]
	if !v.detached {
		k.detach(now, i)
	}
	for p := v.first; p < v.first+v.count && v.change == changeNone; p++ {
		k.mapOut(now, p, allRegions)
		k.pages[p].writable = 0
	}
	v.phase = evictFlush
	k.after(now, k.spec.Notifier.TLBFlush, refer(actorEviction, i))
}

// flushed: nobody can reach the pages; their content may leave.
func (k *Kernel) flushed(now clocked.Time, i int) {
	v := k.evictions.items[i]
	for _, s := range v.slots {
		s.record.Done = now
		if k.config.OnInvalidation != nil {
			k.config.OnInvalidation(&s.record)
		}
	}
	if v.change != changeNone {
		k.altered(now, i)
		return
	}
	v.phase = evictContent
	for _, table := range v.emptied {
		k.store.Release(table)
	}
	v.left = v.count
	for p := v.first; p < v.first+v.count; p++ {
		f := k.pages[p].frame
		op := msg.PageOp{Kind: msg.PageFree, Frame: f, Page: p, Slot: p, Cookie: uint64(refer(actorFrame, int(f)))}
		switch {
		case v.trigger == measure.TriggerUnmap:
			op.Kind = k.vanishing(f)
		case v.target != noFrame:
			op.Kind, op.Frame, op.Slot = msg.PageCopy, v.target, f
		case k.frames[f].dirty:
			op.Kind = msg.PageOut
		default:
			k.Stats.Dropped++
		}
		*k.ops.Push() = op
	}
	if v.target == noFrame {
		k.zapSuspended(now, i)
	}
}

// frameDone: memory has done a step of a frame's way out.
func (k *Kernel) frameDone(now clocked.Time, f uint32, d *msg.PageDone) {
	switch d.Kind {
	case msg.PageOut:
		if d.Same {
			k.Stats.ExtraSwapOuts++
		}
		k.swapOut(now, f)
	case msg.PageCopy:
		k.moved(now, f)
	case msg.PageFree, msg.PageDiscard, msg.PageOrphan:
		k.left(now, f)
	}
}

// swappedOut: the swap device holds the page.
func (k *Kernel) swappedOut(f uint32) {
	k.pages[k.frames[f].page].flags |= slotValid
	k.giveUp(f)
}

// giveUp makes a frame nobody's.
func (k *Kernel) giveUp(f uint32) {
	*k.ops.Push() = msg.PageOp{Kind: msg.PageFree, Frame: f, Page: k.frames[f].page, Cookie: uint64(refer(actorFrame, int(f)))}
}

// left: the frame belongs to nobody.
func (k *Kernel) left(now clocked.Time, f uint32) {
	x := &k.frames[f]
	p, i := x.page, int(x.evict)
	v := k.evictions.items[i]
	x.dirty = false
	switch {
	case v.trigger == measure.TriggerUnmap:
		k.vanished(now, p)
	case v.target == noFrame:
		pg := &k.pages[p]
		pg.state, pg.frame = pageAbsent, noFrame
		pg.flags &^= pageShared
		k.evicting--
		k.Stats.Evictions++
		pg.evicted = uint32(k.Stats.Evictions)
		k.wake(now, p)
	}
	k.handOn(now, f, p, v)
	if v.left--; v.left == 0 {
		if v.trigger == measure.TriggerUnmap {
			k.registrar.unmapping--
		}
		if v.target == noFrame {
			k.reopen(now, i)
		}
		k.changed = true
		k.retire(i)
	}
}

// retire ends an eviction when its frames are gone and nobody is suspended.
func (k *Kernel) retire(i int) {
	v := k.evictions.items[i]
	if v.left > 0 || v.reopening > 0 {
		return
	}
	for n, s := range v.slots {
		if s.abandoned {
			v.slots[n] = new(notice) // the adapter that did not answer may still write to the old one
		}
	}
	v.live = false
	k.evictions.put(i)
}
