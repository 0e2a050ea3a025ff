package workload

import (
	"fmt"

	"rnicmmu/model"
)

// BaseVA is where the memory of a synthetic workload begins.
const BaseVA model.VA = 0x10_0000_0000

// Region is a contiguous range of one host's virtual memory, fit to be
// registered as one memory region.
type Region struct {
	VA        model.VA
	Len       uint64 // bytes, > 0
	Host      uint16
	Aggressor bool // it is an aggressor's, see SyntheticSpec
}

// Layout splits workingSet bytes from BaseVA into regions that follow each
// other without a gap. All but the last are a whole number of pages; sizes
// differ by one page at most, larger ones first. The last ends with the
// working set. It refuses an empty working set, no regions, more regions than
// pages, and sizes past the end of a 48-bit address space.
func Layout(workingSet uint64, regions uint32, page model.PageShift) ([]Region, error) {
	if page < model.Shift4K || page > model.Shift2G {
		return nil, fmt.Errorf("page of 2^%d bytes: must be 4KiB to 2GiB", page)
	}
	if workingSet == 0 || workingSet > 1<<47-uint64(BaseVA) {
		return nil, fmt.Errorf("working_set of %d bytes: must be 1 byte to less than 128TiB", workingSet)
	}
	pages := page.Span(BaseVA, workingSet)
	if regions == 0 || uint64(regions) > pages {
		return nil, fmt.Errorf("regions %d: must be 1 to the %d pages of the working set", regions, pages)
	}
	all := make([]Region, regions)
	va, end := BaseVA, BaseVA+model.VA(workingSet)
	small, large := pages/uint64(regions), pages%uint64(regions)
	for i := range all {
		size := small * page.Bytes()
		if uint64(i) < large {
			size += page.Bytes()
		}
		size = min(size, uint64(end-va))
		all[i] = Region{VA: va, Len: size}
		va += model.VA(size)
	}
	return all, nil
}
