package plots

import (
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot/vg"
)

// Names of a sweep's figures, in the order of drawing.
var sweepNames = []string{"overview", "miss-rate", "latency", "causes", "throughput", "paging", "cpu", "schemes", "steps", "hazard", "window",
	"refaults", "tenants", "advertise"}

// percentiles that latency figures show.
var percentiles = []struct{ column, name string }{{"p50", "p50"}, {"p99", "p99"}, {"p999", "p99.9"}}

const noValue = note("no value at any point")

const mostPanels = 6 // groups that still get a panel each

// sweepFigure gathers what all figures of one sweep share.
type sweepFigure struct {
	table  *Table
	layout Layout
	title  string
	footer string
	bytes  []float64 // of an access, a row; nil when not known
	err    error     // the first failure of series
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
	s := &sweepFigure{table: t, layout: t.Layout(), title: oneLine(from.Title), footer: from.smallPrint()}
	if s.title == "" {
		s.title = "Sweep of " + s.layout.X.label()
	}
	if err := s.checkResults(); err != nil {
		return nil, err
	}
	s.bytes = t.accessBytes(dir, from.Trace != "" || from.TraceHash != "")
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
	for _, f := range []*figure{s.paging(), s.cpu(), s.schemes(), s.steps(), s.hazard(), s.window(), s.refaults(), s.tenants(), s.advertise()} {
		if f != nil {
			figures = append(figures, f)
		}
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
func (s *sweepFigure) panel(x, y scale, series []Series) *panel {
	n := len(series)
	p := s.newPanel(x, y, s.apart(s.layout.Groups), func(i int) color.Color { return s.look(i, n).color })
	var curves []curve
	for i, one := range s.apart(series) {
		curves = append(curves, curve{one.X, scaled(one.Y, y), s.look(i, n)})
	}
	slices.SortStableFunc(curves, func(a, b curve) int { return compare(float64(b.look.width), float64(a.look.width)) })
	for _, c := range curves {
		p.Add(c)
	}
	if _, _, ok := spanOf(ys(series)...); !ok {
		p.Add(noValue)
	}
	return p
}

// panels are panels of one kind of metric in columns, in one unit.
func (s *sweepFigure) panels(columns int, units []unit, of ...labelled) []*panel {
	var sets [][]float64
	for _, m := range of {
		sets = append(sets, ys(s.series(m.metric))...)
	}
	units = inOneUnit(units, sets...)
	var out []*panel
	for _, m := range of {
		series := s.series(m.metric)
		if _, hi, ok := spanOf(ys(series)...); ok && hi > 0 || !m.optional {
			out = append(out, s.panel(s.x(columns), valueScale(units, m.label, ys(series)...), series))
		}
	}
	return out
}

// labelled is a metric with the label of its axis.
type labelled struct {
	label    string
	metric   Metric
	optional bool // left out where it is 0 or has no value
}

// latencies are the labelled percentiles.
func latencies(n int) []labelled {
	var out []labelled
	for _, q := range percentiles[:n] {
		out = append(out, labelled{label: q.name + " latency", metric: Latency(q.column)})
	}
	return out
}

// apart moves the groups' points beside each other where places have no order.
func (s *sweepFigure) apart(series []Series) []Series {
	if s.layout.X.numeric() || len(series) < 2 {
		return series
	}
	n := float64(len(series))
	out := slices.Clone(series)
	for i := range out {
		out[i].X = slices.Clone(out[i].X)
		for k := range out[i].X {
			out[i].X[k] += (float64(i) - (n-1)/2) * min(0.12, 0.6/n)
		}
	}
	return out
}

// groupLegend names the groups; of very many only some, evenly spaced.
func (s *sweepFigure) groupLegend(f *figure) {
	groups := s.layout.Groups
	if len(groups) > 1 {
		step := (len(groups) + 11) / 12
		for i := 0; i < len(groups); i += step {
			f.legend = append(f.legend, entry{name: groups[i].Group, look: s.look(i, len(groups))})
		}
	}
	s.crossLegend(f)
}

// throughput is accesses, and above them data where an access' size is known.
func (s *sweepFigure) throughput() *figure {
	f := s.figure("throughput", "throughput")
	rate := s.series(Throughput)
	accesses := s.panel(s.x(1), s.throughputScale(rate), rate)
	f.panels = [][]*panel{{accesses}}
	if s.bytes != nil {
		data := s.dataRate(rate)
		above := s.panel(s.x(1), valueScale(dataUnits, "data", ys(data)...), data)
		above.hideX()
		f.panels = [][]*panel{{above}, {accesses}}
		f.height = tallHeight
	}
	s.groupLegend(f)
	return f
}

// dataRate is bits a second.
func (s *sweepFigure) dataRate(rate []Series) []Series {
	data := make([]Series, len(rate))
	for g, one := range rate {
		y := make([]float64, len(one.Y))
		for i, v := range one.Y {
			y[i] = v * 8 * s.bytes[one.Rows[i]]
		}
		one.Y = y
		data[g] = one
	}
	return data
}

func (s *sweepFigure) throughputScale(series []Series) scale {
	label := "accesses completed"
	if s.tenanted() {
		label += ", all tenants"
	}
	return valueScale(rateUnits, label, ys(series)...)
}

// latency is a panel a group while there are few, else a panel a percentile.
func (s *sweepFigure) latency() *figure {
	f := s.figure("latency", "latency of an access")
	n := len(s.layout.Groups)
	if n > mostPanels {
		f.rows(s.panels(2, timeUnits, latencies(2)...), 2)
		s.groupLegend(f)
		return f
	}
	columns := columnsFor(n)
	panels := s.percentilePanels(f, s.x(columns), n)
	f.arrange(panels, columns)
	return f
}

// percentilePanels are the first n groups' percentiles on one y scale, with
// their legend.
func (s *sweepFigure) percentilePanels(f *figure, x scale, n int) []*panel {
	var quantiles [][]Series
	var all [][]float64
	for _, q := range percentiles {
		series := s.series(Latency(q.column))
		quantiles = append(quantiles, series)
		all = append(all, ys(series)...)
	}
	y := valueScale(timeUnits, "latency of an access", all...)
	panels := make([]*panel, n)
	for g := range panels {
		panels[g] = s.newPanel(x, y, s.layout.Groups[g:g+1], inInk)
		panels[g].title = s.layout.Groups[g].Group
		for q := range quantiles {
			one := quantiles[q][g]
			panels[g].Add(curve{one.X, scaled(one.Y, y), s.quantityLook(q, len(percentiles))})
		}
		if _, _, ok := spanOf(all...); !ok {
			panels[g].Add(noValue)
		}
	}
	for q, p := range percentiles {
		f.legend = append(f.legend, entry{name: p.name, look: s.quantityLook(q, len(percentiles))})
	}
	s.crossLegend(f)
	return panels
}
