package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// grid draws a faint line at every tick with a label.
type grid struct{}

func (grid) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	line := draw.LineStyle{Color: gridline, Width: vg.Points(0.5)}
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if at := x(t.Value); t.Label != "" && c.ContainsX(at) {
			c.StrokeLine2(line, at, c.Min.Y, at, c.Max.Y)
		}
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if at := y(t.Value); t.Label != "" && c.ContainsY(at) {
			c.StrokeLine2(line, c.Min.X, at, c.Max.X, at)
		}
	}
}

// curve is a line with markers; it breaks where y is NaN, or not above 0 on a
// logarithmic axis.
type curve struct {
	x, y    []float64
	look    look
	markers bool
	width   vg.Length
}

const mostMarkers = 40 // points of a line that still get markers

func newCurve(x, y []float64, l look) curve {
	return curve{x: x, y: y, look: l, markers: len(x) <= mostMarkers, width: vg.Points(1.4)}
}

func (l curve) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	_, logY := p.Y.Scale.(plot.LogScale)
	_, logX := p.X.Scale.(plot.LogScale)
	var runs [][]vg.Point
	broken := true
	for i := range l.x {
		if math.IsNaN(l.y[i]) || logY && l.y[i] <= 0 || logX && l.x[i] <= 0 {
			broken = true
			continue
		}
		if broken {
			runs = append(runs, nil)
			broken = false
		}
		last := len(runs) - 1
		runs[last] = append(runs[last], vg.Point{X: x(l.x[i]), Y: y(l.y[i])})
	}
	style := draw.LineStyle{Color: l.look.color, Width: l.width, Dashes: l.look.dashes}
	for _, run := range runs {
		if len(run) > 1 {
			c.StrokeLines(style, run)
		}
		for _, at := range run {
			if l.markers || len(run) == 1 {
				c.DrawGlyphNoClip(l.look.marker(), at)
			}
		}
	}
}

func (l look) marker() draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.color, Radius: vg.Points(2.4), Shape: l.glyph}
}

// crosses mark points without a value on the x axis.
type crosses struct {
	x    []float64
	mark draw.GlyphStyle
}

func (m crosses) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for _, at := range m.x {
		c.DrawGlyphNoClip(m.mark, vg.Point{X: x(at), Y: c.Min.Y + vg.Points(5)})
	}
}

// stack is a row of vertical bars in layers from the bottom up.
type stack struct {
	x      []float64
	width  float64 // of a bar, in x
	layers [][]float64
	colors []color.Color
	above  []string // told above a bar
}

func (s stack) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	edge := draw.LineStyle{Color: color.White, Width: vg.Points(0.5)}
	for i, at := range s.x {
		left, right := x(at-s.width/2), x(at+s.width/2)
		base := 0.0
		for k, layer := range s.layers {
			if math.IsNaN(layer[i]) || layer[i] <= 0 {
				continue
			}
			box := rectangle(left, right, y(base), y(base+layer[i]))
			base += layer[i]
			c.FillPolygon(s.colors[k], box)
			if len(s.x) <= 100 {
				c.StrokeLines(edge, append(box, box[0]))
			}
		}
		if s.above != nil && s.above[i] != "" {
			sty := tickText
			sty.YAlign = draw.YBottom
			c.FillText(sty, vg.Point{X: x(at), Y: y(base) + vg.Points(2)}, s.above[i])
		}
	}
}

func rectangle(left, right, bottom, top vg.Length) []vg.Point {
	return []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}}
}

// stairs is one stacked bar drawn as a staircase: a row a part, each starting
// where the part above it ends, so that every part has room for its label.
type stairs struct {
	values []float64
	colors []color.Color
	labels []string
}

func (s stairs) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	from := 0.0
	for i, v := range s.values {
		row := float64(len(s.values) - 1 - i)
		left, right := x(from), max(x(from+v), x(from)+vg.Points(0.8))
		c.FillPolygon(s.colors[i], rectangle(left, right, y(row-0.36), y(row+0.36)))
		from += v
		if i+1 < len(s.values) {
			c.StrokeLine2(draw.LineStyle{Color: softInk, Width: vg.Points(0.4)}, x(from), y(row-0.36), x(from), y(row-0.64))
		}
		sty, at := noteText, vg.Point{X: right + vg.Points(4), Y: y(row)}
		if at.X+sty.Width(s.labels[i]) > c.Max.X {
			sty.XAlign, at.X = draw.XRight, left-vg.Points(4)
		}
		c.FillText(sty, at, s.labels[i])
	}
}

// verticals are thin lines across the panel, each with a label at its top.
type verticals struct {
	x      []float64
	labels []string
}

func (v verticals) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	sty := tickText
	sty.YAlign, sty.Color = draw.YBottom, softInk
	free := c.Min.X - vg.Points(1000)
	for i, value := range v.x {
		at := x(value)
		if !c.ContainsX(at) {
			continue
		}
		c.StrokeLine2(draw.LineStyle{Color: softInk, Width: vg.Points(0.7), Dashes: dashPatterns[2]}, at, c.Min.Y, at, c.Max.Y)
		half := sty.Width(v.labels[i]) / 2
		if at-half > free {
			c.FillText(sty, vg.Point{X: at, Y: c.Max.Y + vg.Points(2)}, v.labels[i])
			free = at + half + vg.Points(3)
		}
	}
}
