package plots

import (
	"slices"

	"gonum.org/v1/plot/vg"
)

// compared are the metrics of the schemes figure, a panel each.
var compared = []struct {
	label  string
	units  []unit
	metric Metric
}{
	{"p50 latency", timeUnits, Latency("p50")},
	{"p99 latency", timeUnits, Latency("p99")},
	{"p99.9 latency", timeUnits, Latency("p999")},
	{"accesses completed", rateUnits, Throughput},
	{"PCIe bytes per payload byte", nil, LinkCost},
	{"refusals per 1000 accesses", nil, RefusalRate},
	{"packets sent again (%)", nil, ResendShare},
}

// schemes is a panel a metric: what a scheme costs, side by side. Of two
// grouping axes the first gives the colour and the second the dashes.
func (s *sweepFigure) schemes() *figure {
	if len(s.layout.Groups) < 2 {
		return nil
	}
	f := s.figure("schemes", "what each costs")
	const columns = 3
	var panels []*panel
	for _, c := range compared {
		series := s.series(c.metric)
		if _, hi, ok := spanOf(ys(series)...); !ok || hi == 0 {
			continue
		}
		p := s.lines(s.x(columns), valueScale(c.units, c.label, ys(series)...), series, s.groupLook)
		p.xLabel = ""
		panels = append(panels, p)
	}
	for len(panels) > 0 {
		row := make([]*panel, columns)
		panels = panels[copy(row, panels):]
		f.panels = append(f.panels, row)
	}
	f.height = vg.Length(len(f.panels)) * 5.5 * vg.Centimeter
	f.xLabel = s.x(columns).label
	s.nameGroups(f)
	return f
}

// groupAxes are the axes beside x that have several values, in order.
func (s *sweepFigure) groupAxes() []Axis {
	return slices.DeleteFunc(slices.Clone(s.table.Axes), func(a Axis) bool {
		return a.Key == s.layout.X.Key || len(a.Values) < 2
	})
}

// groupLook is the look of a group by its values on the grouping axes. With one
// or with more than two such axes it is that of all other figures.
func (s *sweepFigure) groupLook(i, n int) look {
	axes := s.groupAxes()
	if len(axes) != 2 || len(axes[0].Values) > len(seriesColors) || len(axes[1].Values) > len(dashPatterns) {
		return s.look(i, n)
	}
	at := s.valuesOf(i, axes)
	return look{color: seriesColors[at[0]], dashes: dashPatterns[at[1]], glyph: glyphs[at[0]%len(glyphs)],
		pointsOnly: !s.layout.X.numeric()}
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

// nameGroups is the legend of the schemes figure.
func (s *sweepFigure) nameGroups(f *figure) {
	groups := s.layout.Groups
	for i := range groups {
		f.legend = append(f.legend, entry{name: groups[i].Group, look: s.groupLook(i, len(groups))})
	}
	s.crossLegend(f)
}

// hazard is how long translations are held: what an invalidation may have to
// wait for.
func (s *sweepFigure) hazard() *figure {
	f := s.figure("hazard", "from translation to last bus use")
	var row []*panel
	for _, q := range []struct{ column, name string }{{"p50", "p50"}, {"p99", "p99"}, {"max", "longest"}} {
		series := s.series(Column("invalidations.hazard_ps." + q.column))
		row = append(row, s.panel(s.x(3), valueScale(timeUnits, q.name, ys(series)...), series))
	}
	f.panels = [][]*panel{row}
	f.shareX()
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
