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

// VictimThroughput is the victim's completed accesses per simulated second.
var VictimThroughput = Metric{[]string{"victim.completed", "simulated_ps"}, func(v []float64) float64 {
	if v[0] == 0 || v[1] == 0 {
		return math.NaN()
	}
	return 1e12 * v[0] / v[1]
}}

// tenanted says whether the sweep tells tenants apart.
func (s *sweepFigure) tenanted() bool {
	_, _, ok := spanOf(ys(s.series(ofVictim("latency_ps.p50")))...)
	return ok
}

// tenants is what the victim meets beside its neighbours: latency, misses and
// throughput.
func (s *sweepFigure) tenants() *figure {
	if !s.tenanted() {
		return nil
	}
	f := s.figure("tenants", "what the victim, tenant 0, meets")
	latency := s.panels(2, timeUnits, labelled{label: "p50 latency", metric: ofVictim("latency_ps.p50")},
		labelled{label: "p99 latency", metric: ofVictim("latency_ps.p99")})
	misses, rate := s.series(VictimMissRate), s.panels(2, rateUnits, labelled{label: "accesses completed", metric: VictimThroughput})
	f.rows(append(latency, s.panel(s.x(2), linearScale(nil, "look-ups that missed (%)", ys(misses)...), misses), rate[0]), 2)
	s.groupLegend(f)
	return f
}
