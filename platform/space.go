package platform

import (
	"fmt"
	"slices"
	"sort"

	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/workload"
)

// userSpace is the end of the addresses that a process has (x86-64, 47 bits).
const userSpace = 1 << 47

// Region is registered memory of the host: one memory region on every adapter.
type Region struct {
	workload.Region          // as the workload names it
	Number          int32    // its place among the regions
	Placed          model.VA // where it is simulated
	FirstPage       uint32   // dense number of its first host page
	Pages           uint32   // host pages
	Key             key.Key  // the same on each
}

// Space maps the workload's addresses to registered memory.
type Space struct {
	Regions []Region // by host, then address
	shift   model.PageShift
	last    int
	pages   uint32
}

// maxPages bounds what a run may register: each page costs about a hundred
// bytes of this machine's memory.
const maxPages = 1 << 26

// NewSpace places regions, given in order of host and address, on a host with
// pages of the given size. One simulated host holds the memory of all of a
// capture's hosts; regions of the second and later ones, and those outside a
// process's addresses, are simulated elsewhere, at the same offset in a page.
func NewSpace(regions []workload.Region, host model.PageShift) (*Space, error) {
	s := &Space{shift: host}
	next := relocation(regions, host)
	for _, r := range regions {
		placed := r.VA
		if relocated(r) {
			placed = next + r.VA&model.VA(host.Bytes()-1)
			next += model.VA((host.Span(placed, r.Len) + 1) << host)
		}
		pages := host.Span(placed, r.Len)
		if uint64(s.pages)+pages > maxPages {
			return nil, fmt.Errorf("registered memory of more than %d pages of %d bytes: use a smaller working set or a larger host.page", maxPages, host.Bytes())
		}
		s.Regions = append(s.Regions, Region{Region: r, Number: int32(len(s.Regions)), Placed: placed, FirstPage: s.pages, Pages: uint32(pages)})
		s.pages += uint32(pages)
	}
	return s, nil
}

func relocated(r workload.Region) bool {
	return r.Host > 0 || uint64(r.VA) >= userSpace || r.Len > userSpace-uint64(r.VA)
}

// relocation is where the relocated regions begin: in a gap between the others.
func relocation(regions []workload.Region, host model.PageShift) model.VA {
	var kept []kernel.Region
	need := uint64(0)
	for _, r := range regions {
		if relocated(r) {
			need += host.Span(r.VA, r.Len) + 1
		} else {
			kept = append(kept, kernel.Region{VA: r.VA, Length: r.Len})
		}
	}
	return kernel.Gap(kept, host, need)
}

// Pages is the number of host pages of all regions.
func (s *Space) Pages() uint32 { return s.pages }

// Largest counts the host pages of the n regions that have most of them, among
// those asked for.
func (s *Space) Largest(n int, of func(*Region) bool) (pages uint64) {
	var sizes []uint32
	for i := range s.Regions {
		if r := &s.Regions[i]; of(r) {
			sizes = append(sizes, r.Pages)
		}
	}
	slices.Sort(sizes)
	for _, size := range sizes[max(0, len(sizes)-n):] {
		pages += uint64(size)
	}
	return pages
}

// Find is the region that holds the workload's address, or nil.
func (s *Space) Find(host uint16, va model.VA) *Region {
	if len(s.Regions) == 0 {
		return nil
	}
	if r := &s.Regions[s.last]; r.holds(host, va) {
		return r
	}
	i := sort.Search(len(s.Regions), func(i int) bool {
		r := &s.Regions[i]
		return r.Host > host || r.Host == host && r.VA > va
	}) - 1
	if i < 0 || !s.Regions[i].holds(host, va) {
		return nil
	}
	s.last = i
	return &s.Regions[i]
}

func (r *Region) holds(host uint16, va model.VA) bool {
	return r.Host == host && va >= r.VA && uint64(va-r.VA) < r.Len
}

// Page is the dense number of the host page of a placed address in r.
func (s *Space) Page(r *Region, placed model.VA) uint32 {
	return r.FirstPage + uint32(s.shift.Number(placed)-s.shift.Number(r.Placed))
}
