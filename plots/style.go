package plots

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of a figure, for a column and a half of a paper.
const (
	figureWidth  = 16 * vg.Centimeter
	figureHeight = 10 * vg.Centimeter
	tallHeight   = 13 * vg.Centimeter
	rowHeight    = 5.5 * vg.Centimeter // of a page of several rows
	pngDPI       = 200
)

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

var (
	ink      = rgb(0x1a1a1a)
	softInk  = rgb(0x555555)
	gridline = rgb(0xe3e3e3)

	bandColor = rgb(0xf6f0f0)
)

func textStyle(points float64, c color.Color, x text.XAlignment, y text.YAlignment) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(points)}
	return text.Style{Color: c, Font: f, XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler}
}

// boldWeight is WeightBold of golang.org/x/image/font, whose zero is regular.
const boldWeight = 3

func bold(s text.Style) text.Style {
	s.Font.Weight = boldWeight
	return s
}

var (
	titleText  = bold(textStyle(11, ink, text.XLeft, text.YTop))
	panelText  = textStyle(9, ink, text.XCenter, text.YTop)
	labelText  = textStyle(8.5, ink, text.XCenter, text.YBottom)
	tickText   = textStyle(7.5, ink, text.XCenter, text.YTop)
	legendText = textStyle(8, ink, text.XLeft, text.YCenter)
	noteText   = textStyle(7.5, ink, text.XLeft, text.YCenter)
	aboveText  = textStyle(6.5, ink, text.XCenter, text.YBottom)
	smallPrint = textStyle(5.5, softInk, text.XLeft, text.YBottom)
)

// look is how one series is drawn: colour, dashes and marker all differ.
type look struct {
	color  color.Color
	dashes []vg.Length
	glyph  draw.GlyphDrawer
	width  vg.Length // of the line
	radius vg.Length // of the marker

	pointsOnly bool // values that have no order are not joined
}

var dashPatterns = [][]vg.Length{
	nil,
	{vg.Points(5), vg.Points(2)},
	{vg.Points(1.5), vg.Points(1.5)},
	{vg.Points(6), vg.Points(2), vg.Points(1.5), vg.Points(2)},
}

// seriesColors are of Okabe and Ito, ordered so that neighbours differ in
// lightness.
var seriesColors = []color.RGBA{
	rgb(0x0072b2), rgb(0xe69f00), rgb(0x000000), rgb(0xcc79a7), rgb(0xd55e00), rgb(0x56b4e9), rgb(0x009e73), rgb(0x7f7f7f),
}

// seriesLook is the look of the i-th of n series. Many series run from dark to
// light, in order.
func seriesLook(i, n int) look {
	l := look{dashes: dashPatterns[i%len(dashPatterns)], glyph: marker{shapes[i%len(shapes)], i / len(shapes) % fillings}}.rank(i, n)
	if n <= len(seriesColors) {
		l.color = seriesColors[i]
		return l
	}
	l.color = ramp(float64(i) / float64(n-1))
	return l
}

// plainLine is a line without markers.
func plainLine(c color.Color) look { return look{color: c}.rank(0, 1) }

// rank makes each of n series thinner than those before it, over which it is
// drawn: where two coincide, the earlier shows on both sides of the later.
func (l look) rank(i, n int) look {
	const least, most, step = 1.1, 1.4, 0.7 // points
	over := vg.Length(0)
	if n > 1 {
		over = vg.Points(min(most, step*float64(n-1))) * vg.Length(n-1-i) / vg.Length(n-1)
	}
	l.width, l.radius = vg.Points(least)+over, vg.Points(2.1)+over
	return l
}

// ramp goes from dark blue through green to yellow, lightness rising evenly.
func ramp(at float64) color.RGBA {
	stops := []color.RGBA{rgb(0x30123b), rgb(0x31688e), rgb(0x35b779), rgb(0xe8d51f)}
	at *= float64(len(stops) - 1)
	i := min(int(at), len(stops)-2)
	f := at - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + (float64(b)-float64(a))*f + 0.5) }
	a, b := stops[i], stops[i+1]
	return color.RGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 255}
}

// causeColors groups causes by hue (requester blue-grey, wire blue, tables
// orange, paging red, bus green, retries purple) and tells them apart within a
// hue by lightness.
var causeColors = map[string]color.RGBA{
	"post": rgb(0x8d99a4), "send_queue": rgb(0xc3ccd4), "payload": rgb(0x5d6872),
	"network": rgb(0x0b4f8a), "rx_buffer": rgb(0x9ccdf0), "responder": rgb(0x4795d1),
	"qpc_miss": rgb(0x6b4a12), "receive_wqe": rgb(0xc9a86a), "translate": rgb(0xfbe3a4),
	"mpt_miss": rgb(0xb36b00), "mtt_miss": rgb(0xf0a320), "mshr": rgb(0xffd166),
	"fault": rgb(0xea6a4f), "dma_queue": rgb(0x9fdcc0), "pcie": rgb(0x00674a),
	"credit": rgb(0xc9f0dc), "tag": rgb(0x7fc8a4), "completion_buffer": rgb(0x5fa886), "replay": rgb(0x2e7d5b),
	"iio": rgb(0x1a5c43), "host_memory": rgb(0x3cb384), "rnr_wait": rgb(0x4b2a5c), "retransmit": rgb(0xcf9fd6),
	"completion": rgb(0xd9dde1), "other": rgb(0xf0f0f0),
	"ats": rgb(0xd98a00), "iommu": rgb(0x8a5a00), "rto_wait": rgb(0x2c1638), "grant": rgb(0x7d5a8f),
	"registration": rgb(0xb7414a),
	"send":         rgb(0xc3ccd4), "receive": rgb(0x4795d1), "mark": rgb(0xf0a320), "drain": rgb(0xea6a4f),
	"acknowledge": rgb(0x0b4f8a), "iotlb": rgb(0x8a5a00), "devtlb": rgb(0xfbe3a4), "finish": rgb(0x3cb384),
	"checks": rgb(0x8d99a4), "others": rgb(0x7d5a8f),
}

func causeColor(name string) color.RGBA {
	if c, ok := causeColors[name]; ok {
		return c
	}
	return rgb(0x999999)
}

// newPanel is an empty plot in the style of all figures.
func newPanel(x, y scale) *panel {
	p := plot.New()
	p.BackgroundColor = nil
	x.apply(&p.X)
	y.apply(&p.Y)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.Width, a.Color = vg.Points(0.6), softInk
		a.Tick.Width, a.Tick.Color, a.Tick.Length = vg.Points(0.6), softInk, vg.Points(4)
	}
	p.X.Tick.Label = tickText
	p.Y.Tick.Label = tickText
	p.Y.Label.TextStyle = tickText // its blank is the space after a tick label
	p.Y.Tick.Label.XAlign, p.Y.Tick.Label.YAlign = text.XRight, text.YCenter
	p.Add(grid{rowsOnly: x.names, columnsOnly: y.names})
	return &panel{Plot: p, xLabel: x.label, yLabel: y.label}
}
