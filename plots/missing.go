package plots

import (
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
	{statusRefused, "refused: cannot pin", draw.GlyphStyle{Color: rgb(0xb00020), Radius: vg.Points(3), Shape: heavyCross{}}},
	{statusFailed, "failed", draw.GlyphStyle{Color: ink, Radius: vg.Points(3), Shape: draw.PlusGlyph{}}},
}

// addCrosses marks the groups' points without a result on the x axis.
func (s *sweepFigure) addCrosses(p *plot.Plot, groups ...Series) {
	for _, kind := range missing {
		if at := missingAt(kind.status, groups); len(at) > 0 {
			p.Add(crosses{at, kind.mark})
		}
	}
}

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

// heavyCross is a cross that stands out from markers.
type heavyCross struct{}

func (heavyCross) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	line := draw.LineStyle{Color: sty.Color, Width: vg.Points(1.3)}
	r := sty.Radius
	c.StrokeLine2(line, at.X-r, at.Y-r, at.X+r, at.Y+r)
	c.StrokeLine2(line, at.X-r, at.Y+r, at.X+r, at.Y-r)
}
