package plots

import "gonum.org/v1/plot/vg"

// refaults is how well the pager chooses what leaves, and what its knowledge of
// use costs.
func (s *sweepFigure) refaults() *figure {
	back := labelled{label: "refaults per\n1000 accesses", metric: Ratio("faults.refaults", completed, 1000)}
	if _, hi, ok := spanOf(ys(s.series(back.metric))...); !ok || hi == 0 {
		return nil // no page came back soon
	}
	f := s.figure("refaults", "pages that should have stayed")
	const columns = 3
	panels := s.panels(columns, nil, labelled{label: "evictions per\n1000 accesses", metric: Ratio("faults.evictions", completed, 1000)}, back,
		labelled{label: "access flushes per\n1000 accesses", metric: Ratio("iommu.access_flushes", completed, 1000)},
		labelled{label: "PCIe bytes per payload byte", metric: LinkCost})
	panels = append(panels, s.panels(columns, timeUnits, labelled{label: "p50 latency", metric: Latency("p50")})...)
	f.rows(append(panels, s.panels(columns, rateUnits, labelled{label: "accesses completed", metric: Throughput})...), columns)
	f.height = vg.Length(len(f.panels)) * rowHeight
	s.groupLegend(f)
	return f
}
