package platform

import (
	"fmt"
	"sort"

	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/workload"
)

// relocatedBase is where the regions of a capture's second and later hosts are
// placed: one simulated host holds the memory of all of them, so that equal
// addresses of different hosts must be told apart.
const relocatedBase model.VA = 0x2000_0000_0000

// Region is registered memory of the host: one memory region on every adapter.
type Region struct {
	workload.Region          // as the workload names it
	Placed          model.VA // where it is simulated
	FirstPage       uint32   // dense number of its first host page
	Pages           uint32   // host pages
	Entry           uint64   // first entry of the adapters' tables, the same on each
	Key             key.Key  // the same on each
}

// Space maps the workload's addresses to registered memory.
type Space struct {
	Regions []Region // by host, then address
	shift   model.PageShift
	last    int
	pages   uint32
}

// NewSpace places regions, given in order of host and address, on a host with
// pages of the given size.
func NewSpace(regions []workload.Region, host model.PageShift) (*Space, error) {
	s := &Space{shift: host}
	next := relocatedBase
	for _, r := range regions {
		placed := r.VA
		if r.Host > 0 {
			placed = next + r.VA&model.VA(host.Bytes()-1)
			next += model.VA((host.Span(placed, r.Len) + 1) << host)
		}
		pages := host.Span(placed, r.Len)
		if uint64(s.pages)+pages >= 1<<31 {
			return nil, fmt.Errorf("registered memory of more than 2^31 pages of %d bytes: use a larger host.page", host.Bytes())
		}
		s.Regions = append(s.Regions, Region{Region: r, Placed: placed, FirstPage: s.pages, Pages: uint32(pages)})
		s.pages += uint32(pages)
	}
	return s, nil
}

// Pages is the number of host pages of all regions.
func (s *Space) Pages() uint32 { return s.pages }

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
