package plots

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Overlay is a figure of points with lines over them, as measurements under a
// model or simulations under a closed form. Numbers are in the units of the labels.
type Overlay struct {
	Name, Title string
	X, Y        string // labels
	LogX, LogY  bool
	Panels      []OverlayPanel // side by side, with the same axes and the same series
	Footer      string
}

// OverlayPanel is one plot of an overlay.
type OverlayPanel struct {
	Title  string
	Series []OverlaySeries
}

// OverlaySeries is points and, where Line is not nil, a line with the same X.
// Series of one name look alike in all panels.
type OverlaySeries struct {
	Name            string
	X, Points, Line []float64
}

// DrawOverlays draws figures into dir/figures/NAME.FORMAT and returns the files
// in order; formats are those of Formats. Files are replaced one by one.
func DrawOverlays(dir string, formats []string, overlays []Overlay) (files []string, err error) {
	figures := make([]*figure, len(overlays))
	for i := range overlays {
		figures[i] = overlays[i].figure()
	}
	return writeFigures(dir, formats, figures)
}

func (o *Overlay) figure() *figure {
	f := &figure{name: o.Name, title: o.Title, height: figureHeight, footer: o.Footer, xLabel: o.X}
	x, y := o.scales()
	looks := map[string]look{}
	var names []string
	for _, p := range o.Panels {
		for _, s := range p.Series {
			if _, known := looks[s.Name]; !known {
				looks[s.Name] = look{}
				names = append(names, s.Name)
			}
		}
	}
	for i, name := range names {
		l := seriesLook(i, len(names))
		l.dashes, l.width = nil, vg.Points(0.9)
		looks[name] = l
		f.legend = append(f.legend, entry{name: name, look: l})
	}
	row := make([]*panel, len(o.Panels))
	for i, p := range o.Panels {
		row[i] = newPanel(x, y)
		row[i].title, row[i].xLabel = p.Title, ""
		if i > 0 {
			row[i].yLabel = ""
		}
		for _, s := range p.Series {
			line := looks[s.Name]
			line.glyph = nil
			row[i].Add(dots{curve{s.X, s.Points, looks[s.Name]}})
			if s.Line != nil {
				row[i].Add(curve{s.X, s.Line, line})
			}
		}
	}
	f.panels = [][]*panel{row}
	return f
}

// dots are the markers of a curve, every one.
type dots struct{ curve }

func (d dots) Plot(c draw.Canvas, p *plot.Plot) {
	mark := d.look.marker()
	mark.Radius = vg.Points(1.9)
	for _, run := range d.runs(c, p) {
		for _, at := range run {
			c.DrawGlyphNoClip(mark, at)
		}
	}
}

// scales are the axes of all panels.
func (o *Overlay) scales() (x, y scale) {
	var xs, ys [][]float64
	for _, p := range o.Panels {
		for _, s := range p.Series {
			xs, ys = append(xs, s.X), append(ys, s.Points, s.Line)
		}
	}
	return overlayScale(o.X, o.LogX, xs), overlayScale(o.Y, o.LogY, ys)
}

// overlayScale is an axis from zero, or of whole powers of two or ten.
func overlayScale(label string, log bool, values [][]float64) scale {
	if !log {
		return linearScale(nil, label, values...)
	}
	s := valueScale(nil, label, values...)
	if lo, hi, ok := spanOf(values...); ok && lo > 0 && powerOfTwo(lo) && powerOfTwo(hi) && lo < hi {
		s = scale{log: true, unit: unit{base: 1}, label: label, min: lo / 1.15, max: hi * 1.15}
		for v := lo; v <= hi; v *= 4 {
			s.ticks = append(s.ticks, plot.Tick{Value: v, Label: plain(v)})
		}
	}
	return s
}
