package platform

import (
	"testing"

	"rnicmmu/clocked"
)

// late is an adapter that acknowledges invalidations early, while its peers
// write to pages that the process gives up: DMA comes late.
func late(set ...string) []string {
	return append([]string{"scheme=odp", "workload.accesses=4000", "workload.access_bytes=4KiB", "workload.qps=512", "workload.outstanding=512",
		"qp.mtu=256B", "host.pager.initial=resident", "host.events.unmap_interval=20us", "host.iommu.iotlb_entries=2048",
		"tpt.invalidation.early_ack=true"}, set...)
}

// Behind an IOMMU late DMA finds no mapping under strict unmapping, and reaches
// the old frame under deferred until the flush: with the same workload the first
// has none that is stale, the second has. An adapter that drains has none under
// either, and nothing of it is refused. No write is lost but those.
func TestLateDMA(t *testing.T) {
	for _, c := range []struct {
		mode, early    string
		stale, refused bool
	}{{"strict", "true", false, true}, {"deferred", "true", true, false}, {"strict", "false", false, false}, {"deferred", "false", false, false}} {
		sum := must(t, nil, late("host.iommu.mode="+c.mode, "tpt.invalidation.early_ack="+c.early)...).sum
		stale, refused := sum.Invalidations.StaleDeferred, sum.IOMMU.Absent
		if stale > 0 != c.stale || c.refused && refused == 0 || c.early == "false" && refused > 0 {
			t.Errorf("%s, early acknowledgement %s: %d stale, %d refused", c.mode, c.early, stale, refused)
		}
	}
	o, err := execute(nil, late())
	if err != nil || o.sum.Invalidations.StaleDMA == 0 {
		t.Errorf("without an IOMMU late DMA is a violation: %v, %v", o, err)
	}
}

// The window of a strict unmapping is the IOTLB's flush and the two wires to it;
// that of a deferred one at most the flush time more, and by count 1 as short
// but for flushes that wait for each other.
func TestWindowOfUnmapping(t *testing.T) {
	flush := load(t).Host.IOMMU.CommandTime
	strict := must(t, nil, late("host.iommu.mode=strict", "host.iommu.command_time=2us", "tpt.invalidation.early_ack=false")...).sum
	if w := strict.IOMMU.WindowPS; w.P50 < 2*clocked.Microsecond+2*hostHop || w.P50 > 2*clocked.Microsecond+2*hostHop+5*ns {
		t.Errorf("window %+v, want 2 us + two hops", w)
	}
	for _, c := range []struct {
		count string
		limit clocked.Time
	}{{"250", 100*clocked.Microsecond + 4*flush}, {"1", 4 * flush}} {
		sum := must(t, nil, late("host.iommu.mode=deferred", "host.iommu.flush_time=100us", "host.iommu.flush_count="+c.count, "tpt.invalidation.early_ack=false")...).sum
		if w := sum.IOMMU.WindowPS; w.Max > c.limit || w.P50 < flush {
			t.Errorf("flush count %s: window %+v, want %v to %v", c.count, w, flush, c.limit)
		}
		if sum.IOMMU.Deferred == 0 || sum.IOMMU.Deferred > sum.IOMMU.Flushes {
			t.Errorf("flush count %s: %d flushes, %d deferred", c.count, sum.IOMMU.Flushes, sum.IOMMU.Deferred)
		}
	}
}
