package iommu

import (
	"rnicmmu/model"
	"rnicmmu/model/cache"
)

// sizes are the pages that the IOTLB holds.
var sizes = [...]model.PageShift{model.Shift4K, model.Shift2M, model.Shift1G}

func sizeOf(shift model.PageShift) int {
	switch shift {
	case model.Shift2M:
		return 1
	case model.Shift1G:
		return 2
	}
	return 0
}

// A tag holds all that tells pages apart: domain, size and the page's first
// address. Address bits above 56 repeat bit 47 where the address can be mapped
// at all, and are zero in an identity.
const (
	tagSizeBits   = 2
	tagPageBits   = 57 - 12
	tagDomainFrom = tagSizeBits + tagPageBits
)

// pageNumber is the number of the 4 KiB page as tags hold it; it grows with the
// address within what can be mapped.
func pageNumber(va model.VA) uint64 { return uint64(va) >> 12 & (1<<tagPageBits - 1) }

// tagOf is the tag of the page of a size that va lies in.
func tagOf(domain uint32, va model.VA, shift model.PageShift) uint64 {
	first := pageNumber(va) &^ (shift.Bytes()>>12 - 1)
	return uint64(domain)<<tagDomainFrom | first<<tagSizeBits | uint64(sizeOf(shift))
}

// span is a range of addresses of one domain, or of all.
type span struct {
	domain      uint32
	all         bool   // domains
	first, last uint64 // page numbers, inclusive
}

// covers tells whether the span touches the page of a tag, which is 2^(shift−12)
// pages of 4 KiB.
func (r *span) covers(tag uint64, shift model.PageShift) bool {
	first := tag >> tagSizeBits & (1<<tagPageBits - 1)
	return (r.all || uint32(tag>>tagDomainFrom) == r.domain) && first <= r.last && first+(shift.Bytes()>>12-1) >= r.first
}

// translation is an entry of the IOTLB, or what a walk has found.
type translation struct {
	pa    model.PA // of the page
	shift model.PageShift
	write bool // the page may be written
	dirty bool // its dirty bit was set when it was walked
}

// iotlb caches translations of all domains and page sizes.
type iotlb struct {
	tags    *cache.Cache
	entries []translation
	held    [len(sizes)]int // entries of each size: sizes without any are not looked for
}

func newIOTLB(g cache.Geometry) (t iotlb, err error) {
	if t.tags, err = cache.New(g); err == nil {
		t.entries = make([]translation, t.tags.Lines())
	}
	return t, err
}

// lookup is the entry that translates va, or nil.
func (t *iotlb) lookup(domain uint32, va model.VA) *translation {
	for i, shift := range sizes {
		if t.held[i] == 0 {
			continue
		}
		if at, hit := t.tags.Lookup(shift.Number(va), tagOf(domain, va, shift)); hit {
			return &t.entries[at]
		}
	}
	return nil
}

// fill caches a translation of va.
func (t *iotlb) fill(domain uint32, va model.VA, e translation) {
	set, tag := e.shift.Number(va), tagOf(domain, va, e.shift)
	if _, held := t.tags.Peek(set, tag); !held {
		t.held[sizeOf(e.shift)]++
	}
	at, out, evicted := t.tags.Fill(set, tag)
	if evicted {
		t.held[out&(1<<tagSizeBits-1)]--
	}
	t.entries[at] = e
}

// few is how many pages are looked up one by one instead of going through all
// entries.
const few = 16

// drop drops every entry that the span touches.
func (t *iotlb) drop(r span) {
	if r.all || r.last-r.first >= few {
		for at, tag := range t.tags.All() {
			if size := tag & (1<<tagSizeBits - 1); r.covers(tag, sizes[size]) {
				t.tags.InvalidateSlot(at)
				t.held[size]--
			}
		}
		return
	}
	for i, shift := range sizes {
		step := shift.Bytes() >> 12
		for page := r.first &^ (step - 1); page <= r.last && t.held[i] > 0; page += step {
			va := model.VA(page << 12)
			if t.tags.Invalidate(shift.Number(va), tagOf(r.domain, va, shift)) {
				t.held[i]--
			}
		}
	}
}
