package iommu

import (
	"rnicmmu/model"
	"rnicmmu/model/cache"
	"rnicmmu/model/pagetable"
)

// Levels whose entries name tables: PML4, PDPT and PD.
const (
	topLevel    = 4
	bottomTable = 2
)

// pointer is a cached entry that names a table.
type pointer struct {
	table model.PA
	write bool // all entries down to it allow stores
}

// pagingCache holds the entries of one level.
type pagingCache struct {
	tags    *cache.Cache
	entries []pointer
}

// pagingCaches are the paging-structure caches, by level.
type pagingCaches [topLevel + 1]pagingCache

func newPagingCaches(entries int) (p pagingCaches, err error) {
	for level := bottomTable; level <= topLevel && err == nil; level++ {
		p[level].tags, err = cache.New(cache.Geometry{Entries: entries, Line: 1, Policy: cache.LRU})
		p[level].entries = make([]pointer, entries)
	}
	return p, err
}

// reach is what an entry of a level covers.
func reach(level int) model.PageShift { return pagetable.Step{Level: level}.Shift() }

// tableTag tells the entries of a level apart.
func tableTag(domain uint32, va model.VA, level int) uint64 {
	first := pageNumber(va) &^ (reach(level).Bytes()>>12 - 1)
	return uint64(domain)<<tagDomainFrom | first<<tagSizeBits
}

// start is where a walk from root begins: below the lowest table that is known.
func (p *pagingCaches) start(domain uint32, va model.VA, root model.PA) (pagetable.Step, bool) {
	for level := bottomTable; level <= topLevel; level++ {
		if at, hit := p[level].tags.Lookup(0, tableTag(domain, va, level)); hit {
			e := &p[level].entries[at]
			return pagetable.Step{Level: level}.Below(e.table, va), e.write
		}
	}
	return pagetable.First(root, va), true
}

// fill caches an entry of a level.
func (p *pagingCaches) fill(domain uint32, va model.VA, level int, e pointer) {
	at, _, _ := p[level].tags.Fill(0, tableTag(domain, va, level))
	p[level].entries[at] = e
}

// drop drops every entry that the span touches.
func (p *pagingCaches) drop(r span) {
	for level := bottomTable; level <= topLevel; level++ {
		for at, tag := range p[level].tags.All() {
			if r.covers(tag, reach(level)) {
				p[level].tags.InvalidateSlot(at)
			}
		}
	}
}
