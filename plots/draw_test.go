package plots

import (
	"bytes"
	"compress/zlib"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rnicmmu/measure"
)

type sampleSummary = measure.Summary

// checkImage decodes a figure: PNG pixels, SVG as XML, PDF by its frame.
func checkImage(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case strings.HasSuffix(path, ".png"):
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if w := img.Bounds().Dx(); w < 1250 || w > 1270 { // 16 cm at 200 dpi
			t.Errorf("%s: %d pixels wide", path, w)
		}
	case strings.HasSuffix(path, ".svg"):
		d := xml.NewDecoder(bytes.NewReader(data))
		for err == nil {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", path, err)
		}
		if bytes.Contains(data, []byte("NaN")) {
			t.Errorf("%s has NaN coordinates", path)
		}
	case !bytes.HasPrefix(data, []byte("%PDF-")) || !bytes.Contains(data[len(data)-32:], []byte("%%EOF")):
		t.Errorf("%s is no PDF", path)
	}
}

func TestFiguresAreTheSameBytesEveryTime(t *testing.T) {
	dirs := [2]string{t.TempDir(), t.TempDir()}
	var files [2][]string
	for i, dir := range dirs {
		pagingSweep(t, dir, "pinned", "odp")
		var err error
		if files[i], err = Draw(dir, Formats(), Options{}); err != nil {
			t.Fatal(err)
		}
	}
	for i, path := range files[0] {
		a, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(files[1][i])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs between two draws", filepath.Base(path))
		}
		if year := []byte(time.Now().Format("2006")); bytes.Contains(a, append([]byte("D:"), year...)) {
			t.Errorf("%s carries a date", filepath.Base(path))
		}
	}
}

func TestFiguresByName(t *testing.T) {
	dir := t.TempDir()
	tlbSweep(t, dir)
	files, err := Draw(dir, []string{"svg", "png"}, Options{Figures: []string{"causes", "miss-rate"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		name, err := filepath.Rel(dir, f)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(name))
	}
	want := "figures/causes.svg figures/causes.png figures/miss-rate.svg figures/miss-rate.png"
	if strings.Join(got, " ") != want {
		t.Errorf("drew %v, want %s", got, want)
	}
	entries, err := os.ReadDir(filepath.Join(dir, FiguresDir))
	if err != nil || len(entries) != 4 {
		t.Errorf("%d files in the folder, %v", len(entries), err)
	}
}

func TestManifestChoosesTheFigures(t *testing.T) {
	dir := t.TempDir()
	m := maps.Clone(sampleManifest)
	m["figures"] = []string{"latency"}
	writeSweep(t, dir, []string{"tpt.mtt.entries"}, []point{{[]string{"64"}, "ok", sample(0.3, 0)}}, m)
	files, err := Draw(dir, nil, Options{})
	if err != nil || len(files) != 1 || filepath.Base(files[0]) != "latency.png" {
		t.Errorf("drew %v, %v", files, err)
	}
}

func TestSmallPrintTellsTheOrigin(t *testing.T) {
	dir := t.TempDir()
	tlbSweep(t, dir)
	if _, err := Draw(dir, []string{"svg"}, Options{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, FiguresDir, "overview.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"rnicmmu 0.1.0", "commit 0123456789-dirty", "config 9c1f20aa03de4471", "seed 1",
		"trace redis.csv.gz", "trace hash 5f3c99aa01234567", "Size of the translation cache", "64Ki", "(µs)"} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("no %q in the figure", want)
		}
	}
}

func TestHostileNamesAreEscaped(t *testing.T) {
	dir := t.TempDir()
	m := maps.Clone(sampleManifest)
	m["title"], m["trace"] = "<script>alert(1)</script>&\"\x00\n\x1b[31m", `../<b>.csv`
	writeSweep(t, dir, []string{"scheme"}, []point{{[]string{"<i>&\xff\x01\n"}, "ok", sample(0.3, 0)}}, m)
	files, err := Draw(dir, []string{"svg"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		checkImage(t, f)
		data, err := os.ReadFile(f)
		if err != nil || bytes.Contains(data, []byte("<script")) || bytes.Contains(data, []byte("<i>")) {
			t.Errorf("%s: markup from names got through, %v", f, err)
		}
	}
}

func TestRefusedPointsAreMarkedAndNamed(t *testing.T) {
	dir := t.TempDir()
	pagingSweep(t, dir, "pinned", "odp")
	if _, err := Draw(dir, []string{"svg"}, Options{}); err != nil {
		t.Fatal(err)
	}
	inkHex, first := "#1A1A1A", fmt.Sprintf("#%02X%02X%02X", seriesColors[0].R, seriesColors[0].G, seriesColors[0].B)
	for name, color := range map[string]string{"overview": first, "throughput": first, "paging": first, "cpu": first,
		"latency": inkHex, "causes": inkHex} {
		data, err := os.ReadFile(filepath.Join(dir, FiguresDir, name+".svg"))
		if err != nil || !bytes.Contains(data, []byte("refused: cannot pin")) {
			t.Errorf("%s does not name refused points, %v", name, err)
		}
		// Two strokes a cross: five refused points in at least one panel, in the
		// colour of their scheme where that has one.
		if n := bytes.Count(data, []byte("stroke:"+color)); n < 10 {
			t.Errorf("%s has %d strokes of crosses", name, n)
		}
	}
}

func TestWrongUseIsOneClearLine(t *testing.T) {
	tlb := t.TempDir()
	tlbSweep(t, tlb)
	broken := t.TempDir()
	tlbSweep(t, broken)
	if err := os.WriteFile(filepath.Join(broken, measure.ManifestFile), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	blocked := t.TempDir()
	tlbSweep(t, blocked)
	if err := os.WriteFile(filepath.Join(blocked, FiguresDir), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	cut := t.TempDir()
	writeRun(t, cut, 100, false)
	if err := os.Truncate(filepath.Join(cut, measure.AccessesFile), 50); err != nil {
		t.Fatal(err)
	}
	gone := t.TempDir()
	writeRun(t, gone, 100, false)
	if err := os.Remove(filepath.Join(gone, measure.AccessesFile)); err != nil {
		t.Fatal(err)
	}
	idle := t.TempDir()
	writeRun(t, idle, 0, false)
	for _, c := range []struct {
		dir, format, figure, want string
	}{
		{filepath.Join(tlb, "nothing"), "png", "", "no such folder"},
		{t.TempDir(), "png", "", "neither summary.json nor sweep.csv"},
		{tlb, "gif", "", `unknown figure format "gif"; use png, svg, pdf`},
		{tlb, "png", "heat", `unknown figure "heat"; use overview, miss-rate`},
		{tlb, "png", "cpu", "no data here for figure cpu; there is data for overview, miss-rate"},
		{broken, "png", "", "manifest.json: not a manifest"},
		{blocked, "png", "", "figures: cannot write"},
		{cut, "png", "", "accesses.parquet: no complete Parquet file"},
		{gone, "png", "", "accesses.parquet: missing"},
		{idle, "png", "", "no access completed"},
	} {
		o := Options{}
		if c.figure != "" {
			o.Figures = []string{c.figure}
		}
		_, err := Draw(c.dir, []string{c.format}, o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v; want one line with %q", err, c.want)
		}
	}
}

// The text of a PDF is in code page 1252, as its font says.
func TestTextOfAPDFIsEncoded(t *testing.T) {
	dir := t.TempDir()
	tlbSweep(t, dir)
	files, err := Draw(dir, []string{"pdf"}, Options{Figures: []string{"latency"}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := bytes.Cut(data, []byte("stream\n"))
	if !found {
		t.Fatal("no content stream")
	}
	z, err := zlib.NewReader(bytes.NewReader(rest))
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte("(\xb5s)")) && !bytes.Contains(page, []byte("\\(\xb5s\\)")) || bytes.Contains(page, []byte("\xc2\xb5")) {
		t.Error("µs is not one byte and s")
	}
	if n := bytes.Count(page, []byte("(Size of the translation cache: latency of an access)")); n != 2 {
		t.Errorf("the title is struck %d times, want 2 for bold", n)
	}
	if got := latin("1 µs · p99…\u4e00"); got != "1 \xb5s \xb7 p99\x85?" {
		t.Errorf("encoded as %q", got)
	}
}

// Damaged results give an error that says what to do, never a panic.
func TestDamagedResults(t *testing.T) {
	for _, text := range []string{"{}", "null", "[]", "", `{"accesses":{"completed":1}}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "summary.json"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "accesses.parquet"), []byte("PAR1PAR1"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Draw(dir, nil, Options{}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("summary %q: error %v, want one line", text, err)
		}
	}
}
