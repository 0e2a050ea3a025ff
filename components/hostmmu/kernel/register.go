package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
)

// Region is memory registered with an adapter. Regions of one process may
// overlap: what is one page has one number.
type Region struct {
	VA         model.VA
	Length     uint64 // bytes, at least 1
	Adapter    int
	FirstPage  uint32  // dense number of the process page at VA
	FirstEntry uint64  // table entry of the adapter's page at VA
	Key        key.Key // names the region where it is suspended as a whole; of a dynamic one not given
	Writable   bool    // remote peers may store

	Window  key.Key    // of a dynamic region: its type 2 window, which peers use instead; 0: none
	Dynamic bool       // registered by msg.Registration after time 0, not before
	MPT     key.Region // of a dynamic region: key, PD, rights and FastReg of its MPT entry; of the key later registrations change the variant

	pages mtt.Pages // the adapter's in the host's, where they are not larger
}

// Refused is the error of a registration that the host cannot back.
type Refused struct {
	Pages  uint64 // frames that it takes
	Reason string
}

func (r *Refused) Error() string { return r.Reason }

// Fill is a run of table entries to be programmed at registration: entry
// Entry+i maps the adapter's page at PA + i pages.
type Fill struct {
	Adapter int
	Entry   uint64
	Count   uint64
	PA      model.PA
	Write   bool
}

// Run is a run of process pages: page First+i. Of resident ones, Frame+i holds
// it; of swapped ones, slot First+i does.
type Run struct{ First, Frame, Count uint32 }

// Setup is what the platform must make true before time 0.
type Setup struct {
	Fills    []Fill // in adapters' tables
	Resident []Run  // in memory: Preload
	Swapped  []Run  // in swap: PreloadSwapped, before Resident
}

// Pages is the number of process pages: the regions' and the CPU user's.
func (k *Kernel) Pages() int { return len(k.pages) }

// Register gives the process its memory, before time 0. What an adapter needs
// pinned is pinned for all, and that is all or nothing: a *Refused error when
// the frames do not suffice. Swap slots are numbered like pages.
func (k *Kernel) Register(regions []Region) (Setup, error) {
	k.regions = slices.Clone(regions)
	if err := k.checkRegions(); err != nil {
		return Setup{}, err
	}
	k.cut()
	var setup Setup
	next, err := k.pin(&setup)
	if err != nil {
		return Setup{}, err
	}
	if k.config.Initial != nil {
		k.backEach(&setup, next)
	} else {
		k.back(&setup, next)
	}
	k.Stats.RegistrationTime = k.cost()
	if err := k.setUpRegistrar(); err != nil {
		return Setup{}, err
	}
	k.listFree()
	k.startThreads()
	k.startEvents()
	k.engine.Wake(k.id, 0) // there may be memory to reclaim from the start
	return setup, nil
}

func (k *Kernel) checkRegions() error {
	for i := range k.regions {
		r := &k.regions[i]
		if r.Adapter < 0 || r.Adapter >= len(k.adapters) {
			return fmt.Errorf("region %d: adapter %d does not exist", i, r.Adapter)
		}
		if r.Length == 0 || r.VA+model.VA(r.Length-1) < r.VA {
			return fmt.Errorf("region %d: [0x%x, +%d B) is no range", i, uint64(r.VA), r.Length)
		}
		a := &k.adapters[r.Adapter]
		if a.shift > k.shift && a.faults() {
			return fmt.Errorf("tpt.page: %d B exceed the host's page of %s: under %s pages come and go one by one", a.shift.Bytes(), k.spec.Page, a.config.Scheme)
		}
		if a.implicit != nil {
			if err := checkChild(r, a.shift); err != nil {
				return fmt.Errorf("region %d: %w", i, err)
			}
		}
		if a.shift <= k.shift {
			r.pages, _ = mtt.NewPages(r.VA, r.Length, a.shift, k.shift) // it refuses larger ones only
		}
		a.regions = append(a.regions, i)
	}
	for i := range k.adapters {
		a := &k.adapters[i]
		sort.SliceStable(a.regions, func(x, y int) bool {
			return k.regions[a.regions[x]].FirstEntry < k.regions[a.regions[y]].FirstEntry
		})
	}
	return nil
}

// pagesOf is the number of host pages that a region touches.
func (k *Kernel) pagesOf(r *Region) uint32 { return uint32(k.shift.Span(r.VA, r.Length)) }

// cut divides the pages into segments under the same regions, and adds the
// CPU user's own pages after them.
func (k *Kernel) cut() {
	order := make([]int, len(k.regions)) // by first page
	cuts := []uint32{0}
	for i := range k.regions {
		r := &k.regions[i]
		order[i] = i
		cuts = append(cuts, r.FirstPage, r.FirstPage+k.pagesOf(r))
	}
	sort.SliceStable(order, func(i, j int) bool { return k.regions[order[i]].FirstPage < k.regions[order[j]].FirstPage })
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var over []int // regions over the segment
	for i := 1; i < len(cuts); i++ {
		s := segment{first: cuts[i-1], end: cuts[i]}
		over = slices.DeleteFunc(over, func(n int) bool { return k.regions[n].FirstPage+k.pagesOf(&k.regions[n]) <= s.first })
		for len(order) > 0 && k.regions[order[0]].FirstPage <= s.first {
			over = append(over, order[0])
			order = order[1:]
		}
		slices.Sort(over)
		s.regions = slices.Clone(over)
		if len(over) > 0 {
			r := &k.regions[over[len(over)-1]]
			s.va = model.VA((k.shift.Number(r.VA) + uint64(s.first-r.FirstPage)) << k.shift)
		}
		k.segments = append(k.segments, s)
	}
	last := cuts[len(cuts)-1]
	if own := uint32(k.spec.CPUPages()); own > 0 {
		k.segments = append(k.segments, segment{first: last, end: last + own, va: Gap(k.regions, k.shift, uint64(own))})
		last += own
	}
	for i := range k.segments { // gaps in the numbering have no address
		if k.segments[i].va != 0 || len(k.segments[i].regions) > 0 {
			k.byVA = append(k.byVA, i)
		}
	}
	sort.Slice(k.byVA, func(i, j int) bool { return k.segments[k.byVA[i]].va < k.segments[k.byVA[j]].va })
	k.pages = make([]page, last)
	for i := range k.pages {
		k.pages[i].frame = noFrame
	}
}

// Gap is the lowest address, from 1 GiB on, at which that many pages of the
// given size fit between the regions.
func Gap(regions []Region, shift model.PageShift, pages uint64) model.VA {
	order := slices.Clone(regions)
	slices.SortFunc(order, func(a, b Region) int { return cmp.Compare(a.VA, b.VA) })
	at := model.Shift1G.Bytes() >> shift
	for i := range order {
		if at+pages < shift.Number(order[i].VA) {
			break
		}
		at = max(at, shift.Number(order[i].VA+model.VA(order[i].Length-1))+2)
	}
	return model.VA(at << shift)
}

// under counts the pages under at least one of the regions asked for.
func (k *Kernel) under(want func(region int) bool) (n uint32) {
	for i := range k.segments {
		if s := &k.segments[i]; slices.ContainsFunc(s.regions, want) {
			n += s.end - s.first
		}
	}
	return n
}

// pinned tells whether registration before time 0 needs the pages of a segment
// where they are.
func (k *Kernel) pinned(s *segment) bool {
	return slices.ContainsFunc(s.regions, func(r int) bool { return k.static(r) && k.adapters[k.regions[r].Adapter].pins() })
}

// pin makes every page that must be pinned resident for good, in frames that
// follow each other within a segment and lie to the adapter's pages as VAs do.
// It returns the first frame after them.
func (k *Kernel) pin(setup *Setup) (next uint32, err error) {
	starts := make([]uint32, len(k.segments))
	pinned, spare := false, uint32(0)
	for i := range k.segments {
		s := &k.segments[i]
		if !k.pinned(s) {
			if len(s.regions) > 0 || s.va != 0 { // pages that come and go need frames to do it in
				spare = 2
			}
			continue
		}
		unit := uint64(1)
		for _, r := range s.regions {
			if a := &k.adapters[k.regions[r].Adapter]; a.hasTable() && a.shift > k.shift {
				unit = max(unit, 1<<(a.shift-k.shift))
			}
		}
		next += uint32((k.shift.Number(s.va) - uint64(next)) % unit)
		starts[i] = next
		next += s.end - s.first
		pinned = true
	}
	if need := uint64(next) + uint64(spare); pinned && need > uint64(len(k.frames)) {
		return 0, &Refused{Pages: need, Reason: fmt.Sprintf("host.memory: %d pages of %s to pin, %d frames: raise host.memory or use scheme odp", need, k.spec.Page, len(k.frames))}
	}
	for i := range k.segments {
		if s := &k.segments[i]; k.pinned(s) {
			k.occupy(setup, s, starts[i], s.end-s.first, pagePinned)
			k.programAll(setup, s, starts[i], s.end-s.first)
		}
	}
	return next, nil
}
