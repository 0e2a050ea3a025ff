package plots

import (
	"math"
	"testing"
)

// Steps and link cost are what the columns say, by hand.
func TestSchemeMetrics(t *testing.T) {
	dir := t.TempDir()
	writeSweep(t, dir, []string{"scheme", "transport", "pressure.overcommit"}, []point{
		{[]string{"odp", "rc", "1"}, "ok", sample(0.2, 0.01)},
		{[]string{"odp", "iwarp", "1"}, "ok", sample(0.2, 0.02)},
		{[]string{"sva", "rc", "1"}, "ok", sample(0.2, 0.01)},
	}, nil)
	table, err := ReadTable(dir + "/" + SweepFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		metric Metric
		want   float64
	}{
		{"bytes a payload byte", LinkCost, 120.0 / 64},
		{"refusals per 1000", NotReadyRate, 10},
		{"resent", ResendShare, 0.25},
	} {
		got, err := table.Measure(c.metric)
		if err != nil || math.Abs(got[0]-c.want) > 0.01*c.want {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	steps, err := table.Steps()
	if err != nil || len(steps.Causes) != 10 || math.Abs(steps.Mean[2][0]-3e6) > 1 || math.Abs(steps.Total[0]-55e6) > 1 {
		t.Errorf("steps %+v, %v", steps, err)
	}
}

// With two grouping axes the first decides the colour and the second the dashes.
func TestGroupLook(t *testing.T) {
	dir := t.TempDir()
	var points []point
	for _, scheme := range []string{"odp", "sva"} {
		for _, transport := range []string{"rc", "iwarp"} {
			for _, over := range []string{"1", "2", "3"} {
				points = append(points, point{[]string{scheme, transport, over}, "ok", sample(0.2, 0.01)})
			}
		}
	}
	writeSweep(t, dir, []string{"scheme", "transport", "pressure.overcommit"}, points, nil)
	table, err := ReadTable(dir + "/" + SweepFile)
	if err != nil {
		t.Fatal(err)
	}
	s := &sweepFigure{table: table, layout: table.Layout()}
	for i, g := range s.layout.Groups {
		l := s.look(i, len(s.layout.Groups))
		if l.color != seriesColors[i/2] || len(l.dashes) != len(dashPatterns[i%2]) {
			t.Errorf("%s: %v, dashes %v", g.Group, l.color, l.dashes)
		}
	}
}
