package mtt

import (
	"fmt"

	"rnicmmu/model"
)

// Pages relates the adapter's pages of one region to the host's. The adapter's
// page is never larger than the host's, because an entry promises physical
// contiguity and the host promises it within one of its pages only.
type Pages struct {
	base    model.VA
	length  uint64
	adapter model.PageShift
	host    model.PageShift
}

// NewPages describes the region [base, base+length).
func NewPages(base model.VA, length uint64, adapter, host model.PageShift) (Pages, error) {
	if adapter > host {
		return Pages{}, fmt.Errorf("adapter page of %d B is larger than the host's contiguous %d B",
			adapter.Bytes(), host.Bytes())
	}
	return Pages{base, length, adapter, host}, nil
}

// Entry is the entry, counted from the region's first, that translates va,
// which must lie in the region.
func (p Pages) Entry(va model.VA) uint64 {
	return p.adapter.Number(va) - p.adapter.Number(p.base)
}

// Covered is the range of entries, counted from the region's first, that
// translate bytes of the region inside the host pages which [va, va+length)
// touches: what an invalidation of those pages must zap. n is 0 where the
// range and the region share no host page.
func (p Pages) Covered(va model.VA, length uint64) (first, n uint64) {
	if length == 0 || p.length == 0 {
		return 0, 0
	}
	// All ends are inclusive, so that nothing wraps at the top of memory.
	mask := model.VA(p.host.Bytes() - 1)
	low, high := va&^mask, (va+model.VA(length-1))|mask
	end := p.base + model.VA(p.length-1)
	low, high = max(low, p.base), min(high, end)
	if low > high {
		return 0, 0
	}
	first = p.Entry(low)
	return first, p.Entry(high) - first + 1
}

// VA is the lowest address that entry i of the region translates, clipped to
// the region.
func (p Pages) VA(i uint64) model.VA {
	return max(p.base, model.VA((p.adapter.Number(p.base)+i)<<p.adapter))
}

// HostPage is the host page number of the page that backs entry i.
func (p Pages) HostPage(i uint64) uint64 { return p.host.Number(p.VA(i)) }

// Address is the physical address that entry i must hold when the host page
// behind it starts at frame: the adapter's page inside the host's.
func (p Pages) Address(i uint64, frame model.PA) model.PA {
	start := (p.adapter.Number(p.base) + i) << p.adapter
	return frame + model.PA(start&(p.host.Bytes()-1))
}
