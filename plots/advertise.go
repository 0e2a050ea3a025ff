package plots

import "math"

// ofIssued is a column per accesses that were issued, times factor.
func ofIssued(column string, factor float64) Metric {
	return Metric{[]string{column, completed, "accesses.failed"}, func(v []float64) float64 {
		if v[1]+v[2] == 0 {
			return math.NaN()
		}
		return factor * v[0] / (v[1] + v[2])
	}}
}

var (
	// FailedShare is the share of issued accesses that failed, in percent.
	FailedShare = ofIssued("accesses.failed", 100)
	// OverAdvertisedRate is answers that an absent page got because more is
	// advertised than reserved, per 1000 accesses issued.
	OverAdvertisedRate = Metric{[]string{"transport.rnr_naks.over_advertised", "transport.tcp_drops.over_advertised", completed, "accesses.failed"},
		func(v []float64) float64 {
			if v[2]+v[3] == 0 {
				return math.NaN()
			}
			return 1000 * (v[0] + v[1]) / (v[2] + v[3])
		}}
	// SwapOutRate is pages swapped out per 1000 accesses issued.
	SwapOutRate = ofIssued("faults.swapped_out_pages", 1000)
	// PromiseCover is advertised bytes per byte that is resident at the end.
	PromiseCover = Ratio("advertise.bytes_advertised", "advertise.bytes_resident", 1)
)

// advertise is what a promise beyond memory costs: who is refused, who waits, and
// what is moved to keep it; nil where nobody met one.
func (s *sweepFigure) advertise() *figure {
	met := append(ys(s.series(OverAdvertisedRate)), ys(s.series(Column("advertise.refused")))...)
	if _, hi, ok := spanOf(met...); !ok || hi == 0 {
		return nil
	}
	f := s.figure("advertise", "what the promise costs")
	f.rows(s.panels(2, nil, labelled{label: "accesses that failed (%)", metric: FailedShare},
		labelled{label: "over-advertised: not-ready\nanswers per 1000 accesses", metric: OverAdvertisedRate},
		labelled{label: "pages swapped out\nper 1000 accesses", metric: SwapOutRate},
		labelled{label: "bytes advertised\nper byte resident", metric: PromiseCover}), 2)
	s.groupLegend(f)
	return f
}
