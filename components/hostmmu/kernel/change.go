package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/pagetable"
)

// Flags of a page, from the top down; the pager's are in pages.go.
const (
	pageShared uint8 = 1 << (7 - iota) // with a child, until either stores to it
	pageSplit                          // 512 leaves map it
)

// change is what an invalidation does to pages that stay in their frames.
type change uint8

const (
	changeNone    change = iota // they leave
	changeProtect               // not to be stored to
	changeGrant                 // to be stored to again
	changeShare                 // not to be stored to, because a child shares them
	changeSplit                 // 512 leaves
)

// protects tells whether a change leaves adapters the right to load.
func (c change) protects() bool { return c == changeProtect || c == changeShare }

// concerns tells whether an adapter has to be told that an invalidation takes
// a page, whose bit in mapped and writable is given.
func (k *Kernel) concerns(v *eviction, p uint32, bit uint16) bool {
	pg := &k.pages[p]
	switch {
	case v.change == changeGrant:
		return pg.mapped&^pg.writable&bit != 0
	case v.change.protects() && k.spec.Events.ProtectBy == "protect":
		return pg.writable&bit != 0
	}
	return pg.mapped&bit != 0
}

// command is how adapters are told.
func (k *Kernel) command(v *eviction) msg.CommandOp {
	if v.change.protects() && k.spec.Events.ProtectBy == "protect" {
		return msg.CmdProtect
	}
	return msg.CmdInvalidate
}

// alter changes the page-table entries of pages that stay, after the last
// acknowledgement. What an adapter might have stored to must go to swap one day.
func (k *Kernel) alter(now clocked.Time, i int) {
	v := k.evictions.items[i]
	for p := v.first; p < v.first+v.count; p++ {
		pg := &k.pages[p]
		if pg.writable != 0 {
			k.frames[pg.frame].dirty = true
		}
		switch {
		case v.change == changeGrant:
			pg.mapped &= pg.writable
			k.permit(p, true)
		case v.change == changeSplit:
			k.split(p)
		default:
			k.permit(p, false)
			if v.change == changeShare {
				pg.flags |= pageShared
			}
		}
		if k.command(v) == msg.CmdInvalidate && v.change != changeGrant {
			pg.mapped = 0
		}
		if v.change != changeGrant {
			pg.writable = 0
		}
	}
	v.phase = evictFlush
	k.after(now, k.spec.Notifier.TLBFlush, refer(actorEviction, i))
}

// altered: the pages are there again.
func (k *Kernel) altered(now clocked.Time, i int) {
	v := k.evictions.items[i]
	for p := v.first; p < v.first+v.count; p++ {
		k.pages[p].state = pageResident
		k.wake(now, p)
	}
	if v.change == changeShare {
		k.child.busy--
		k.exit(now)
	}
	k.evictions.put(i)
	k.changed = true
}

// arrives is the page-table entry of a page in its new frame: whole, and after
// a copy on write the process's own.
func (k *Kernel) arrives(v *eviction, p uint32, flags pagetable.PTE) pagetable.PTE {
	if v.trigger == measure.TriggerCOW {
		k.pages[p].flags &^= pageShared
		flags |= pagetable.Write | pagetable.Dirty
	}
	return flags
}

// smaller is the size of a split page's leaves, or 0.
func (k *Kernel) smaller() model.PageShift {
	const bits = 9 // of a table's index
	if k.shift < model.Shift4K+bits {
		return 0
	}
	return k.shift - bits
}

// leaves is the number of page-table leaves that map a page, and their size.
func (k *Kernel) leaves(p uint32) (n model.VA, shift model.PageShift) {
	if k.pages[p].flags&pageSplit != 0 {
		shift = k.smaller()
		return 1 << (k.shift - shift), shift
	}
	return 1, k.shift
}

// split makes small leaves of a page's leaf.
func (k *Kernel) split(p uint32) {
	e := k.unmapLeaves(p)
	k.pages[p].flags |= pageSplit
	n, shift := k.leaves(p)
	for i := range n {
		offset := i << shift
		if err := k.table.Map(k.vaOf(p)+offset, msg.FramePA(k.pages[p].frame, k.shift)+model.PA(offset), shift, e); err != nil {
			k.Stats.TableErrors++
		}
	}
}

// unmapLeaves takes a page out of the page table and returns what its leaves
// had set: if they are several, any of them.
func (k *Kernel) unmapLeaves(p uint32) (flags pagetable.PTE) {
	n, shift := k.leaves(p)
	for i := range n {
		e, _, err := k.table.Unmap(k.vaOf(p) + i<<shift)
		if err != nil {
			k.Stats.TableErrors++
		}
		flags |= e & (pagetable.User | pagetable.Accessed | pagetable.Write | pagetable.Dirty)
	}
	k.pages[p].flags &^= pageSplit
	return flags
}

// permit gives a page the right to be stored to, or takes it.
func (k *Kernel) permit(p uint32, writable bool) {
	n, shift := k.leaves(p)
	for i := range n {
		if _, err := k.table.Protect(k.vaOf(p)+i<<shift, writable); err != nil {
			k.Stats.TableErrors++
		}
	}
}
