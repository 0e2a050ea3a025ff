package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
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
	style  text.Style
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
			at := vg.Point{X: x(s.x[i]), Y: y(base[i]) + vg.Points(2)}
			if s.style.Rotation != 0 {
				at.X -= s.style.FontExtents().Descent // as centred does across
			}
			c.FillText(s.style, at, label)
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

// barStyle is how all bars of a figure are drawn.
type barStyle struct {
	b      Breakdown
	y      scale
	values [][]float64
	above  text.Style // of the total over a bar
	told   bool       // it is told
}

// bars are stacks of means, or of shares where the totals differ much, for bars
// that stand pitch apart, with room above for the totals.
func (b Breakdown) bars(label string, pitch vg.Length) barStyle {
	s := barStyle{b: b, values: b.Mean, y: linearScale(timeUnits, label, b.Total), above: aboveText}
	_, top, _ := spanOf(b.Total)
	top /= s.y.unit.base
	if spansMore(b.Total, widestStack) {
		s.values, s.y, top = b.shares(), shareTo100("share of "+label+" (%)\nand, over a bar, the "+label), 100
	}
	widest := vg.Length(0)
	for _, t := range b.Total {
		if !math.IsNaN(t) {
			widest = max(widest, aboveText.Width(formatTime(t)))
		}
	}
	room := 0.1
	if widest+vg.Points(2) > pitch {
		s.above.Rotation, s.above.XAlign, s.above.YAlign = math.Pi/2, text.XLeft, text.YCenter
		room = 0.35
	}
	if s.told = pitch >= aboveText.Font.Size; s.told {
		s.y.max = max(s.y.max, top*(1+room))
	}
	return s
}

// of are the bars of a group.
func (s barStyle) of(g Series) stack {
	bar := stack{x: g.X, width: 0.78, style: s.above}
	if s.told {
		for _, row := range g.Rows {
			label := ""
			if t := s.b.Total[row]; !math.IsNaN(t) {
				label = formatTime(t)
			}
			bar.above = append(bar.above, label)
		}
	}
	for c, name := range s.b.Causes {
		layer := make([]float64, len(g.Rows))
		for i, row := range g.Rows {
			layer[i] = s.values[c][row] / s.y.unit.base
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
