package plots

import (
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panel is one plot with what stands around it.
type panel struct {
	*plot.Plot
	title  string
	legend []entry // above the panel
	xLabel string
	yLabel string
	band   *band // for points without a result; nil without such points
}

const (
	strip     = 15 // points above a panel for its title, legend or marks
	labelSize = 14 // points for an axis label
	gap       = 9  // points between panels
)

// edges are the distances from a canvas to the data area in it.
type edges struct{ left, right, bottom, top vg.Length }

// makeBand moves the start of the y axis for the band, in a panel of the height.
func (p *panel) makeBand(height vg.Length) {
	if p.band != nil {
		p.Y.Min = p.band.bottom(height)
	}
}

func edgesOf(p *plot.Plot, c draw.Canvas) edges {
	d := p.DataCanvas(c)
	return edges{d.Min.X - c.Min.X, c.Max.X - d.Max.X, d.Min.Y - c.Min.Y, c.Max.Y - d.Max.Y}
}

// spaced is the room around the data areas of columns and rows.
type spaced struct{ left, right, bottom, top []vg.Length }

// drawPanels draws the panels with data areas of one size, aligned in columns
// and rows.
func (f *figure) drawPanels(c draw.Canvas) {
	rows, columns := len(f.panels), len(f.panels[0])
	cell := draw.Crop(c, 0, -(c.Max.X-c.Min.X)*vg.Length(columns-1)/vg.Length(columns),
		(c.Max.Y-c.Min.Y)*vg.Length(rows-1)/vg.Length(rows), 0)
	room := f.room(cell)
	width := (c.Max.X - c.Min.X - total(room.left) - total(room.right) - vg.Points(gap)*vg.Length(columns-1)) / vg.Length(columns)
	height := (c.Max.Y - c.Min.Y - total(room.bottom) - total(room.top) - vg.Points(gap)*vg.Length(rows-1)) / vg.Length(rows)
	top := c.Max.Y
	for j, row := range f.panels {
		top -= room.top[j]
		left := c.Min.X
		for i, p := range row {
			left += room.left[i]
			if p != nil {
				data := c
				data.Min, data.Max = vg.Point{X: left, Y: top - height}, vg.Point{X: left + width, Y: top}
				p.drawAround(data, vg.Point{X: left - room.left[i], Y: data.Min.Y - room.bottom[j]})
			} else if !f.aside && row[i-1] != nil {
				f.legendCells(c, vg.Point{X: left, Y: top})
			}
			left += width + room.right[i] + vg.Points(gap)
		}
		top -= height + room.bottom[j] + vg.Points(gap)
	}
}

// legendCells draws the legend in the cells of the last row that no panel needs,
// from the top left on.
func (f *figure) legendCells(c draw.Canvas, at vg.Point) {
	widest := vg.Length(0)
	for _, e := range f.legend {
		widest = max(widest, legendText.Width(e.name))
	}
	const row = vg.Length(legendRow + 1)
	at.Y -= row / 2
	n := len(f.legend)
	columns := n/max(1, int((at.Y-c.Min.Y)/row)) + 1
	rows := (n + columns - 1) / columns
	for i, e := range f.legend {
		x := at.X + (widest+vg.Points(sampleSize+5+14))*vg.Length(i/rows)
		e.draw(c, vg.Point{X: x, Y: at.Y - row*vg.Length(i%rows)})
	}
}

func total(lengths []vg.Length) vg.Length {
	var sum vg.Length
	for _, l := range lengths {
		sum += l
	}
	return sum
}

// room is the widest space that any panel of a column or row needs.
func (f *figure) room(cell draw.Canvas) spaced {
	rows, columns := len(f.panels), len(f.panels[0])
	s := spaced{make([]vg.Length, columns), make([]vg.Length, columns), make([]vg.Length, rows), make([]vg.Length, rows)}
	for j, row := range f.panels {
		for i, p := range row {
			if p == nil {
				continue
			}
			p.makeBand(cell.Max.Y - cell.Min.Y)
			e := edgesOf(p.Plot, cell)
			if p.yLabel != "" {
				e.left += labelHeight(p.yLabel)
			}
			if p.xLabel != "" {
				e.bottom += vg.Points(labelSize)
			}
			if p.title != "" || p.legend != nil {
				e.top = max(e.top, vg.Points(strip))
			}
			s.left[i], s.right[i] = max(s.left[i], e.left), max(s.right[i], e.right)
			s.bottom[j], s.top[j] = max(s.bottom[j], e.bottom), max(s.top[j], e.top)
		}
	}
	return s
}

// drawAround draws the panel so that its data area is data, and its axis labels
// at the corner. Labels are not left to gonum/plot, which makes room for them in
// the wrong place on a logarithmic axis.
func (p *panel) drawAround(data draw.Canvas, corner vg.Point) {
	p.makeBand(data.Max.Y - data.Min.Y)
	c := data
	for range 4 { // the edges depend a little on the size
		e := edgesOf(p.Plot, c)
		c.Min = vg.Point{X: data.Min.X - e.left, Y: data.Min.Y - e.bottom}
		c.Max = vg.Point{X: data.Max.X + e.right, Y: data.Max.Y + e.top}
	}
	p.Draw(c)
	drawYLabel(data, corner.X, p.yLabel)
	data.FillText(labelText, vg.Point{X: data.Center().X, Y: corner.Y + vg.Points(2)}, p.xLabel)
	above := vg.Point{X: data.Center().X, Y: data.Max.Y + vg.Points(3)}
	sty := panelText
	sty.YAlign = draw.YBottom
	if p.title != "" {
		data.FillText(sty, above, fitted(sty, p.title, data.Max.X-data.Min.X+vg.Points(gap)))
	}
	if p.legend != nil {
		area := data
		area.Max.Y += vg.Points(strip)
		flow(p.legend, area)
	}
}

// labelHeight is room for a label of one line or several.
func labelHeight(label string) vg.Length {
	return vg.Points(labelSize) + labelText.Font.Size*1.2*vg.Length(strings.Count(label, "\n"))
}

// drawYLabel draws a label that reads upwards, centred beside c.
func drawYLabel(c draw.Canvas, x vg.Length, label string) {
	sty := labelText
	sty.Rotation, sty.YAlign = math.Pi/2, draw.YTop
	for i, line := range strings.Split(label, "\n") {
		c.FillText(sty, vg.Point{X: x + sty.Font.Size*1.2*vg.Length(i), Y: c.Center().Y}, line)
	}
}
