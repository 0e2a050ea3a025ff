package plots

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// missing are the kinds of points that have no result, with their marks.
var missing = []struct {
	status string
	name   string
	mark   draw.GlyphStyle
}{
	{statusRefused, "refused: cannot pin", draw.GlyphStyle{Color: ink, Radius: vg.Points(2.7), Shape: heavyCross{}}},
	{statusFailed, "failed", draw.GlyphStyle{Color: ink, Radius: vg.Points(2.7), Shape: heavyPlus{}}},
}

// addCrosses marks the groups' points without a result over the x axis, in the
// colour of each group and a row a colour, and returns the height that they take.
func addCrosses(p *plot.Plot, groups []Series, colorOf func(group int) color.Color) vg.Length {
	var rows []color.Color
	for g := range groups {
		for _, kind := range missing {
			if len(missingAt(kind.status, groups[g:g+1])) > 0 && !slices.Contains(rows, colorOf(g)) {
				rows = append(rows, colorOf(g))
			}
		}
	}
	height := bandHeight + crossRow*vg.Length(max(0, len(rows)-2))
	for g := range groups {
		row := slices.Index(rows, colorOf(g))
		for _, kind := range missing {
			for _, x := range missingAt(kind.status, groups[g:g+1]) {
				mark := kind.mark
				mark.Color = colorOf(g)
				p.Add(cross{x, height/2 + crossRow*(vg.Length(len(rows)-1)/2-vg.Length(row)), mark})
			}
		}
	}
	return height
}

func inInk(int) color.Color { return ink }

func missingAt(status string, groups []Series) []float64 {
	var at []float64
	for _, g := range groups {
		for i := range g.X {
			if g.Status[i] == status {
				at = append(at, g.X[i])
			}
		}
	}
	return at
}

func (s *sweepFigure) crossLegend(f *figure) {
	for _, kind := range missing {
		if len(missingAt(kind.status, s.layout.Groups)) > 0 {
			mark := kind.mark
			f.legend = append(f.legend, entry{name: kind.name, mark: &mark})
		}
	}
}

// Heights of the band between the data and the x axis, for one or two rows of
// marks, and of each further row.
const (
	bandHeight = vg.Length(14)
	crossRow   = vg.Length(6)
)

// newPanel is an empty panel for the groups. Their points without a result stand
// in a band under the data, so that they lie on no one's; where the sweep has
// such points every panel has the band, and panels keep one scale.
func (s *sweepFigure) newPanel(x, y scale, groups []Series, colorOf func(group int) color.Color) *panel {
	p := newPanel(x, y)
	label := s.bandLabel()
	if label == "" {
		return p
	}
	p.band = &band{floor: y.min, top: y.max, log: y.log, label: label}
	p.Y.Tick.Marker = bandTicks{p.Y.Tick.Marker, p.band}
	p.Add(p.band)
	p.band.height = addCrosses(p.Plot, groups, colorOf)
	return p
}

func (s *sweepFigure) bandLabel() string {
	label := ""
	for _, kind := range missing {
		switch {
		case len(missingAt(kind.status, s.layout.Groups)) == 0:
		case label == "":
			label = kind.status
		default:
			label = "no result"
		}
	}
	return label
}

// band is the strip under the data of a panel.
type band struct {
	floor, top float64 // of the data's axis
	log        bool
	label      string
	height     vg.Length
}

// bottom is where the y axis starts, in a panel of the height, for the band to
// be bandHeight high.
func (b *band) bottom(height vg.Length) float64 {
	below := min(float64(bandHeight/(height-bandHeight)), 1) // of the data's height
	if height <= bandHeight {
		below = 1
	}
	if b.log {
		return b.floor * math.Pow(b.floor/b.top, below)
	}
	return b.floor - (b.top-b.floor)*below
}

func (b *band) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	top := y(b.floor)
	c.FillPolygon(bandColor, rectangle(c.Min.X, c.Max.X, c.Min.Y, top))
	c.StrokeLine2(draw.LineStyle{Color: softInk, Width: vg.Points(0.4)}, c.Min.X, top, c.Max.X, top)
}

// bandTicks adds the label of the band to the ticks of the data.
type bandTicks struct {
	plot.Ticker
	band *band
}

func (t bandTicks) Ticks(lo, hi float64) []plot.Tick {
	middle := (lo + t.band.floor) / 2
	if t.band.log {
		middle = math.Sqrt(lo * t.band.floor)
	}
	return append(slices.Clone(t.Ticker.Ticks(lo, hi)), plot.Tick{Value: middle, Label: t.band.label})
}

// heavyCross and heavyPlus stand out from markers and from lines.
type (
	heavyCross struct{}
	heavyPlus  struct{}
)

func (heavyPlus) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	line := draw.LineStyle{Color: sty.Color, Width: vg.Points(1.3)}
	r := sty.Radius * 1.4
	c.StrokeLine2(line, at.X-r, at.Y, at.X+r, at.Y)
	c.StrokeLine2(line, at.X, at.Y-r, at.X, at.Y+r)
}

func (heavyCross) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	line := draw.LineStyle{Color: sty.Color, Width: vg.Points(1.3)}
	r := sty.Radius
	c.StrokeLine2(line, at.X-r, at.Y-r, at.X+r, at.Y+r)
	c.StrokeLine2(line, at.X-r, at.Y+r, at.X+r, at.Y-r)
}
