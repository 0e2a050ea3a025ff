package mrc

import (
	"fmt"

	"rnicmmu/model"
	"rnicmmu/workload"
)

// maxReferences bounds the memory of References to 4 GB, and times to 32 bits.
const maxReferences = 1_000_000_000

// References is a sequence of page references. Pages are named by dense ids in
// order of first reference.
type References struct {
	ids   []uint32 // by reference
	pages []page   // by id
}

// page is a page number in the address space of a host.
type page struct {
	number uint64
	host   uint16
}

// Read makes one reference to each page that each access spans, in ascending
// order, of at most limit accesses (0: all). It is an error when there is no
// reference, or when there are more than 10^9.
func Read(src workload.Source, shift model.PageShift, limit uint64) (*References, error) {
	r := &References{}
	ids := newIDs()
	var a workload.Access
	for n := uint64(0); (limit == 0 || n < limit) && src.Next(&a); n++ {
		if a.Op == model.OpSend {
			continue
		}
		span := shift.Span(a.VA, uint64(a.Len))
		if uint64(len(r.ids))+span > maxReferences {
			return nil, fmt.Errorf("more than %d page references up to access %d; take fewer accesses or larger pages", maxReferences, n+1)
		}
		first := shift.Number(a.VA)
		for i := range span {
			r.ids = append(r.ids, ids.of(page{first + i, a.Host}))
		}
	}
	r.pages = ids.pages
	if err := src.Err(); err != nil {
		return nil, err
	}
	if len(r.ids) == 0 {
		return nil, fmt.Errorf("no access names an address, so there is no page reference")
	}
	return r, nil
}

// Len counts the references.
func (r *References) Len() int { return len(r.ids) }

// Pages counts the distinct pages, which is the number of cold misses.
func (r *References) Pages() int { return len(r.pages) }

// ids numbers pages by an open-addressing hash with linear probing.
type ids struct {
	pages []page   // by id
	cells []uint32 // id+1, or 0 when empty; at most half of them used
	shift uint     // hash >> shift is the home cell
	last  uint32   // id given last; programs repeat pages
}

func newIDs() *ids {
	const log = 10
	return &ids{cells: make([]uint32, 1<<log), shift: 64 - log}
}

func (h *ids) home(p page) uint64 {
	const golden = 0x9E3779B97F4A7C15 // 2^64 / golden ratio, odd (Knuth, TAOCP vol. 3, 6.4)
	x := (p.number ^ p.number>>32) * golden
	x ^= uint64(p.host) << 20
	return (x ^ x>>29) * golden >> h.shift
}

// of is the id of a page, a new one when it was never seen.
func (h *ids) of(p page) uint32 {
	if len(h.pages) > 0 && h.pages[h.last] == p {
		return h.last
	}
	cell := h.find(p)
	if h.cells[cell] == 0 {
		h.pages = append(h.pages, p)
		h.cells[cell] = uint32(len(h.pages))
		h.last = uint32(len(h.pages) - 1)
		if 2*len(h.pages) > len(h.cells) {
			h.grow()
		}
		return h.last
	}
	h.last = h.cells[cell] - 1
	return h.last
}

// find is the cell of a page, or the empty one where it belongs.
func (h *ids) find(p page) uint64 {
	mask := uint64(len(h.cells) - 1)
	i := h.home(p)
	for h.cells[i] != 0 && h.pages[h.cells[i]-1] != p {
		i = (i + 1) & mask
	}
	return i
}

func (h *ids) grow() {
	h.cells = make([]uint32, 2*len(h.cells))
	h.shift--
	for id, p := range h.pages {
		h.cells[h.find(p)] = uint32(id + 1)
	}
}
