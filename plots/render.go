package plots

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Formats are the formats that Draw knows, by extension.
func Formats() []string { return []string{"png", "svg", "pdf"} }

// steadyPDF makes documents free of date and map order.
var steadyPDF = sync.OnceFunc(func() {
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultCatalogSort(true)
})

type canvas interface {
	vg.CanvasSizer
	io.WriterTo
}

func newCanvas(format string, w, h vg.Length) canvas {
	switch format {
	case "svg":
		return vgsvg.New(w, h)
	case "pdf":
		steadyPDF()
		return latinCanvas{vgpdf.New(w, h)}
	}
	return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(pngDPI))}
}

// latinCanvas mends what the PDF canvas of gonum/plot 0.17 leaves out: it encodes
// text as the canvas declares it (Windows code page 1252, one byte a character),
// and strikes bold text twice in the regular face, because the canvas embeds the
// file of one face for all.
type latinCanvas struct{ *vgpdf.Canvas }

func (c latinCanvas) FillString(f font.Face, at vg.Point, s string) {
	if f.Font.Weight == boldWeight {
		regular := f.Font
		regular.Weight = 0
		f = font.DefaultCache.Lookup(regular, regular.Size)
		c.Canvas.FillString(f, vg.Point{X: at.X + f.Font.Size/30, Y: at.Y}, latin(s))
	}
	c.Canvas.FillString(f, at, latin(s))
}

// latin encodes Latin-1 and the ellipsis; other characters become "?".
func latin(s string) string {
	var b []byte
	for _, r := range s {
		switch {
		case r == '…':
			b = append(b, 0x85)
		case r < 0x80 || r >= 0xa0 && r <= 0xff:
			b = append(b, byte(r))
		default:
			b = append(b, '?')
		}
	}
	return string(b)
}

// render is the figure in one format.
func (f *figure) render(format string) ([]byte, error) {
	c := newCanvas(format, figureWidth, f.height)
	f.draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("figure %s: cannot encode %s: %w", f.name, format, err)
	}
	if format == "svg" { // a viewer without the face takes one of the same widths
		return bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
			[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")), nil
	}
	return b.Bytes(), nil
}
