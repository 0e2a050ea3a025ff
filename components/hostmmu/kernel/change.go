package kernel

import (
	"slices"

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

// leaves tells whether a page leaves the DMA domain with an invalidation: always,
// but for one that stays where it is and in the table of an adapter there.
func (k *Kernel) leaves(v *eviction, p uint32) bool {
	pg, s := &k.pages[p], k.segmentOf(p)
	if pg.flags&pageDMA == 0 || v.change == changeNone {
		return pg.flags&pageDMA != 0
	}
	return !slices.ContainsFunc(s.regions, func(r int) bool {
		bit := s.bit(r)
		return k.adapterOf(r).domain() && pg.mapped&bit != 0 && (k.command(v) == msg.CmdProtect || !k.concerns(v, p, bit))
	})
}

// alter changes the page-table entries of pages that stay, after the last
// acknowledgement of adapters with tables. What one might have stored to must go
// to swap one day.
func (k *Kernel) alter(now clocked.Time, v *eviction) {
	for p := v.first; p < v.first+v.count; p++ {
		pg := &k.pages[p]
		if pg.writable != 0 {
			k.frames[pg.frame].dirty = true
		}
		switch {
		case v.change == changeGrant:
			k.mapOut(now, p, ^pg.writable)
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
			k.mapOut(now, p, allRegions)
		}
		if v.change != changeGrant {
			pg.writable = 0
		}
	}
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
	k.changed = true
	k.retire(i)
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

// leavesOf is the number of page-table leaves that map a page, and their size.
func (k *Kernel) leavesOf(p uint32) (n model.VA, shift model.PageShift) {
	if k.pages[p].flags&pageSplit != 0 {
		shift = k.spec.Leaf()
		return 1 << (k.shift - shift), shift
	}
	return 1, k.shift
}

// split makes small leaves of a page's leaf.
func (k *Kernel) split(p uint32) {
	e := k.unmapLeaves(p)
	k.pages[p].flags |= pageSplit
	n, shift := k.leavesOf(p)
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
	n, shift := k.leavesOf(p)
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

// touched marks a present page as used.
func (k *Kernel) touched(p uint32) { k.eachLeaf(p, k.table.SetAccessed) }

// dirty marks a present page as stored to.
func (k *Kernel) dirty(p uint32) { k.eachLeaf(p, k.table.SetDirty) }

// untouch clears a present page's accessed bits and tells whether one was set.
func (k *Kernel) untouch(p uint32) (was bool) {
	k.eachLeaf(p, func(va model.VA) error {
		set, err := k.table.ClearAccessed(va)
		was = was || set
		return err
	})
	return was
}

// accessedBit tells whether an accessed bit of a present page is set.
func (k *Kernel) accessedBit(p uint32) (set bool) {
	k.eachLeaf(p, func(va model.VA) error {
		set = set || k.table.Lookup(va).Entry.Has(accessed)
		return nil
	})
	return set
}

// eachLeaf does something to the page-table leaves of a page.
func (k *Kernel) eachLeaf(p uint32, do func(va model.VA) error) {
	n, shift := k.leavesOf(p)
	for i := range n {
		if err := do(k.vaOf(p) + i<<shift); err != nil {
			k.Stats.TableErrors++
		}
	}
}

// permit gives a page the right to be stored to, or takes it.
func (k *Kernel) permit(p uint32, writable bool) {
	k.eachLeaf(p, func(va model.VA) error {
		_, err := k.table.Protect(va, writable)
		return err
	})
}
