package plots

import (
	"slices"
	"strings"
)

// Series is one metric over the x axis for one group: one combination of the
// values of all other axes.
type Series struct {
	Group  string    // "odp", "scheme odp, ways 4"; empty when x is the only axis
	X      []float64 // in the x axis' unit, or the index of its value
	Y      []float64 // NaN where the point has no result
	Status []string
	Rows   []int // of the table
}

// Layout says which axis is x and how the rows fall into groups.
type Layout struct {
	X      Axis
	Groups []Series // without Y
}

// Layout chooses as x the numeric axis with most values (the first of equals),
// or the longest axis when none is numeric. Groups keep plan order; rows within
// a group are sorted by x.
func (t *Table) Layout() Layout {
	x := t.xAxis()
	if x < 0 {
		return t.singlePoint()
	}
	l := Layout{X: t.Axes[x]}
	index := map[string]int{}
	for i := range t.Rows {
		name := t.group(i, x)
		g, ok := index[name]
		if !ok {
			g = len(l.Groups)
			index[name] = g
			l.Groups = append(l.Groups, Series{Group: name})
		}
		l.Groups[g].Rows = append(l.Groups[g].Rows, i)
	}
	for g := range l.Groups {
		s := &l.Groups[g]
		at := func(row int) float64 { return l.X.position(t.Rows[row].Values[x]) }
		slices.SortStableFunc(s.Rows, func(a, b int) int { return compare(at(a), at(b)) })
		for _, row := range s.Rows {
			s.X = append(s.X, at(row))
			s.Status = append(s.Status, t.Rows[row].Status)
		}
	}
	return l
}

// singlePoint is the layout of a table without axes.
func (t *Table) singlePoint() Layout {
	s := Series{}
	names := make([]string, len(t.Rows))
	for i, row := range t.Rows {
		s.Rows = append(s.Rows, i)
		s.X = append(s.X, float64(i))
		s.Status = append(s.Status, row.Status)
		names[i] = row.Point
	}
	return Layout{X: Axis{Key: "point", Values: names}, Groups: []Series{s}}
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (t *Table) xAxis() int {
	best := -1
	for i, a := range t.Axes {
		if best < 0 || a.numeric() && !t.Axes[best].numeric() ||
			a.numeric() == t.Axes[best].numeric() && len(a.Values) > len(t.Axes[best].Values) {
			best = i
		}
	}
	return best
}

// group names the values of all axes but x that differ between rows.
func (t *Table) group(row, x int) string {
	var parts []string
	for i, a := range t.Axes {
		if i != x && len(a.Values) > 1 {
			parts = append(parts, a.named(t.Rows[row].Values[i]))
		}
	}
	return strings.Join(parts, ", ")
}

// Series computes a metric for every group of the layout.
func (t *Table) Series(l Layout, m Metric) ([]Series, error) {
	values, err := t.Measure(m)
	if err != nil {
		return nil, err
	}
	out := make([]Series, len(l.Groups))
	for g, s := range l.Groups {
		s.Y = make([]float64, len(s.Rows))
		for i, row := range s.Rows {
			s.Y[i] = values[row]
		}
		out[g] = s
	}
	return out, nil
}
