package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/pagetable"
)

// user is for whom a CPU fault is done.
type user uint8

const (
	byAdapter user = iota
	byCPU
	byReadahead
)

type pageInPhase uint8

const (
	pageInFrame   pageInPhase = iota // waits for a frame
	pageInDevice                     // swap reads
	pageInMemory                     // the page moves into the frame, or is cleared
	pageInMap                        // software: page-table entry
	pageInUpgrade                    // software: the right to store
	pageInBreak                      // software: a copy away from the child
)

// pageIn is a CPU fault in progress.
type pageIn struct {
	page, frame uint32
	phase       pageInPhase
	major       bool
	write       bool
	breaks      bool // the page is there, and shared with the child
	stalled     bool // until no CPU access is under way
}

// storable tells whether the CPU page table lets a present page be stored to.
func (k *Kernel) storable(p uint32) bool {
	w := k.table.Lookup(k.vaOf(p))
	return w.Writable
}

// ensure tells whether a page is present with the right wanted. If not it
// starts or joins a CPU fault, and the caller waits for the page.
func (k *Kernel) ensure(now clocked.Time, p uint32, write bool, u user) bool {
	pg := &k.pages[p]
	switch {
	case pg.state == pageEvicting || pg.state == pagePagingIn || pg.flags&pageUpgrading != 0:
		return false
	case pg.state == pageAbsent:
		k.startPageIn(now, p, write, u)
		return false
	case write && pg.flags&pageShared != 0:
		k.startBreak(now, p, u)
		return false
	case write && !k.storable(p):
		k.count(u, false)
		pg.flags |= pageUpgrading
		i := k.pageIns.get()
		*k.pageIns.items[i] = pageIn{page: p, phase: pageInUpgrade}
		k.after(now, k.spec.Fault.Minor, refer(actorPageIn, i))
		return false
	}
	return true
}

func (k *Kernel) count(u user, major bool) {
	switch {
	case u == byAdapter && major:
		k.Stats.Major++
	case u == byAdapter:
		k.Stats.Minor++
	case u == byCPU && major:
		k.Stats.CPUMajor++
	case u == byCPU:
		k.Stats.CPUMinor++
	case u == byReadahead:
		k.Stats.ReadaheadPages++
	}
}

// startPageIn begins to bring a page in.
func (k *Kernel) startPageIn(now clocked.Time, p uint32, write bool, u user) {
	pg := &k.pages[p]
	pg.state = pagePagingIn
	i := k.pageIns.get()
	in := k.pageIns.items[i]
	*in = pageIn{page: p, frame: noFrame, major: pg.flags&slotValid != 0, write: write}
	k.count(u, in.major)
	if len(k.free) == 0 || k.frameWaiters.Len() > 0 {
		k.Stats.DirectReclaims++
		*k.frameWaiters.Push() = i
	} else {
		k.gotFrame(now, i)
	}
	if in.major && u != byReadahead {
		k.readAhead(now, p)
	}
}

// readAhead brings in the swapped pages after p as far as frames are free.
func (k *Kernel) readAhead(now clocked.Time, p uint32) {
	end := min(k.segmentOf(p).end, p+1+uint32(k.spec.Pager.Readahead))
	for q := p + 1; q < end && len(k.free) > k.low && k.frameWaiters.Len() == 0; q++ {
		if pg := &k.pages[q]; pg.state == pageAbsent && pg.flags&slotValid != 0 {
			k.startPageIn(now, q, false, byReadahead)
		}
	}
}

// gotFrame takes a free frame for a CPU fault.
func (k *Kernel) gotFrame(now clocked.Time, i int) {
	in := k.pageIns.items[i]
	in.frame = k.takeFrame()
	if in.breaks {
		in.phase = pageInBreak
		k.after(now, k.spec.Fault.Minor, refer(actorPageIn, i))
		return
	}
	if in.major {
		in.phase = pageInDevice
		k.swapIn(now, refer(actorPageIn, i))
		return
	}
	in.phase = pageInMemory
	*k.ops.Push() = msg.PageOp{Kind: msg.PageZero, Frame: in.frame, Page: in.page, Cookie: uint64(refer(actorPageIn, i))}
}

func (k *Kernel) takeFrame() uint32 {
	n := len(k.free) - 1
	f := k.free[n]
	k.free = k.free[:n]
	k.transit++
	return f
}

// stepPageIn goes on with a CPU fault.
func (k *Kernel) stepPageIn(now clocked.Time, i int) {
	in := k.pageIns.items[i]
	switch in.phase {
	case pageInDevice:
		in.phase = pageInMemory
		*k.ops.Push() = msg.PageOp{Kind: msg.PageIn, Frame: in.frame, Page: in.page, Slot: in.page, Cookie: uint64(refer(actorPageIn, i))}
	case pageInMap:
		k.transit--
		k.install(in.page, in.frame, entryFlags(in.write))
		k.Stats.FilledPages++
		k.finishPageIn(now, i)
	case pageInUpgrade:
		k.upgrade(in.page)
		k.finishPageIn(now, i)
	case pageInBreak:
		k.stepBreak(now, i)
	}
}

func entryFlags(write bool) pagetable.PTE {
	if write {
		return pagetable.Accessed | pagetable.Write | pagetable.Dirty
	}
	return pagetable.Accessed
}

// upgrade gives the CPU the right to store, unless the page has gone.
func (k *Kernel) upgrade(p uint32) {
	pg := &k.pages[p]
	pg.flags &^= pageUpgrading
	k.changed = true
	if pg.state != pageResident {
		return
	}
	k.permit(p, true)
	k.dirty(p)
	k.permitted(p)
}

func (k *Kernel) finishPageIn(now clocked.Time, i int) {
	p := k.pageIns.items[i].page
	k.pageIns.put(i)
	k.wake(now, p)
}

// pageArrived: the frame holds the page's content.
func (k *Kernel) pageArrived(now clocked.Time, i int) {
	in := k.pageIns.items[i]
	in.phase = pageInMap
	cost := k.spec.Fault.Minor
	if in.major {
		cost = k.spec.Fault.Major
	}
	k.after(now, cost, refer(actorPageIn, i))
}
