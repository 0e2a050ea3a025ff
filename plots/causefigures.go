package plots

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

const (
	leastShare  = 0.01 // of a bar, to be seen in it
	fewParts    = 8    // are all named
	widestStack = 8    // means that span more are shown as shares
	other       = "other"
	mostStacks  = 12 // groups that still get a panel of bars each
)

// Breakdown is mean latency by cause: Mean[c][row] picoseconds, NaN where the
// row has no result.
type Breakdown struct {
	Causes []string  // those that gather keeps, in order, then "other"
	Most   []float64 // the largest share of a row's total that each has, 0 … 1
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

// gather keeps the causes that are seen in some row, and the largest others while
// few are kept, and joins the rest.
func gather(names []string, means [][]float64, rows int) Breakdown {
	b := Breakdown{Total: make([]float64, rows)}
	for _, m := range means {
		for i, v := range m {
			b.Total[i] += v
		}
	}
	most := make([]float64, len(names))
	order := make([]int, len(names))
	for c, m := range means {
		order[c] = c
		for i, v := range m {
			if v > 0 {
				most[c] = max(most[c], v/b.Total[i])
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(most[b], most[a]) })
	rest, joined := make([]float64, rows), 0.0
	for c, m := range means {
		if most[c] > 0 && (most[c] >= leastShare || slices.Index(order, c) < fewParts) {
			b.Causes, b.Mean, b.Most = append(b.Causes, names[c]), append(b.Mean, m), append(b.Most, most[c])
			continue
		}
		for i, v := range m {
			rest[i] += v
		}
		joined = max(joined, most[c])
	}
	if joined > 0 {
		b.Causes, b.Mean, b.Most = append(b.Causes, other), append(b.Mean, rest), append(b.Most, joined)
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
	for c, name := range b.Causes {
		told := name
		if b.Most[c] < leastShare {
			told += " (< 1 %)"
		}
		f.legend = append(f.legend, entry{name: told, fill: causeColor(name)})
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
	switch {
	case longNames(groups):
	case len(groups) > 9:
		columns = 4
	case len(groups) > 4:
		columns = 3
	}
	width := figureWidth * 0.68 / vg.Length(columns)
	n := 1
	for _, g := range groups {
		n = max(n, len(g.X))
	}
	bars := b.bars(label, width/vg.Length(n))
	var panels []*panel
	for _, g := range groups {
		places := rowScale(x.label(), barNames(x, g))
		places.fit(width)
		p := newPanel(places, bars.y)
		p.X.Tick.Color = color.White // keeps the labels off the axis
		p.title = g.Group
		p.Add(bars.of(inRow(g)))
		addCrosses(p.Plot, []Series{inRow(g)}, inInk)
		panels = append(panels, p)
	}
	f.arrange(panels, columns)
	if n := len(f.panels); n > 2 {
		f.height = vg.Length(n) * rowHeight
	}
}

// allBars is one panel with a block of bars a group.
func (s *sweepFigure) allBars(b Breakdown, label string) *panel {
	const width = figureWidth * 0.68
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
	x.fit(width)
	unnamed := func(tick plot.Tick) bool { return tick.Label == "" }
	upright := slices.ContainsFunc(x.ticks, unnamed) && tickText.Font.Size*vg.Length(len(names)) < width
	for i := range x.ticks {
		if upright {
			x.ticks[i].Label = names[i]
		}
	}
	bars := b.bars(label, width/vg.Length(at))
	p := newPanel(x, bars.y)
	if p.X.Tick.Color = color.White; upright {
		p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/2, text.XRight, text.YCenter
	}
	p.Add(bars.of(all))
	addCrosses(p.Plot, []Series{all}, inInk)
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
