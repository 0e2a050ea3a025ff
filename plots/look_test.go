package plots

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"rnicmmu/configs"
	"rnicmmu/platform"
)

// Every axis of the embedded experiments has a name, and a value of it says what
// it is of, but for schemes and transports.
func TestAxesOfExperimentsHaveNames(t *testing.T) {
	for _, l := range configs.Experiments() {
		doc, err := configs.ExperimentDocument(l.Name)
		if err != nil {
			t.Fatal(err)
		}
		e, err := configs.LoadExperiment(&platform.Spec{}, doc, Figures())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range e.Axes {
			name, ok := axisNames[a.Key]
			if !ok || name.long == "" {
				t.Errorf("%s: %s has no name in figures", l.Name, a.Key)
			}
			if alone := name.short == ""; alone != (a.Key == "scheme" || a.Key == "transport") {
				t.Errorf("%s: %s is called %q before a value", l.Name, a.Key, name.short)
			}
		}
	}
}

func TestValuesInGroupsSayWhatTheyAreOf(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"tcp.min_rto", "1ms", "min RTO 1 ms"}, {"tpt.partition", "tenant", "partition: tenant"}, {"scheme", "odp", "odp"},
		{"transport", "rc", "rc"}, {"host.pager.batch", "16", "batch 16"}, {"workload.access_bytes", "4096B", "access 4KiB"},
		{"tpt.mpt.ways", "0", "fully associative"}, {"host.swap.read_latency", "20us", "read latency 20 µs"},
	} {
		if got := newAxis(c.key, 0, []Row{{Values: []string{c.value}}}).named(c.value); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.key, c.value, got, c.want)
		}
	}
}

// schemesByTransport is a sweep of five schemes and two transports, in which
// transports do not differ and pinned is refused above 1.
func schemesByTransport(t testing.TB, dir string) *sweepFigure {
	t.Helper()
	var points []point
	for k, scheme := range []string{"pinned", "odp", "sva", "iommu", "suspend"} {
		for _, transport := range []string{"rc", "iwarp"} {
			for _, over := range []float64{0.5, 1, 1.5, 2, 4} {
				p := point{[]string{scheme, transport, fmt.Sprint(over)}, "ok", sample(0.2, 0.01*float64(k)*over)}
				if over > 1 && (scheme == "pinned" || scheme == "iommu") {
					p.status, p.summary = "refused", nil
				}
				points = append(points, p)
			}
		}
	}
	writeSweep(t, dir, []string{"scheme", "transport", "pressure.overcommit"}, points, nil)
	table, err := ReadTable(filepath.Join(dir, SweepFile))
	if err != nil {
		t.Fatal(err)
	}
	return &sweepFigure{table: table, layout: table.Layout()}
}

// Of series that coincide the later is thinner, so that the earlier shows beside
// it; two of one colour differ in dashes and in how markers are filled.
func TestCoincidingSeriesAreBothSeen(t *testing.T) {
	s := schemesByTransport(t, t.TempDir())
	n := len(s.layout.Groups)
	var widths []vg.Length
	for i := range n {
		a := s.look(i, n)
		widths = append(widths, a.width)
		for j := range i {
			b := s.look(j, n)
			if a.color == b.color && (len(a.dashes) == len(b.dashes) || a.glyph == b.glyph) {
				t.Errorf("groups %d and %d look alike", i, j)
			}
			if math.Abs(float64(a.width-b.width)) < 0.1 || math.Abs(float64(a.radius-b.radius)) < 0.1 {
				t.Errorf("groups %d and %d are of one width", i, j)
			}
		}
	}
	slices.Sort(widths)
	if widths[0] < 1 || widths[n-1] > 3 {
		t.Errorf("lines of %v to %v points", widths[0], widths[n-1])
	}
}

// Where places have no order, groups stand beside each other, around the place.
func TestGroupsAtOnePlaceStandApart(t *testing.T) {
	s := &sweepFigure{layout: Layout{X: Axis{Values: []string{"a", "b"}}}}
	moved := s.apart([]Series{{X: []float64{0, 1}}, {X: []float64{0, 1}}})
	a, b := moved[0].X, moved[1].X
	if a[1]-a[0] != 1 || math.Abs(a[0]+b[0]) > 1e-12 || b[0]-a[0] < 0.05 || b[0]-a[0] > 0.5 {
		t.Errorf("at %v and %v", a, b)
	}
}

// Points without a result have a row a colour, within the band.
func TestCrossesHaveARowAColour(t *testing.T) {
	colors := []color.Color{seriesColors[0], seriesColors[0], seriesColors[1], seriesColors[2]}
	var groups []Series
	for range colors {
		groups = append(groups, Series{X: []float64{1}, Status: []string{statusRefused}})
	}
	height := addCrosses(plot.New(), groups, func(i int) color.Color { return colors[i] })
	if height != bandHeight+crossRow {
		t.Errorf("a band of %v points for three rows", height)
	}
	groups[2].Status[0], groups[3].Status[0] = "ok", "ok"
	if height := addCrosses(plot.New(), groups, func(i int) color.Color { return colors[i] }); height != bandHeight {
		t.Errorf("a band of %v points for one row", height)
	}
}

// Ten groups have a panel of bars each, with its name and every bar's total; more
// have a block each, all of them named.
func TestEveryGroupOfBarsIsNamed(t *testing.T) {
	dir := t.TempDir()
	schemesByTransport(t, dir)
	if _, err := Draw(dir, []string{"svg"}, Options{Figures: []string{"causes"}}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, FiguresDir, "causes.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"suspend, iwarp", "pinned, rc", formatTime(float64(sample(0.2, 0.01*4*0.5).Accesses.LatencyPS.Mean))} {
		if !bytes.Contains(data, []byte(">"+want+"<")) {
			t.Errorf("no %q", want)
		}
	}
	crowd := t.TempDir()
	var points []point
	for q := range mostStacks + 1 {
		points = append(points, point{[]string{fmt.Sprintf("policy%d", q), "1"}, "ok", sample(0.2, 0)},
			point{[]string{fmt.Sprintf("policy%d", q), "2"}, "ok", sample(0.2, 0.01)})
	}
	writeSweep(t, crowd, []string{"host.pager.policy", "seed"}, points, nil)
	if _, err := Draw(crowd, []string{"svg"}, Options{Figures: []string{"causes"}}); err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(filepath.Join(crowd, FiguresDir, "causes.svg")); err != nil {
		t.Fatal(err)
	}
	for q := range mostStacks + 1 {
		if !bytes.Contains(data, fmt.Appendf(nil, ">policy: policy%d<", q)) {
			t.Errorf("block %d has no name", q)
		}
	}
}

// Names that are too long for their place are cut, so that every place has one.
func TestLongNamesAreCut(t *testing.T) {
	names := []string{"2", "[{tpt.mtt.entries: 64}, {}]", "[{scheme: odp}, {scheme: sva}]"}
	s := rowScale("adapters", names)
	s.fit(figureWidth / 2)
	for i, tick := range s.ticks {
		if tick.Label == "" || !bytes.HasPrefix([]byte(names[i]), bytes.TrimSuffix([]byte(tick.Label), []byte("…"))) {
			t.Errorf("%s is called %q", names[i], tick.Label)
		}
		if place := figureWidth / 2 / vg.Length(s.max-s.min); tickText.Width(tick.Label) > place {
			t.Errorf("%q is wider than its place", tick.Label)
		}
	}
}
