package platform

import (
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// Mapping is memory that an adapter knows, by the four names that messages use:
// key, address, process page and table entry.
type Mapping struct {
	Key        key.Key // its first; a dynamic region's has the same index and other variants
	VA         model.VA
	Length     uint64 // bytes
	FirstPage  uint32 // dense number of the page of VA
	FirstEntry uint64 // of the table, where there is one
}

// Mappings are an adapter's, in the order of its table's entries.
func (s *System) Mappings(adapter int) (all []Mapping) {
	for _, p := range s.tableOf(&s.nodes[adapter].spec.TPT).pieces {
		all = append(all, Mapping{p.region.Key, p.va, p.length, p.firstPage, p.entry})
	}
	return all
}

// TableAt is where the leaf entries of an adapter's translation table begin.
func (s *System) TableAt(adapter int) model.PA {
	base := tableBase + model.PA(adapter)*tableSpan
	return base + model.PA((s.keysOf()*key.EntryBytes+4095)&^4095)
}
