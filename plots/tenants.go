package plots

import "math"

// ofVictim is a metric of the victim's completed accesses; a row without any has
// no value.
func ofVictim(column string) Metric {
	return Metric{[]string{"victim." + column, "victim.completed"}, func(v []float64) float64 {
		if v[1] == 0 {
			return math.NaN()
		}
		return v[0]
	}}
}

// VictimMissRate is the share of the victim's MTT look-ups that missed, in
// percent.
var VictimMissRate = Ratio("victim.mtt.misses", "victim.mtt.lookups", 100)

// tenants is what the victim meets beside its neighbours: latency and misses.
func (s *sweepFigure) tenants() *figure {
	f := s.figure("tenants", "what tenant 0 meets")
	median := s.series(ofVictim("latency_ps.p50"))
	if _, _, ok := spanOf(ys(median)...); !ok {
		return nil // one tenant
	}
	tail, misses := s.series(ofVictim("latency_ps.p99")), s.series(VictimMissRate)
	f.panels = [][]*panel{{
		s.panel(s.x(3), valueScale(timeUnits, "p50 latency", ys(median)...), median),
		s.panel(s.x(3), valueScale(timeUnits, "p99 latency", ys(tail)...), tail),
		s.panel(s.x(3), linearScale(nil, "look-ups that missed (%)", ys(misses)...), misses),
	}}
	f.shareX()
	s.groupLegend(f)
	return f
}
