package workload

import (
	"cmp"
	"slices"

	"rnicmmu/model"
)

// run is pages first to last, both included, of one host, accessed by one key.
type run struct {
	first, last uint64
	key         uint32
	host        uint16
}

// pageSet is a set of 4 KiB pages, held as runs so that long accesses cost no
// more than short ones. Its memory is in proportion to the runs, not to the
// accesses.
type pageSet struct {
	runs  []run
	limit int
}

func (s *pageSet) add(host uint16, key uint32, va model.VA, length uint64) {
	if length == 0 {
		return
	}
	r := run{model.Shift4K.Number(va), model.Shift4K.Number(va + model.VA(length-1)), key, host}
	if n := len(s.runs); n > 0 && s.runs[n-1] == r {
		return
	}
	if s.runs = append(s.runs, r); len(s.runs) >= max(s.limit, 1<<16) {
		s.merge()
		s.limit = 2 * len(s.runs)
	}
}

// merge sorts the runs and joins those that overlap, and neighbours of one key.
// Runs of several keys that overlap get the key of the first.
func (s *pageSet) merge() {
	slices.SortFunc(s.runs, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.first, b.first), cmp.Compare(a.key, b.key))
	})
	kept := s.runs[:0]
	for _, r := range s.runs {
		if n := len(kept); n > 0 && kept[n-1].meets(r) {
			kept[n-1].last = max(kept[n-1].last, r.last)
			continue
		}
		kept = append(kept, r)
	}
	s.runs = kept
}

// meets tells whether b, which does not begin before a, belongs to the same run.
func (a run) meets(b run) bool {
	return a.host == b.host && (b.first <= a.last || b.first == a.last+1 && a.key == b.key)
}

func (s *pageSet) count() (pages uint64) {
	s.merge()
	for _, r := range s.runs {
		pages += r.last - r.first + 1
	}
	return pages
}

// BridgedGap is the gap under which two runs of touched pages share a region.
const BridgedGap = 1 << 20

// Touched drains src and gives the memory regions that hold all that it
// accesses: a region for each run of pages of the given size, runs of one key
// less than BridgedGap bytes apart joined, in order of host and address. It is
// how a trace is registered before its first access: one without keys as if all
// its accesses named the same. Keys whose pages overlap share a region.
func Touched(src Source, page model.PageShift) ([]Region, error) {
	var (
		set pageSet
		a   Access
	)
	for src.Next(&a) {
		if a.Op != model.OpSend {
			set.add(a.Host, a.Key, a.VA, uint64(a.Len))
		}
	}
	if err := src.Err(); err != nil {
		return nil, err
	}
	set.merge()
	return regions(set.runs, page), nil
}

// regions bridges the gaps between runs and rounds them to pages.
func regions(runs []run, page model.PageShift) []Region {
	var all []Region
	key := uint32(0)
	for _, r := range runs {
		start := r.first << model.Shift4K &^ (page.Bytes() - 1)
		last := (r.last+1)<<model.Shift4K - 1 | (page.Bytes() - 1)
		if n := len(all); n > 0 && all[n-1].Host == r.host {
			before := &all[n-1]
			if end := uint64(before.VA) + before.Len - 1; start <= end || key == r.key && start-end-1 < BridgedGap {
				before.Len = max(end, last) - uint64(before.VA) + 1
				continue
			}
		}
		key = r.key
		all = append(all, Region{VA: model.VA(start), Len: last - start + 1, Host: r.host})
	}
	return all
}
