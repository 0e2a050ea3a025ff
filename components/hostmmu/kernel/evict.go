package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model/pagetable"
)

const accessed = pagetable.Accessed

type evictionPhase uint8

const (
	evictChecks   evictionPhase = iota // notifier entered
	evictCommands                      // adapters are being told
	evictUpdates                       // all have acknowledged
	evictFlush                         // page table changed, CPU TLBs flushed
	evictContent                       // pages go to swap, or to another frame
)

// eviction takes a run of pages away from the adapters and the CPU, and then
// to swap or, for a migration, to another frame.
type eviction struct {
	first, count uint32
	trigger      measure.Trigger
	phase        evictionPhase
	notified     clocked.Time
	slots        []*notice
	told, acked  int // of slots
	left         uint32
	change       change        // to pages that stay where they are
	target       uint32        // frame of a page that moves
	flags        pagetable.PTE // of a migrating page
}

// notice is the invalidation of one adapter.
type notice struct {
	cmd    msg.Command
	record measure.Invalidation
}

// invalidate starts on a run of resident pages. From here on no fault maps
// them and every fault that has looked at them looks again.
func (k *Kernel) invalidate(now clocked.Time, first, count uint32, why measure.Trigger) *eviction {
	i := k.evictions.get()
	v := k.evictions.items[i]
	*v = eviction{first: first, count: count, trigger: why, notified: now, slots: v.slots[:0], target: noFrame}
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
	v := k.evictions.items[i]
	switch v.phase {
	case evictChecks:
		k.notify(now, i)
	case evictUpdates:
		k.unmap(now, i)
	case evictFlush:
		k.flushed(now, i)
	}
}

// notify tells every adapter that may hold one of the pages.
func (k *Kernel) notify(now clocked.Time, i int) {
	v := k.evictions.items[i]
	for n, r := range k.segmentOf(v.first).regions {
		k.prepare(i, 1<<n, &k.regions[r])
	}
	if len(v.slots) == 0 {
		k.Stats.UnmappedInvalidations++
		v.phase = evictUpdates
		k.unmap(now, i)
		return
	}
	v.phase = evictCommands
	k.tell(i)
}

// prepare makes the command for a region that maps some of the pages.
func (k *Kernel) prepare(i int, bit uint16, r *Region) {
	v := k.evictions.items[i]
	valid, from, to := uint32(0), uint32(0), uint32(0)
	for p := v.first; p < v.first+v.count; p++ {
		if k.concerns(v, p, bit) {
			if valid == 0 {
				from = p
			}
			valid, to = valid+1, p
		}
	}
	if valid == 0 {
		return
	}
	n := len(v.slots)
	if n < cap(v.slots) && v.slots[:n+1][n] != nil {
		v.slots = v.slots[:n+1]
	} else {
		v.slots = append(v.slots, new(notice))
	}
	s := v.slots[n]
	entry, _, _ := k.entriesOf(r, from)
	last, count, _ := k.entriesOf(r, to)
	s.record = measure.Invalidation{ID: k.nextID, Adapter: uint16(r.Adapter), Trigger: v.trigger, Pages: valid, Notified: v.notified}
	k.nextID++
	s.cmd = msg.Command{Op: k.command(v), Owner: uint32(refer(actorCommand, i)), Adapter: uint16(r.Adapter), Entry: entry,
		Count: uint32(last + uint64(count) - entry), Record: &s.record}
}

// tell posts the next command, or all of them.
func (k *Kernel) tell(i int) {
	v := k.evictions.items[i]
	for v.told < len(v.slots) && (v.told == v.acked || k.spec.Notifier.Order == "parallel") {
		k.Stats.InvalidationsIssued++
		k.send(&v.slots[v.told].cmd)
		v.told++
	}
}

// acknowledged: an adapter uses the pages no more. After the last one they may
// leave the page table.
func (k *Kernel) acknowledged(now clocked.Time, c *msg.Command, i int) {
	v := k.evictions.items[i]
	c.Record.Acknowledged = now
	k.Stats.InvalidationsAcknowledged++
	v.acked++
	if v.acked < len(v.slots) {
		k.tell(i)
		return
	}
	v.phase = evictUpdates
	k.after(now, k.spec.Notifier.Updates+k.spec.Notifier.Unmap, refer(actorEviction, i))
}

// unmap takes the pages out of the page table. What an adapter might have
// stored to is dirty.
func (k *Kernel) unmap(now clocked.Time, i int) {
	v := k.evictions.items[i]
	if v.change != changeNone {
		k.alter(now, i)
		return
	}
	for p := v.first; p < v.first+v.count; p++ {
		pg := &k.pages[p]
		v.flags = k.remove(p)
		if pg.writable != 0 {
			v.flags |= pagetable.Dirty
		}
		if v.flags.Has(pagetable.Dirty) {
			k.frames[pg.frame].dirty = true
		}
		pg.mapped, pg.writable = 0, 0
		k.transit++
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
		k.wake(now, p)
	}
	k.handOn(now, f, p, v)
	if v.left--; v.left == 0 {
		if v.trigger == measure.TriggerUnmap {
			k.registrar.unmapping--
		}
		k.evictions.put(i)
		k.changed = true
	}
}
