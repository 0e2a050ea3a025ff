package plots

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func twoPanels() []Overlay {
	x := []float64{16, 64, 65, 1024}
	return []Overlay{{
		Name: "bandwidth", Title: "Bandwidth", X: "bytes", Y: "Gb/s", LogX: true, Footer: "from here",
		Panels: []OverlayPanel{
			{Title: "one", Series: []OverlaySeries{{"read", x, []float64{1, 4, 3, 9}, []float64{1.1, 4, 3.2, 9}}}},
			{Title: "two", Series: []OverlaySeries{{"read", x, x, x}, {"write", x[:2], []float64{5, 6}, []float64{5, 7}}}},
		},
	}}
}

// Overlays are drawn in every format, the same bytes each time.
func TestOverlays(t *testing.T) {
	var drawn [2][][]byte
	for i := range drawn {
		dir := t.TempDir()
		files, err := DrawOverlays(dir, Formats(), twoPanels())
		if err != nil {
			t.Fatal(err)
		}
		for k, f := range Formats() {
			if want := filepath.Join(dir, FiguresDir, "bandwidth."+f); len(files) != 3 || files[k] != want {
				t.Fatalf("files %v, want %s", files, want)
			}
			data, err := os.ReadFile(files[k])
			if err != nil {
				t.Fatal(err)
			}
			drawn[i] = append(drawn[i], data)
		}
	}
	for k := range drawn[0] {
		if !bytes.Equal(drawn[0][k], drawn[1][k]) {
			t.Errorf("%s differs from drawing to drawing", Formats()[k])
		}
	}
	svg := string(drawn[0][slices.Index(Formats(), "svg")])
	for _, text := range []string{">Bandwidth<", ">bytes<", ">Gb/s<", ">one<", ">two<", ">read<", ">write<", ">16<", ">64<", ">256<", ">1024<", ">from here<"} {
		if !strings.Contains(svg, text) {
			t.Errorf("no %s in the figure", text)
		}
	}
	if strings.Count(svg, ">read<") != 1 || strings.Count(svg, ">Gb/s<") != 1 {
		t.Error("a series or the axis is named twice")
	}
}

// Every point has its marker, however many there are: a curve has fewer.
func TestOverlayShowsEveryPoint(t *testing.T) {
	var x, y []float64
	for i := range 200 {
		x, y = append(x, float64(i+1)), append(y, float64(i%7))
	}
	o := Overlay{Name: "many", X: "x", Y: "y", Panels: []OverlayPanel{{Series: []OverlaySeries{{"s", x, y, nil}}}}}
	svg, err := o.figure().render("svg")
	if err != nil {
		t.Fatal(err)
	}
	none := Overlay{Name: "none", X: "x", Y: "y", Panels: []OverlayPanel{{Series: []OverlaySeries{{"s", x[:1], y[:1], nil}}}}}
	bare, err := none.figure().render("svg")
	if err != nil {
		t.Fatal(err)
	}
	if got := bytes.Count(svg, []byte("<path")) - bytes.Count(bare, []byte("<path")); got < 199 {
		t.Errorf("%d more shapes than with one point, want at least 199", got)
	}
}

// An axis of powers of two has ticks at every second, another logarithmic one as
// any figure, and a linear one begins at 0.
func TestOverlayScale(t *testing.T) {
	if s := overlayScale("x", true, [][]float64{{8, 100, 4096}}); !s.log || len(s.ticks) != 5 || s.ticks[4].Value != 2048 {
		t.Errorf("ticks %v, want 8, 32, 128, 512, 2048", s.ticks)
	}
	if s := overlayScale("y", true, [][]float64{{0.3, 120}}); !s.log || s.min > 0.3 || s.max < 120 {
		t.Errorf("%g to %g, logarithmic %v", s.min, s.max, s.log)
	}
	if s := overlayScale("y", false, [][]float64{{30, 120}}); s.log || s.min != 0 || s.max < 120 {
		t.Errorf("%g to %g, logarithmic %v", s.min, s.max, s.log)
	}
}

// A format that is not known is refused.
func TestCheckFormats(t *testing.T) {
	if err := CheckFormats([]string{"svg", "gif"}); err == nil || !strings.Contains(err.Error(), "gif") {
		t.Errorf("error %v, want one with gif", err)
	}
	if err := CheckFormats(Formats()); err != nil {
		t.Error(err)
	}
}
