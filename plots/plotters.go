package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// grid draws a faint line at every tick with a label.
type grid struct{ rowsOnly, columnsOnly bool }

func (g grid) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	line := draw.LineStyle{Color: gridline, Width: vg.Points(0.5)}
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if at := x(t.Value); !g.rowsOnly && t.Label != "" && c.ContainsX(at) {
			c.StrokeLine2(line, at, c.Min.Y, at, c.Max.Y)
		}
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if at := y(t.Value); !g.columnsOnly && t.Label != "" && c.ContainsY(at) {
			c.StrokeLine2(line, c.Min.X, at, c.Max.X, at)
		}
	}
}

// curve is a line with markers; it breaks where y is NaN, or not above 0 on a
// logarithmic axis.
type curve struct {
	x, y []float64
	look look
}

const (
	fewPoints     = 20 // a line of more has markers only every
	markerSpacing = 12 // points of the page
)

func (l curve) Plot(c draw.Canvas, p *plot.Plot) {
	style := l.look.line()
	for _, run := range l.runs(c, p) {
		if len(run) > 1 && !l.look.pointsOnly {
			if style.Dashes != nil { // what lies under the gaps is seen on both sides only
				c.StrokeLines(draw.LineStyle{Color: color.White, Width: style.Width}, run)
			}
			c.StrokeLines(style, run)
		}
		if l.look.glyph == nil {
			continue
		}
		last := vg.Length(math.Inf(-1))
		for _, at := range run {
			if len(l.x) <= fewPoints || at.X-last >= vg.Points(markerSpacing) {
				c.DrawGlyphNoClip(l.look.marker(), at)
				last = at.X
			}
		}
	}
}

// runs are the stretches of points that have a place on the axes.
func (l curve) runs(c draw.Canvas, p *plot.Plot) [][]vg.Point {
	x, y := p.Transforms(&c)
	_, logY := p.Y.Scale.(plot.LogScale)
	var runs [][]vg.Point
	broken := true
	for i := range l.x {
		if math.IsNaN(l.y[i]) || logY && l.y[i] <= 0 {
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
	return runs
}

// note is a line of text in the middle of an empty panel.
type note string

func (n note) Plot(c draw.Canvas, _ *plot.Plot) {
	sty := noteText
	sty.XAlign, sty.Color = draw.XCenter, softInk
	c.FillText(sty, c.Center(), string(n))
}

func (l look) marker() draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.color, Radius: l.radius, Shape: l.glyph}
}

func (l look) line() draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: l.width, Dashes: l.dashes}
}

// cross marks a point without a value over the x axis.
type cross struct {
	x    float64
	over vg.Length
	mark draw.GlyphStyle
}

func (m cross) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	c.DrawGlyphNoClip(m.mark, vg.Point{X: x(m.x), Y: c.Min.Y + m.over})
}

// verticals are thin lines across the panel, ascending, each with a label above
// it; lines at one place share a label.
type verticals struct {
	x      []float64
	labels []string
}

func (v verticals) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	dotted := draw.LineStyle{Color: softInk, Width: vg.Points(0.7), Dashes: dashPatterns[2]}
	var rows labelRows
	for i := 0; i < len(v.x); {
		at, label := x(v.x[i]), v.labels[i]
		c.StrokeLine2(dotted, at, c.Min.Y, at, c.Max.Y)
		for i++; i < len(v.x) && x(v.x[i])-at < vg.Points(1); i++ {
			label += ", " + v.labels[i]
		}
		rows.place(c, at, label)
	}
}

// labelRows are where labels above a panel end so far, from the lowest row up.
type labelRows [2]vg.Length

// place writes a label in the lowest row with room; without room in any row the
// label is left out.
func (r *labelRows) place(c draw.Canvas, at vg.Length, label string) {
	sty := tickText
	sty.YAlign, sty.Color = draw.YBottom, softInk
	half := sty.Width(label) / 2
	for k := range r {
		if r[k] == 0 || at-half > r[k]+vg.Points(3) {
			c.FillText(sty, vg.Point{X: at, Y: c.Max.Y + vg.Points(2+8*float64(k))}, label)
			r[k] = at + half
			return
		}
	}
}
