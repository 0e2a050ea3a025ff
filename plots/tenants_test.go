package plots

import (
	"fmt"
	"math"
	"testing"

	"rnicmmu/measure"
)

// neighbours is a sweep of the aggressor's share in which the victim, where there
// is any, misses as often as the share says.
func neighbours(t testing.TB, dir string, tenants bool) {
	var points []point
	for _, partition := range []string{"none", "tenant"} {
		for _, share := range []float64{0, 0.25, 0.5, 1} {
			s := sample(0.2, 0)
			if n := uint64((1 - share) * sampleAccesses); tenants && n > 0 {
				s.Victim.Completed = n
				s.Victim.LatencyPS = measure.Quantiles{P50: 2e6, P99: 3e6}
				s.Victim.MTT = measure.TenantCache{Lookups: n, Misses: uint64(share * float64(n))}
			}
			points = append(points, point{[]string{partition, fmt.Sprint(share)}, "ok", s})
		}
	}
	writeSweep(t, dir, []string{"tpt.partition", "workload.aggressor_fraction"}, points, nil)
}

func tenantsFigure(t *testing.T, tenants bool) (*sweepFigure, *figure) {
	t.Helper()
	dir := t.TempDir()
	neighbours(t, dir, tenants)
	table, err := ReadTable(dir + "/" + SweepFile)
	if err != nil {
		t.Fatal(err)
	}
	s := &sweepFigure{table: table, layout: table.Layout()}
	f := s.tenants()
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s, f
}

// The victim's figures are its own columns, a line a partition, and a point
// without a victim has no value.
func TestTenantsFigure(t *testing.T) {
	s, f := tenantsFigure(t, true)
	if f == nil || len(f.panels) != 2 || len(f.panels[0]) != 2 || len(f.legend) != 2 {
		t.Fatalf("%+v", f)
	}
	seconds := float64(sample(0.2, 0).SimulatedPS) / 1e12
	for _, c := range []struct {
		metric Metric
		want   []float64
	}{
		{ofVictim("latency_ps.p50"), []float64{2e6, 2e6, 2e6}},
		{ofVictim("latency_ps.p99"), []float64{3e6, 3e6, 3e6}},
		{VictimMissRate, []float64{0, 25, 50}},
		{VictimThroughput, []float64{20000 / seconds, 15000 / seconds, 10000 / seconds}},
	} {
		for _, one := range s.series(c.metric) {
			if len(one.Y) != 4 || !math.IsNaN(one.Y[3]) {
				t.Fatalf("%v: %v, want no value without a victim", c.metric.Columns, one.Y)
			}
			for i, want := range c.want {
				if math.Abs(one.Y[i]-want) > 0.01*want {
					t.Errorf("%v: %v, want %v", c.metric.Columns, one.Y, c.want)
				}
			}
		}
	}
}

// With one tenant there is nothing to show.
func TestNoTenantsFigure(t *testing.T) {
	if _, f := tenantsFigure(t, false); f != nil {
		t.Errorf("a figure of %d panels", len(f.panels))
	}
}

// What hit in the second level has not walked the table.
func TestWalkRate(t *testing.T) {
	dir := t.TempDir()
	s := sample(0.2, 0)
	s.TPT.MTT.L2 = measure.L2Stats{Lookups: s.TPT.MTT.Walks, Hits: s.TPT.MTT.Walks / 3}
	writeSweep(t, dir, []string{"tpt.mtt.l2_entries"}, []point{{[]string{"0"}, "ok", sample(0.2, 0)}, {[]string{"4096"}, "ok", s}}, nil)
	table, err := ReadTable(dir + "/" + SweepFile)
	if err != nil {
		t.Fatal(err)
	}
	got, err := table.Measure(WalkRate)
	if err != nil || math.Abs(got[0]-15) > 0.01 || math.Abs(got[1]-10) > 0.01 {
		t.Errorf("%v, %v, want 15 and 10 %%", got, err)
	}
}
