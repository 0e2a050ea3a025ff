package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shape is a regular polygon with its first corner at an angle, and its size in
// radii of a circle of about the same area.
type shape struct {
	corners int
	angle   float64
	size    float64
}

var shapes = []shape{
	{24, 0, 1}, {4, math.Pi / 4, 1.25}, {3, math.Pi / 2, 1.5}, {4, 0, 1.3}, {3, -math.Pi / 2, 1.5}, {6, 0, 1.1},
}

// marker is a shape that is filled, hollow, hollow with a dot, or hollow with a
// bar across.
type marker struct {
	shape
	filling int
}

const fillings = 4

func (m marker) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	if m.filling == 0 {
		c.FillPolygon(sty.Color, m.outline(at, sty.Radius))
		return
	}
	line := draw.LineStyle{Color: sty.Color, Width: vg.Points(0.9)}
	outline := m.outline(at, sty.Radius-line.Width/2)
	c.FillPolygon(color.White, outline)
	c.StrokeLines(line, append(outline, outline[0]))
	switch m.filling {
	case 2:
		c.FillPolygon(sty.Color, m.outline(at, sty.Radius*0.45))
	case 3:
		c.StrokeLine2(line, at.X-sty.Radius, at.Y, at.X+sty.Radius, at.Y)
	}
}

func (m marker) outline(at vg.Point, radius vg.Length) []vg.Point {
	corners := make([]vg.Point, m.corners)
	for i := range corners {
		sin, cos := math.Sincos(m.angle + 2*math.Pi*float64(i)/float64(m.corners))
		corners[i] = vg.Point{X: at.X + radius*vg.Length(m.size*cos), Y: at.Y + radius*vg.Length(m.size*sin)}
	}
	return corners
}
