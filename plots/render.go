package plots

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
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
		return vgpdf.New(w, h)
	}
	return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(pngDPI))}
}

// render is the figure in one format.
func (f *figure) render(format string) ([]byte, error) {
	c := newCanvas(format, figureWidth, f.height)
	f.draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("figure %s: cannot encode %s: %w", f.name, format, err)
	}
	return b.Bytes(), nil
}

// writeFile writes under a temporary name and renames.
func writeFile(path string, data []byte) error {
	dir, name := filepath.Split(path)
	temporary := filepath.Join(dir, "."+name+"."+strconv.Itoa(os.Getpid())+".tmp")
	err := os.WriteFile(temporary, data, 0o666)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		_ = os.Remove(temporary) // nothing better can be done about a left-over
		return writeError(path, err)
	}
	return nil
}

func writeError(path string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("%s: cannot write: %w; free space or make the folder writable", path, err)
}
