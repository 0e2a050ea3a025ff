package plots

import (
	"image/color"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// figure is a page: title, legend, a grid of panels, small print.
type figure struct {
	name   string
	title  string
	height vg.Length
	legend []entry
	aside  bool // legend in a column at the right, first entry at the bottom
	panels [][]*panel
	xLabel string // shared by all panels
	yLabel string // shared by all panels
	footer string
}

// entry is one line of a legend: a line with its marker, a marker, or a box.
type entry struct {
	name string
	look look
	mark *draw.GlyphStyle
	fill color.Color
}

const (
	margin     = 9 // points around the page
	sampleSize = 20
)

func (f *figure) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, vg.Points(margin), -vg.Points(margin+2), vg.Points(margin-3), -vg.Points(margin))
	c.FillText(titleText, vg.Point{X: c.Min.X, Y: c.Max.Y}, fitted(titleText, f.title, c.Max.X-c.Min.X))
	c.Max.Y -= vg.Points(19)
	c.FillText(smallPrint, c.Min, fitted(smallPrint, f.footer, c.Max.X-c.Min.X))
	c.Min.Y += vg.Points(11)
	switch {
	case f.aside:
		c = f.legendColumn(c)
	case f.spare() == 0:
		c = f.legendRows(c)
	}
	if f.xLabel != "" {
		c.FillText(labelText, vg.Point{X: c.Center().X, Y: c.Min.Y + vg.Points(1)}, f.xLabel)
		c.Min.Y += vg.Points(labelSize - 1)
	}
	if f.yLabel != "" {
		drawYLabel(c, c.Min.X, f.yLabel)
		c.Min.X += labelHeight(f.yLabel)
	}
	f.drawPanels(c)
}

// fitted cuts a text that is wider than the page.
func fitted(sty text.Style, s string, width vg.Length) string {
	runes := []rune(s)
	for cut := len(runes); ; cut-- {
		if s = string(runes[:cut]); cut < len(runes) {
			s += "…"
		}
		if cut == 0 || sty.Width(s) <= width {
			return s
		}
	}
}

// spare is the number of cells that the last row of panels leaves for the legend.
func (f *figure) spare() int {
	n := 0
	for _, p := range f.panels[len(f.panels)-1] {
		if p == nil {
			n++
		}
	}
	return n
}

const legendRow = 12 // points

// legendRows draws the legend under the title, in as many rows as it needs, and
// returns what is left.
func (f *figure) legendRows(c draw.Canvas) draw.Canvas {
	if len(f.legend) > 0 {
		c.Max.Y = flow(f.legend, c) - vg.Points(6)
	}
	return c
}

// flow draws entries from the top left on and returns where they end.
func flow(legend []entry, c draw.Canvas) vg.Length {
	x, y := c.Min.X, c.Max.Y-vg.Points(legendRow)/2
	for _, e := range legend {
		width := vg.Points(sampleSize+5) + legendText.Width(e.name)
		if x > c.Min.X && x+width > c.Max.X {
			x, y = c.Min.X, y-vg.Points(legendRow)
		}
		e.draw(c, vg.Point{X: x, Y: y})
		x += width + vg.Points(14)
	}
	return y - vg.Points(legendRow)/2
}

// legendColumn draws the legend at the right, in the order of a stack.
func (f *figure) legendColumn(c draw.Canvas) draw.Canvas {
	const step = 12.5
	widest := vg.Length(0)
	for _, e := range f.legend {
		widest = max(widest, legendText.Width(e.name))
	}
	right := c
	c.Max.X -= widest + vg.Points(sampleSize+5+8)
	at := vg.Point{X: c.Max.X + vg.Points(8), Y: right.Max.Y - vg.Points(step/2+6)}
	for i := len(f.legend) - 1; i >= 0; i-- {
		f.legend[i].draw(right, at)
		at.Y -= vg.Points(step)
	}
	return c
}

// draw draws the sample with its left end at the point, and the name.
func (e entry) draw(c draw.Canvas, at vg.Point) {
	mid := vg.Point{X: at.X + vg.Points(sampleSize)/2, Y: at.Y}
	switch {
	case e.fill != nil:
		r := vg.Points(4)
		box := rectangle(mid.X-r, mid.X+r, mid.Y-r, mid.Y+r)
		c.FillPolygon(e.fill, box)
		c.StrokeLines(draw.LineStyle{Color: softInk, Width: vg.Points(0.4)}, append(box, box[0]))
	case e.mark != nil:
		c.DrawGlyphNoClip(*e.mark, mid)
	default:
		if !e.look.pointsOnly {
			c.StrokeLine2(e.look.line(), at.X, at.Y, at.X+vg.Points(sampleSize), at.Y)
		}
		if e.look.glyph != nil {
			c.DrawGlyphNoClip(e.look.marker(), mid)
		}
	}
	at.X += vg.Points(sampleSize + 5)
	c.FillText(legendText, centred(legendText, at), e.name)
}

// centred moves a point so that a text with YCenter stands level with it:
// gonum/plot centres the box above the baseline.
func centred(sty text.Style, at vg.Point) vg.Point {
	at.Y += sty.FontExtents().Descent
	return at
}
