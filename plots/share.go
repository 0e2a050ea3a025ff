package plots

import (
	"slices"

	"gonum.org/v1/plot"
)

// rows puts panels into rows, over one x label.
func (f *figure) rows(panels []*panel, columns int) {
	columns = min(columns, len(panels))
	for len(panels) > 0 {
		row := make([]*panel, columns)
		panels = panels[copy(row, panels):]
		f.panels = append(f.panels, row)
	}
	if len(f.panels) > 1 {
		f.height = tallHeight
	}
	f.xLabel = f.panels[0][0].xLabel
	for _, row := range f.panels {
		for _, p := range row {
			if p != nil {
				p.xLabel = ""
			}
		}
	}
}

// shareY moves the y label of all panels beside the figure and leaves tick
// labels to the first panel of a row.
func (f *figure) shareY() {
	f.yLabel = f.panels[0][0].yLabel
	for _, row := range f.panels {
		for i, p := range row {
			if p == nil {
				continue
			}
			p.yLabel = ""
			if i > 0 {
				p.Y.Tick.Marker = unlabelled{p.Y.Tick.Marker}
			}
		}
	}
}

func columnsFor(n int) int {
	if n == 4 {
		return 2
	}
	return min(n, 3)
}

// arrange puts panels into rows that share their axes.
func (f *figure) arrange(panels []*panel, columns int) {
	f.rows(panels, columns)
	f.shareY()
}

// hideX leaves the x labels to the panel below.
func (p *panel) hideX() {
	p.xLabel = ""
	p.X.Tick.Marker = unlabelled{p.X.Tick.Marker}
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
