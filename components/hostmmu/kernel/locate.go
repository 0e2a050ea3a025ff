package kernel

import (
	"sort"
)

// locate finds the region and pages that an event asks for; region stays nil
// for what no region covers or allows.
func (k *Kernel) locate(j *job) {
	e := &j.event
	a := &k.adapters[e.adapter]
	if a.implicit != nil {
		e.Entry = k.entryAt(a, e.VA)
	}
	at := sort.Search(len(a.regions), func(i int) bool { return k.regions[a.regions[i]].FirstEntry > e.Entry }) - 1
	if at < 0 {
		return
	}
	if !k.serves(a.regions[at]) {
		return
	}
	r := &k.regions[a.regions[at]]
	last := e.Entry + uint64(max(e.Count, 1)) - 1
	if end := r.FirstEntry + a.shift.Span(r.VA, r.Length); a.implicit != nil && e.Entry < end {
		last = min(last, end-1) // beyond the region, or the child, the adapter faults again
	}
	if last-r.FirstEntry >= a.shift.Span(r.VA, r.Length) || e.Write && !r.Writable {
		return
	}
	page := func(entry uint64) uint32 {
		va := r.pages.VA(entry - r.FirstEntry)
		return r.FirstPage + uint32(k.shift.Number(va)-k.shift.Number(r.VA))
	}
	j.region = r
	j.first = page(e.Entry)
	s := k.segmentOf(j.first)
	// Beyond the segment, and what memory can hold at once, the adapter faults again.
	j.count = min(page(last)+1-j.first, s.end-j.first, k.unpinned())
	j.bit = s.bit(a.regions[at])
	j.write = r.Writable && (e.Write || k.spec.Pager.ReadFaultsWrite)
}
