package plots

import (
	"slices"

	"gonum.org/v1/plot/vg"
)

// compared are the metrics of the schemes figure, a panel each, by kind.
var compared = []struct {
	units   []unit
	metrics []labelled
}{
	{timeUnits, latencies(3)},
	{rateUnits, []labelled{{"accesses completed", Throughput, true}}},
	{nil, []labelled{
		{"PCIe bytes per payload byte", LinkCost, true},
		{"not-ready answers\nper 1000 accesses", NotReadyRate, true},
		{"packets sent again (%)", ResendShare, true},
	}},
}

// schemes is a panel a metric: what a scheme costs, side by side.
func (s *sweepFigure) schemes() *figure {
	if len(s.layout.Groups) < 2 {
		return nil
	}
	f := s.figure("schemes", "what each costs")
	const columns = 3
	var panels []*panel
	for _, c := range compared {
		panels = append(panels, s.panels(columns, c.units, c.metrics...)...)
	}
	f.rows(panels, columns)
	f.height = vg.Length(len(f.panels)) * rowHeight
	s.groupLegend(f)
	return f
}

// groupAxes are the axes beside x that have several values, in order, but first
// one of names, where there is one: a scheme has one colour in all figures.
func (s *sweepFigure) groupAxes() []Axis {
	axes := slices.DeleteFunc(slices.Clone(s.table.Axes), func(a Axis) bool {
		return a.Key == s.layout.X.Key || len(a.Values) < 2
	})
	slices.SortStableFunc(axes, func(a, b Axis) int {
		switch {
		case a.numeric() == b.numeric():
			return 0
		case b.numeric():
			return -1
		}
		return 1
	})
	return axes
}

// look is the look of the i-th of n groups, in all figures: the first grouping
// axis gives the colour and the shape of markers, the others dashes and how
// markers are filled. Where that does not suffice all differ.
func (s *sweepFigure) look(i, n int) look {
	l := s.quantityLook(i, n)
	axes := s.groupAxes()
	if len(axes) < 2 || len(axes[0].Values) > min(len(seriesColors), len(shapes)) {
		return l
	}
	at, combined, combinations := s.valuesOf(i, axes), 0, 1
	for k, a := range axes[1:] {
		combined = combined*len(a.Values) + at[k+1]
		combinations *= len(a.Values)
	}
	if combinations > min(len(dashPatterns), fillings) {
		return l
	}
	l.color, l.dashes, l.glyph = seriesColors[at[0]], dashPatterns[combined], marker{shapes[at[0]], combined}
	return l.rank(combined*len(axes[0].Values)+at[0], n)
}

// quantityLook is the look of the i-th of n series over the swept axis.
func (s *sweepFigure) quantityLook(i, n int) look {
	l := seriesLook(i, n)
	l.pointsOnly = !s.layout.X.numeric()
	return l
}

// valuesOf are the places of a group's values on the axes.
func (s *sweepFigure) valuesOf(group int, axes []Axis) []int {
	row := s.table.Rows[s.layout.Groups[group].Rows[0]]
	var at []int
	for _, a := range axes {
		column := slices.IndexFunc(s.table.Axes, func(b Axis) bool { return b.Key == a.Key })
		at = append(at, slices.Index(a.Values, row.Values[column]))
	}
	return at
}

// hazard is how long translations are held: what an invalidation may have to
// wait for.
func (s *sweepFigure) hazard() *figure {
	const column = "invalidations.hazard_ps."
	f := s.figure("hazard", "from translation to last bus use")
	f.rows(s.panels(3, timeUnits, labelled{label: "p50", metric: Column(column + "p50")},
		labelled{label: "p99", metric: Column(column + "p99")}, labelled{label: "longest", metric: Column(column + "max")}), 3)
	s.groupLegend(f)
	return f
}

// steps is the mean time of an invalidation by step, a stacked bar a point.
func (s *sweepFigure) steps() *figure {
	b, err := s.table.Steps()
	if err != nil && s.err == nil {
		s.err = err
	}
	if len(b.Causes) == 0 {
		return nil
	}
	return s.stacked("steps", "an invalidation by step", "mean time of an invalidation", b)
}
