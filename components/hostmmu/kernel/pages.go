package kernel

import (
	"sort"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/pagetable"
)

// pageState is where a process page is. Whether a resident one is writable,
// accessed or dirty is in the page table.
type pageState uint8

const (
	pageAbsent   pageState = iota // in swap if slotValid, else never stored to
	pagePagingIn                  // a CPU fault works on it
	pageResident
	pageEvicting // invalidated, on its way out or to another frame
)

// Flags of a page.
const (
	slotValid uint8 = 1 << iota // the swap slot holds the content, unless the page is dirty
	pagePinned
	pageUpgrading // a CPU fault makes it writable
	pageDMA       // in the DMA domain
	pageStale     // out of it, and an IOTLB may not know yet
)

// page is a process page.
type page struct {
	frame    uint32
	seq      uint32 // bumped by each invalidation, mapped or not
	mapped   uint16 // bit i: the i-th region of its segment may map it
	writable uint16 // bit i: with the right to store
	state    pageState
	flags    uint8
	holds    uint8  // faults and CPU accesses that need it where it is
	evicted  uint32 // number of the eviction by which it left, from 1; 0: it is here, or was never mapped
}

// allRegions are the bits of all regions over a page.
const allRegions = ^uint16(0)

// noFrame is no frame, and no neighbour in a list.
const noFrame = ^uint32(0)

// frame is a frame of host memory.
type frame struct {
	page       uint32 // msg.NoPage: none
	prev, next uint32 // in the list of evictable frames
	evict      uint32 // eviction that empties it
	dirty      bool   // its page must go to swap
	until      clocked.Time
}

// segment is a run of pages with the same regions over them.
type segment struct {
	first, end uint32 // pages
	va         model.VA
	regions    []int
}

// segmentOf finds the segment of a page; every page has one.
func (k *Kernel) segmentOf(p uint32) *segment {
	i := sort.Search(len(k.segments), func(i int) bool { return k.segments[i].end > p })
	return &k.segments[i]
}

// find is the segment and page at an address of the process; nil where it has
// none.
func (k *Kernel) find(va model.VA) (*segment, uint32) {
	i := sort.Search(len(k.byVA), func(i int) bool { return k.segments[k.byVA[i]].va > va }) - 1
	if i < 0 {
		return nil, 0
	}
	s := &k.segments[k.byVA[i]]
	if n := k.shift.Number(va) - k.shift.Number(s.va); n < uint64(s.end-s.first) {
		return s, s.first + uint32(n)
	}
	return nil, 0
}

func (k *Kernel) vaOf(p uint32) model.VA {
	s := k.segmentOf(p)
	return s.va + model.VA(uint64(p-s.first)<<k.shift)
}

// bit is the place of a region among those of a page's segment.
func (s *segment) bit(region int) uint16 {
	for i, r := range s.regions {
		if r == region {
			return 1 << i
		}
	}
	return 0
}

// entriesOf is the range of a region's table entries that a page fills, and
// where in the page's frame the first of them points.
func (k *Kernel) entriesOf(r *Region, p uint32) (entry uint64, count uint32, first model.PA) {
	va := model.VA((k.shift.Number(r.VA) + uint64(p-r.FirstPage)) << k.shift)
	at, n := r.pages.Covered(va, 1)
	return r.FirstEntry + at, uint32(n), r.pages.Address(at, 0)
}

// touch moves a frame to the end of the list, where it is evicted last.
func (k *Kernel) touch(f uint32) {
	k.unlink(f)
	k.link(f)
}

func (k *Kernel) link(f uint32) {
	x := &k.frames[f]
	x.prev, x.next = k.newest, noFrame
	k.listed++
	if k.newest == noFrame {
		k.oldest = f
	} else {
		k.frames[k.newest].next = f
	}
	k.newest = f
}

func (k *Kernel) unlink(f uint32) {
	x := &k.frames[f]
	k.listed--
	if x.prev == noFrame {
		k.oldest = x.next
	} else {
		k.frames[x.prev].next = x.next
	}
	if x.next == noFrame {
		k.newest = x.prev
	} else {
		k.frames[x.next].prev = x.prev
	}
}

// install makes a page resident in a frame and maps it for the CPU.
func (k *Kernel) install(p, f uint32, flags pagetable.PTE) {
	err := k.table.Map(k.vaOf(p), msg.FramePA(f, k.shift), k.shift, pagetable.User|flags)
	if err != nil {
		k.Stats.TableErrors++
	}
	pg := &k.pages[p]
	k.refault(pg)
	pg.frame, pg.state = f, pageResident
	k.frames[f].page = p
	if pg.flags&pagePinned == 0 {
		k.link(f)
	}
	k.resident++
	k.changed = true
}

// refault counts a page that comes back so soon after its eviction that it should
// not have left: a quarter more memory would have kept it. The measure is pages
// evicted since, as in [Linux] mm/workingset.c.
func (k *Kernel) refault(pg *page) {
	if pg.evicted != 0 && uint32(k.Stats.Evictions)-pg.evicted < uint32(len(k.frames)/4) {
		k.Stats.Refaults++
	}
	pg.evicted = 0
}

// remove takes a resident page out of the page table, and with a split one the
// table of its leaves, and tells whether the CPU stored to it.
func (k *Kernel) remove(v *eviction, p uint32) (flags pagetable.PTE) {
	split := k.pages[p].flags&pageSplit != 0
	e := k.unmapLeaves(p)
	if split {
		var err error
		if v.emptied, err = k.table.Prune(k.vaOf(p), k.shift, v.emptied); err != nil {
			k.Stats.TableErrors++
		}
	}
	k.unlink(k.pages[p].frame)
	k.resident--
	return e
}

// hold keeps a page where it is until release.
func (k *Kernel) hold(p uint32) { k.pages[p].holds++ }

func (k *Kernel) release(p uint32) {
	k.pages[p].holds--
	k.changed = true
}
