package plots

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

const (
	leastShare  = 0.01 // a cause under this share of every point joins "other"
	widestStack = 8    // means that span more are shown as shares
	other       = "other"
)

// Breakdown is mean latency by cause: Mean[c][row] picoseconds, NaN where the
// row has no result.
type Breakdown struct {
	Causes []string // those that reach 1 % in some row, in order, then "other"
	Mean   [][]float64
	Total  []float64 // a row
}

// Breakdown splits every row's mean latency by cause.
func (t *Table) Breakdown() (Breakdown, error) {
	names := t.causes()
	means := make([][]float64, len(names))
	for c, name := range names {
		v, err := t.Measure(CauseTime(name))
		if err != nil {
			return Breakdown{}, err
		}
		means[c] = v
	}
	return gather(names, means, len(t.Rows)), nil
}

// gather keeps the causes that matter and joins the rest.
func gather(names []string, means [][]float64, rows int) Breakdown {
	b := Breakdown{Total: make([]float64, rows)}
	for _, m := range means {
		for i, v := range m {
			b.Total[i] += v
		}
	}
	rest := make([]float64, rows)
	joined := false
	for c, m := range means {
		matters := false
		for i, v := range m {
			matters = matters || v > 0 && v >= leastShare*b.Total[i]
		}
		if matters {
			b.Causes, b.Mean = append(b.Causes, names[c]), append(b.Mean, m)
			continue
		}
		for i, v := range m {
			rest[i] += v
			joined = joined || v > 0
		}
	}
	if joined {
		b.Causes, b.Mean = append(b.Causes, other), append(b.Mean, rest)
	}
	return b
}

// shares turns means into percent of each row's total.
func (b Breakdown) shares() [][]float64 {
	out := make([][]float64, len(b.Mean))
	for c, m := range b.Mean {
		out[c] = make([]float64, len(m))
		for i, v := range m {
			if out[c][i] = 100 * v / b.Total[i]; b.Total[i] == 0 {
				out[c][i] = 0
			}
		}
	}
	return out
}

// causes is a stacked bar a point, a panel a group. More groups than panels
// stand in one row of bars, in plan order.
func (s *sweepFigure) causes() *figure {
	f := s.figure("causes", "mean latency of an access by cause")
	f.aside = true
	b, err := s.table.Breakdown()
	if err != nil && s.err == nil {
		s.err = err
	}
	groups, x := s.layout.Groups, s.layout.X
	if len(groups) > mostPanels {
		groups, x = s.allInOneRow()
	}
	columns := min(len(groups), 2)
	values, y := b.Mean, linearScale(timeUnits, "mean latency", b.Total)
	asShares := spansMore(b.Total, widestStack)
	if asShares {
		values, y = b.shares(), shareScale()
	}
	var panels []*plot.Plot
	for _, g := range groups {
		bars := rowScale(x.label(), barNames(x, g))
		bars.fit(figureWidth * 0.7 / vg.Length(columns))
		p := newPanel(bars, y)
		p.X.Tick.Length = 0
		p.Title.Text = g.Group
		bar := newStack(b, values, y, g)
		if asShares && len(g.X)*columns <= 24 {
			bar.above = totals(b.Total, g)
		}
		p.Add(bar)
		s.addCrosses(p, inRow(g))
		panels = append(panels, p)
	}
	f.arrange(panels, columns)
	for _, name := range b.Causes {
		f.legend = append(f.legend, entry{name: name, fill: causeColor(name)})
	}
	slices.Reverse(f.legend)
	s.crossLegend(f)
	slices.Reverse(f.legend)
	if asShares && len(groups[0].X)*columns <= 24 {
		f.title += " (mean above the bar)"
	}
	return f
}

// allInOneRow joins all groups into one row of bars with the points' values as
// names.
func (s *sweepFigure) allInOneRow() ([]Series, Axis) {
	one := s.table.singlePoint()
	return one.Groups, Axis{Key: "points in the order of the plan", Values: one.X.Values}
}

func barNames(x Axis, g Series) []string {
	names := make([]string, len(g.X))
	for i, v := range g.X {
		if x.numeric() {
			names[i] = x.quantity(v)
		} else {
			names[i] = x.Values[int(v)]
		}
	}
	return names
}

// inRow is the group with its points at 0, 1, 2, …
func inRow(g Series) Series {
	g.X = slices.Clone(g.X)
	for i := range g.X {
		g.X[i] = float64(i)
	}
	return g
}

func newStack(b Breakdown, values [][]float64, y scale, g Series) stack {
	bar := stack{x: inRow(g).X, width: 0.78}
	if len(g.X) > 60 {
		bar.width = 1
	}
	for c, name := range b.Causes {
		layer := make([]float64, len(g.Rows))
		for i, row := range g.Rows {
			layer[i] = values[c][row] / y.unit.base
		}
		bar.layers = append(bar.layers, layer)
		bar.colors = append(bar.colors, causeColor(name))
	}
	return bar
}

// totals tells each bar's mean.
func totals(total []float64, g Series) []string {
	out := make([]string, len(g.Rows))
	for i, row := range g.Rows {
		if !math.IsNaN(total[row]) {
			out[i] = formatTime(total[row])
		}
	}
	return out
}

func spansMore(values []float64, factor float64) bool {
	lo, hi, ok := spanOf(values)
	return ok && lo > 0 && hi/lo > factor
}

func shareScale() scale {
	s := scale{min: 0, max: 108, unit: unit{base: 1}, label: "share of mean latency (%)"}
	s.ticks = linearTicks(0, 100, 20)
	return s
}
