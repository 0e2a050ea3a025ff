package plots

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Names of a sweep's figures, in the order of drawing.
var sweepNames = []string{"overview", "miss-rate", "latency", "causes", "throughput", "paging"}

// percentiles that latency figures show.
var percentiles = []struct{ column, name string }{{"p50", "p50"}, {"p99", "p99"}, {"p999", "p99.9"}}

const mostPanels = 6 // groups that still get a panel each

// sweepFigure gathers what all figures of one sweep share.
type sweepFigure struct {
	table  *Table
	layout Layout
	title  string
	footer string
	err    error // the first failure of series
}

func sweepFigures(dir string, o Options) ([]*figure, error) {
	t, err := ReadTable(filepath.Join(dir, SweepFile))
	if err != nil {
		return nil, err
	}
	from, err := readOrigin(dir)
	if err != nil {
		return nil, err
	}
	s := &sweepFigure{table: t, layout: t.Layout(), title: from.Title, footer: from.smallPrint()}
	if s.title == "" {
		s.title = "Sweep of " + s.layout.X.Key
	}
	if err := s.checkResults(); err != nil {
		return nil, err
	}
	natural := s.natural()
	if s.err != nil {
		return nil, s.err
	}
	names := o.Figures
	if len(names) == 0 && len(from.Figures) > 0 {
		names = from.Figures
	}
	return chosen(natural, names, sweepNames)
}

// checkResults refuses a sweep in which no point has results.
func (s *sweepFigure) checkResults() error {
	done, err := s.table.Measure(Column(completed))
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(done, func(v float64) bool { return !math.IsNaN(v) }) {
		return fmt.Errorf("%s: no point has results (%d rows, status %s): nothing to draw; column error says why",
			s.table.Path, len(s.table.Rows), s.table.Rows[0].Status)
	}
	return nil
}

func (s *sweepFigure) natural() []*figure {
	figures := []*figure{s.overview(), s.missRate(), s.latency(), s.causes(), s.throughput()}
	if f := s.paging(); f != nil {
		figures = append(figures, f)
	}
	return figures
}

func (s *sweepFigure) figure(name, what string) *figure {
	return &figure{name: name, title: s.title + ": " + what, height: figureHeight, footer: s.footer}
}

// series computes a metric; a failure is kept for sweepFigures to return.
func (s *sweepFigure) series(m Metric) []Series {
	out, err := s.table.Series(s.layout, m)
	if err != nil {
		if s.err == nil {
			s.err = err
		}
		return make([]Series, len(s.layout.Groups))
	}
	return out
}

func ys(series []Series) [][]float64 {
	var sets [][]float64
	for _, s := range series {
		sets = append(sets, s.Y)
	}
	return sets
}

// x is the swept axis for panels in so many columns.
func (s *sweepFigure) x(columns int) scale {
	x := xScale(s.layout.X)
	x.fit((figureWidth - vg.Points(60)) / vg.Length(columns) * 0.88)
	return x
}

// scaled divides by the unit of the y axis.
func scaled(values []float64, y scale) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v / y.unit.base
	}
	return out
}

// panel draws one metric, a line a group, and marks points without a result.
func (s *sweepFigure) panel(x, y scale, series []Series) *plot.Plot {
	p := newPanel(x, y)
	for i, one := range series {
		p.Add(newCurve(one.X, scaled(one.Y, y), seriesLook(i, len(series))))
	}
	s.addCrosses(p, s.layout.Groups...)
	return p
}

// groupLegend names the groups; of very many only some, evenly spaced.
func (s *sweepFigure) groupLegend(f *figure) {
	groups := s.layout.Groups
	if len(groups) > 1 {
		step := (len(groups) + 11) / 12
		for i := 0; i < len(groups); i += step {
			l := seriesLook(i, len(groups))
			if len(groups[i].X) > mostMarkers {
				l.glyph = nil
			}
			f.legend = append(f.legend, entry{name: groups[i].Group, look: l})
		}
	}
	s.crossLegend(f)
}

func (s *sweepFigure) missRate() *figure {
	f := s.figure("miss-rate", "miss rate")
	series := s.series(MissRate)
	f.panels = [][]*plot.Plot{{s.panel(s.x(1), linearScale(nil, "MTT misses / lookups (%)", ys(series)...), series)}}
	s.groupLegend(f)
	return f
}

func (s *sweepFigure) throughput() *figure {
	f := s.figure("throughput", "throughput")
	series := s.series(Throughput)
	f.panels = [][]*plot.Plot{{s.panel(s.x(1), s.throughputScale(series), series)}}
	s.groupLegend(f)
	return f
}

func (s *sweepFigure) throughputScale(series []Series) scale {
	return valueScale(rateUnits, "accesses completed", ys(series)...)
}

func (s *sweepFigure) paging() *figure {
	faults, invalidations := s.series(FaultRate), s.series(InvalidationRate)
	if _, hi, ok := spanOf(append(ys(faults), ys(invalidations)...)...); !ok || hi == 0 {
		return nil
	}
	f := s.figure("paging", "faults and invalidations")
	f.panels = [][]*plot.Plot{{
		s.panel(s.x(2), valueScale(nil, "faults per 1000 accesses", ys(faults)...), faults),
		s.panel(s.x(2), valueScale(nil, "invalidations per 1000 accesses", ys(invalidations)...), invalidations),
	}}
	f.shareX()
	s.groupLegend(f)
	return f
}

// shareX moves the x label of all panels under the figure.
func (f *figure) shareX() {
	f.xLabel = f.panels[0][0].X.Label.Text
	for _, row := range f.panels {
		for _, p := range row {
			if p != nil {
				p.X.Label.Text = ""
			}
		}
	}
}

// shareY leaves the y label and tick labels to the first panel of a row.
func (f *figure) shareY() {
	for _, row := range f.panels {
		for i, p := range row {
			if p == nil || i == 0 {
				continue
			}
			p.Y.Label.Text = ""
			p.Y.Tick.Marker = unlabelled{p.Y.Tick.Marker}
		}
	}
}

// overview is miss rate over latency for one group, p99 over throughput for
// more, above each other on one x axis.
func (s *sweepFigure) overview() *figure {
	x := s.x(1)
	f := s.figure("overview", "")
	f.height = tallHeight
	f.title = s.title
	var upper, lower *plot.Plot
	if len(s.layout.Groups) == 1 {
		series := s.series(MissRate)
		upper = s.panel(x, linearScale(nil, "MTT miss rate (%)", ys(series)...), series)
		lower = s.percentilePanels(f, x, 1)[0]
	} else {
		p99, rate := s.series(Latency("p99")), s.series(Throughput)
		upper = s.panel(x, valueScale(timeUnits, "p99 latency", ys(p99)...), p99)
		lower = s.panel(x, s.throughputScale(rate), rate)
		s.groupLegend(f)
	}
	upper.X.Label.Text = ""
	upper.X.Tick.Marker = unlabelled{upper.X.Tick.Marker}
	f.panels = [][]*plot.Plot{{upper}, {lower}}
	return f
}

// latency is a panel a group while there are few, else a panel a percentile.
func (s *sweepFigure) latency() *figure {
	f := s.figure("latency", "latency of an access")
	n := len(s.layout.Groups)
	if n > mostPanels {
		var row []*plot.Plot
		for _, q := range percentiles[:2] {
			series := s.series(Latency(q.column))
			row = append(row, s.panel(s.x(2), valueScale(timeUnits, q.name+" latency", ys(series)...), series))
		}
		f.panels = [][]*plot.Plot{row}
		f.shareX()
		s.groupLegend(f)
		return f
	}
	columns := columnsFor(n)
	panels := s.percentilePanels(f, s.x(columns), n)
	f.arrange(panels, columns)
	return f
}

func columnsFor(n int) int {
	if n == 4 {
		return 2
	}
	return min(n, 3)
}

// arrange puts panels into rows that share their axes.
func (f *figure) arrange(panels []*plot.Plot, columns int) {
	for len(panels) > 0 {
		row := make([]*plot.Plot, columns)
		panels = panels[copy(row, panels):]
		f.panels = append(f.panels, row)
	}
	if len(f.panels) > 1 {
		f.height = tallHeight
	}
	if columns > 1 {
		f.shareX()
		f.shareY()
	}
}

// percentilePanels are the first n groups' percentiles on one y scale, with
// their legend.
func (s *sweepFigure) percentilePanels(f *figure, x scale, n int) []*plot.Plot {
	var quantiles [][]Series
	var all [][]float64
	for _, q := range percentiles {
		series := s.series(Latency(q.column))
		quantiles = append(quantiles, series)
		all = append(all, ys(series)...)
	}
	y := valueScale(timeUnits, "latency of an access", all...)
	panels := make([]*plot.Plot, n)
	for g := range panels {
		panels[g] = newPanel(x, y)
		panels[g].Title.Text = s.layout.Groups[g].Group
		for q := range quantiles {
			one := quantiles[q][g]
			panels[g].Add(newCurve(one.X, scaled(one.Y, y), seriesLook(q, len(percentiles))))
		}
		s.addCrosses(panels[g], s.layout.Groups[g])
	}
	for q, p := range percentiles {
		l := seriesLook(q, len(percentiles))
		if len(s.layout.Groups[0].X) > mostMarkers {
			l.glyph = nil
		}
		f.legend = append(f.legend, entry{name: p.name, look: l})
	}
	s.crossLegend(f)
	return panels
}

// unlabelled keeps ticks and hides their labels.
type unlabelled struct{ plot.Ticker }

func (u unlabelled) Ticks(lo, hi float64) []plot.Tick {
	ticks := slices.Clone(u.Ticker.Ticks(lo, hi))
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = " "
		}
	}
	return ticks
}
