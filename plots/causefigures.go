package plots

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

const (
	leastShare  = 0.01 // a cause under this share of every point joins "other"
	widestStack = 8    // means that span more are shown as shares
	other       = "other"
	mostStacks  = 9 // groups that still get a panel of bars each
)

// Breakdown is mean latency by cause: Mean[c][row] picoseconds, NaN where the
// row has no result.
type Breakdown struct {
	Causes []string // those of translation and those that reach 1 % in some row, in order, then "other"
	Mean   [][]float64
	Total  []float64 // a row
}

// Breakdown splits every row's mean latency by cause.
func (t *Table) Breakdown() (Breakdown, error) { return t.breakdown(causePrefix, completed) }

const stepPrefix = "invalidations.step_ps."

// Steps splits every row's mean time of an invalidation by step.
func (t *Table) Steps() (Breakdown, error) {
	return t.breakdown(stepPrefix, "invalidations.acknowledged")
}

// breakdown divides all columns under a prefix by a count.
func (t *Table) breakdown(prefix, count string) (Breakdown, error) {
	names := t.under(prefix)
	means := make([][]float64, len(names))
	for c, name := range names {
		v, err := t.Measure(Ratio(prefix+name, count, 1))
		if err != nil {
			return Breakdown{}, err
		}
		means[c] = v
	}
	return gather(names, means, len(t.Rows)), nil
}

// translationCauses are what the adapter's MMU adds to an access: told however
// small, because they are what is looked for.
var translationCauses = []string{"translate", "mpt_miss", "mtt_miss", "mshr", "fault"}

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
		matters, least := false, leastShare
		if slices.Contains(translationCauses, names[c]) {
			least = 0
		}
		for i, v := range m {
			matters = matters || v > 0 && v >= least*b.Total[i]
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

// causes is the mean latency of an access by cause.
func (s *sweepFigure) causes() *figure {
	b, err := s.table.Breakdown()
	if err != nil && s.err == nil {
		s.err = err
	}
	return s.stacked("causes", "latency by cause", "mean latency", b)
}

// stacked is a stacked bar a point, a panel a group, or a block of bars a group
// where there are more.
func (s *sweepFigure) stacked(name, what, label string, b Breakdown) *figure {
	f := s.figure(name, what)
	f.aside = true
	if len(s.layout.Groups) > mostStacks {
		f.panels = [][]*panel{{s.allBars(b, label)}}
	} else {
		s.groupBars(f, b, label)
	}
	for _, name := range b.Causes {
		f.legend = append(f.legend, entry{name: name, fill: causeColor(name)})
	}
	slices.Reverse(f.legend)
	s.crossLegend(f)
	slices.Reverse(f.legend)
	return f
}

// groupBars makes a panel a group.
func (s *sweepFigure) groupBars(f *figure, b Breakdown, label string) {
	groups, x := s.layout.Groups, s.layout.X
	columns := min(len(groups), 2)
	if len(groups) > 4 && !longNames(groups) {
		columns = 3
	}
	width := figureWidth * 0.68 / vg.Length(columns)
	values, y := b.Mean, linearScale(timeUnits, label, b.Total)
	var above []string
	if spansMore(b.Total, widestStack) {
		values = b.shares()
		above, y = b.sharesScale(groups, width, label)
	}
	var panels []*panel
	for _, g := range groups {
		bars := rowScale(x.label(), barNames(x, g))
		bars.fit(width)
		p := newPanel(bars, y)
		p.X.Tick.Color = color.White // keeps the labels off the axis
		p.title = g.Group
		p.Add(newStack(b, values, above, y, inRow(g)))
		addCrosses(p.Plot, inRow(g))
		panels = append(panels, p)
	}
	f.arrange(panels, columns)
	if n := len(f.panels); n > 2 {
		f.height = vg.Length(n) * 5.5 * vg.Centimeter
	}
}

// allBars is one panel with a block of bars a group.
func (s *sweepFigure) allBars(b Breakdown, label string) *panel {
	values, y := b.Mean, linearScale(timeUnits, label, b.Total)
	if spansMore(b.Total, widestStack) {
		values, y = b.shares(), shareScale(label)
	}
	var all Series
	var names []string
	x := scale{names: true, min: -1, unit: unit{base: 1}, label: "in each block ascending: " + s.layout.X.label()}
	at := 0.0
	for _, g := range s.layout.Groups {
		first := at
		for i := range g.Rows {
			all.X = append(all.X, at)
			all.Rows = append(all.Rows, g.Rows[i])
			all.Status = append(all.Status, g.Status[i])
			at++
		}
		x.only, names = append(x.only, (first+at-1)/2), append(names, g.Group)
		at++ // the gap between blocks
	}
	x.max = at - 1
	x.format = func(v float64) string { return names[slices.Index(x.only, v)] }
	x.fit(figureWidth * 0.68)
	p := newPanel(x, y)
	p.X.Tick.Color = color.White
	p.Add(newStack(b, values, nil, y, all))
	addCrosses(p.Plot, all)
	return p
}

// longNames tells whether a group's name is wider than a third of a page.
func longNames(groups []Series) bool {
	return slices.ContainsFunc(groups, func(g Series) bool { return panelText.Width(g.Group) > figureWidth*0.68/3 })
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

func newStack(b Breakdown, values [][]float64, above []string, y scale, g Series) stack {
	bar := stack{x: g.X, width: 0.78}
	if above != nil {
		for _, row := range g.Rows {
			bar.above = append(bar.above, above[row])
		}
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

func spansMore(values []float64, factor float64) bool {
	lo, hi, ok := spanOf(values)
	return ok && lo > 0 && hi/lo > factor
}

func shareScale(of string) scale {
	return scale{max: 108, unit: unit{base: 1}, label: "share of " + of + " (%)", ticks: linearTicks(0, 100, 20)}
}

// sharesScale is the axis of shares and, where the bars leave room, each row's
// mean to stand above its bar.
func (b Breakdown) sharesScale(groups []Series, width vg.Length, label string) (above []string, y scale) {
	y = shareScale(label)
	lo, hi, _ := spanOf(b.Total)
	u := unitFor(timeUnits, math.Sqrt(lo*hi))
	above = make([]string, len(b.Total))
	widest := vg.Length(0)
	for row, t := range b.Total {
		if !math.IsNaN(t) {
			above[row] = significant(t/u.base, 3)
			widest = max(widest, aboveText.Width(above[row]))
		}
	}
	for _, g := range groups {
		if widest+vg.Points(1) > width/vg.Length(len(g.X)) {
			return nil, y
		}
	}
	y.label += "; above: mean (" + u.name + ")"
	return above, y
}
