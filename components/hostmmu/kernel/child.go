package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// child is the process that shares pages with the one that is modelled. It
// stores to nothing. Pages stay the parent's in their frames; once the parent
// has copied one, the old frame is the child's until it exits.
type child struct {
	live, over bool // over: its time has come
	first, end uint32
	frames     []uint32
	busy       int // invalidations and copies that concern it
	stalled    int // stores to its pages that wait for a CPU access to end
}

// Fork makes a child that shares the pages of a run: all that are resident and
// still become read-only until one side stores to them. Swapped pages are
// shared by their slots, and of pinned pages a child has copies; neither costs
// the parent anything. It tells whether it could: a page must be shared, and
// the earlier child must have exited.
func (k *Kernel) Fork(now clocked.Time, first, count uint32) bool {
	if k.child.live {
		return false
	}
	shared := uint32(0)
	k.eachRun(first, count, func(p uint32) bool { return k.still(now, p) }, func(p, n uint32) {
		k.invalidate(now, p, n, measure.TriggerProtect).change = changeShare
		k.child.busy++
		shared += n
	})
	if shared == 0 {
		return false
	}
	k.adopt(now, first, count)
	k.Stats.Shared += uint64(shared)
	return true
}

// adopt starts a child's life.
func (k *Kernel) adopt(now clocked.Time, first, count uint32) {
	c := &k.child
	c.live, c.over, c.first, c.end = true, false, first, first+count
	k.Stats.Forks++
	k.after(now, k.spec.Events.Lifetime, refer(actorChild, 0))
	k.nudge(now)
}

// CopyOnWrite does what a store of the process to a page does that it shares
// with a child: adapters are told, the page is copied to another frame, and the
// old frame is left to the child. A page that no child shares is shared with a
// new one first, if there is none yet. It tells whether it could: as Migrate.
func (k *Kernel) CopyOnWrite(now clocked.Time, p uint32) bool {
	if !k.movable(now, p) || k.pages[p].flags&pageShared == 0 && k.child.live {
		return false
	}
	if k.pages[p].flags&pageShared == 0 {
		k.Stats.Shared++
		k.adopt(now, p, 1)
	}
	k.breakAway(now, p, k.takeFrame())
	k.nudge(now)
	return true
}

// breakAway copies a page to a frame of its own.
func (k *Kernel) breakAway(now clocked.Time, p, target uint32) {
	k.invalidate(now, p, 1, measure.TriggerCOW).target = target
	k.child.busy++
	k.Stats.Copied++
}

// startBreak begins a CPU fault for a store to a shared page.
func (k *Kernel) startBreak(now clocked.Time, p uint32, u user) {
	k.count(u, false)
	k.pages[p].flags |= pageUpgrading
	i := k.pageIns.get()
	*k.pageIns.items[i] = pageIn{page: p, frame: noFrame, breaks: true}
	if len(k.free) == 0 || k.frameWaiters.Len() > 0 {
		k.Stats.DirectReclaims++
		*k.frameWaiters.Push() = i
		return
	}
	k.gotFrame(now, i)
}

// stepBreak goes on with a store to a shared page: it is copied, or, when the
// child has exited meanwhile, simply made writable.
func (k *Kernel) stepBreak(now clocked.Time, i int) {
	in := *k.pageIns.items[i]
	if k.accessedByCPU(in.page) {
		k.pageIns.items[i].stalled = true
		k.child.stalled++
		return
	}
	if k.pages[in.page].flags&pageShared == 0 {
		k.upgrade(in.page)
		k.finishPageIn(now, i)
		k.frameFree(now, in.frame)
		return
	}
	k.pages[in.page].flags &^= pageUpgrading
	k.pageIns.put(i)
	k.breakAway(now, in.page, in.frame)
}

// unstall goes on with a store to a shared page after a CPU access to it.
func (k *Kernel) unstall(now clocked.Time, p uint32) {
	if k.child.stalled == 0 {
		return
	}
	for i, in := range k.pageIns.items {
		if in.stalled && in.page == p {
			in.stalled = false
			k.child.stalled--
			k.after(now, 0, refer(actorPageIn, i))
		}
	}
}

// needsFrame tells whether a page takes a frame before it can be used.
func (k *Kernel) needsFrame(p uint32, write bool) bool {
	pg := &k.pages[p]
	return pg.state != pageResident || write && pg.flags&pageShared != 0
}

// inherit leaves a frame that the process maps no more to the child.
func (k *Kernel) inherit(f uint32) {
	k.letFrame(f)
	k.child.frames = append(k.child.frames, f)
}

// exit ends the child when its time has come and nothing is done on its behalf.
func (k *Kernel) exit(now clocked.Time) {
	c := &k.child
	if !c.live || !c.over || c.busy > 0 {
		return
	}
	c.live = false
	k.Stats.Exits++
	for p := c.first; p < c.end; p++ {
		k.pages[p].flags &^= pageShared
	}
	for range k.frameWaiters.Len() { // stores to pages that are the process's own now need no frame
		i := k.frameWaiters.Pop()
		if in := k.pageIns.items[i]; in.breaks && k.pages[in.page].flags&pageShared == 0 {
			k.upgrade(in.page)
			k.finishPageIn(now, i)
			continue
		}
		*k.frameWaiters.Push() = i
	}
	for _, f := range c.frames {
		k.takeBack(now, f)
	}
	c.frames = c.frames[:0]
}

// letFrame gives a frame in transit to a holder outside the process's pages.
func (k *Kernel) letFrame(f uint32) {
	k.frames[f].page, k.frames[f].until = msg.NoPage, 0
	k.transit--
	k.held++
}

// takeBack makes a frame free that such a holder had.
func (k *Kernel) takeBack(now clocked.Time, f uint32) {
	k.held--
	k.transit++
	k.frameFree(now, f)
}
