package plots

import "gonum.org/v1/plot/vg"

// window is how long an IOTLB knows pages that left the DMA domain, what DMA
// came through that, and what it costs to keep the time short.
func (s *sweepFigure) window() *figure {
	if _, hi, ok := spanOf(ys(s.series(Column("iommu.window_ps.max")))...); !ok || hi == 0 {
		return nil // no page left a DMA domain
	}
	f := s.figure("window", "from unmapping to the IOTLB's flush")
	const columns = 3
	panels := s.panels(columns, timeUnits, labelled{label: "window, p50", metric: Column("iommu.window_ps.p50")},
		labelled{label: "window, p99", metric: Column("iommu.window_ps.p99")},
		labelled{label: "whole invalidation, p50", metric: Column("invalidations.whole_ps.p50")})
	panels = append(panels, s.panels(columns, nil, labelled{label: "stale DMA per\n1000 invalidations", metric: Ratio("invalidations.stale_deferred", "invalidations.issued", 1000)},
		labelled{label: "IOTLB misses (%)", metric: Ratio("iommu.iotlb.misses", "iommu.iotlb.lookups", 100)})...)
	f.rows(append(panels, s.panels(columns, rateUnits, labelled{label: "accesses completed", metric: Throughput})...), columns)
	f.height = vg.Length(len(f.panels)) * rowHeight
	s.groupLegend(f)
	return f
}
