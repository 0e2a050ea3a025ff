package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// stack is a row of vertical bars in layers from the bottom up.
type stack struct {
	x      []float64
	width  float64 // of a bar, in x
	layers [][]float64
	colors []color.Color
	above  []string // told above a bar
}

const mostBars = 100 // more stand as steps without edges

func (s stack) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	edge := draw.LineStyle{Color: color.White, Width: vg.Points(0.5)}
	base := make([]float64, len(s.x))
	for k, layer := range s.layers {
		var run []int // neighbours without a gap
		for i, at := range s.x {
			if math.IsNaN(layer[i]) {
				continue
			}
			if len(s.x) <= mostBars {
				box := rectangle(x(at-s.width/2), x(at+s.width/2), y(base[i]), y(base[i]+layer[i]))
				c.FillPolygon(s.colors[k], box)
				if box[2].Y-box[0].Y > 4*edge.Width { // else the edge would hide it
					c.StrokeLines(edge, append(box, box[0]))
				}
				continue
			}
			if len(run) > 0 && at-s.x[run[len(run)-1]] > 1.5 {
				c.FillPolygon(s.colors[k], s.steps(run, base, layer, x, y))
				run = nil
			}
			run = append(run, i)
		}
		if len(run) > 0 {
			c.FillPolygon(s.colors[k], s.steps(run, base, layer, x, y))
		}
		for i := range base {
			base[i] += layer[i]
		}
	}
	for i, label := range s.above {
		if label != "" {
			c.FillText(aboveText, vg.Point{X: x(s.x[i]), Y: y(base[i]) + vg.Points(2)}, label)
		}
	}
}

// steps is the outline of one layer over neighbouring bars.
func (s stack) steps(run []int, base, layer []float64, x, y func(float64) vg.Length) []vg.Point {
	var outline []vg.Point
	add := func(at, height float64) {
		outline = append(outline, vg.Point{X: x(at), Y: y(height)})
	}
	for _, i := range run {
		add(s.x[i]-0.5, base[i]+layer[i])
		add(s.x[i]+0.5, base[i]+layer[i])
	}
	for k := len(run) - 1; k >= 0; k-- {
		i := run[k]
		add(s.x[i]+0.5, base[i])
		add(s.x[i]-0.5, base[i])
	}
	return outline
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
		box := rectangle(left, right, y(row-0.36), y(row+0.36))
		c.FillPolygon(s.colors[i], box)
		c.StrokeLines(draw.LineStyle{Color: softInk, Width: vg.Points(0.4)}, append(box, box[0]))
		from += v
		if i+1 < len(s.values) {
			c.StrokeLine2(draw.LineStyle{Color: softInk, Width: vg.Points(0.4)}, x(from), y(row-0.36), x(from), y(row-0.64))
		}
		sty, at := noteText, vg.Point{X: right + vg.Points(4), Y: y(row)}
		if at.X+sty.Width(s.labels[i]) > c.Max.X {
			sty.XAlign, at.X = draw.XRight, left-vg.Points(4)
		}
		c.FillText(sty, centred(sty, at), s.labels[i])
	}
}
