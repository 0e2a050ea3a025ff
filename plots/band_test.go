package plots

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"rnicmmu/measure"
)

// refusedSweep is odp beside pinned, which is refused at 4.
func refusedSweep(t *testing.T) *sweepFigure {
	t.Helper()
	table, err := readSmall(t, smallTable)
	if err != nil {
		t.Fatal(err)
	}
	return &sweepFigure{table: table, layout: table.Layout()}
}

// The band takes its height from under the data, on either kind of axis, and
// gives the data's own floor back as its upper edge.
func TestBandIsUnderTheData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := band{height: bandHeight, floor: rapid.Float64Range(0.001, 10).Draw(t, "floor"), log: rapid.Bool().Draw(t, "log")}
		b.top = b.floor * rapid.Float64Range(1.5, 1e6).Draw(t, "span")
		height := vg.Length(rapid.Float64Range(3*float64(bandHeight), 1000).Draw(t, "height"))
		s := scale{min: b.bottom(height), max: b.top, log: b.log}
		if got := vg.Length(s.norm(b.floor)) * height; math.Abs(float64(got-bandHeight)) > 1e-6 {
			t.Fatalf("%g points high, want %g", got, bandHeight)
		}
		middle := bandTicks{plot.ConstantTicks(nil), &b}.Ticks(s.min, s.max)[0].Value
		if got := vg.Length(s.norm(middle)) * height; math.Abs(float64(got-bandHeight/2)) > 1e-6 {
			t.Fatalf("label at %g points", got)
		}
	})
}

func TestEveryPanelOfASweepWithRefusedPointsHasTheBand(t *testing.T) {
	s := refusedSweep(t)
	for _, f := range []*figure{s.latency(), s.throughput()} {
		for _, row := range f.panels {
			for _, p := range row {
				if p.band == nil || p.band.floor != p.Y.Min {
					t.Errorf("%s: a panel without a band", f.name)
				}
			}
		}
	}
	if got := s.bandLabel(); got != "refused" {
		t.Errorf("labelled %q", got)
	}
	s.layout.Groups[0].Status[0] = statusFailed
	if got := s.bandLabel(); got != "no result" {
		t.Errorf("of two kinds labelled %q", got)
	}
	for _, g := range s.layout.Groups {
		for i := range g.Status {
			g.Status[i] = "ok"
		}
	}
	if p := s.newPanel(scale{max: 1}, scale{max: 1}, s.layout.Groups, inInk); p.band != nil {
		t.Error("a band for nothing")
	}
}

func TestEqualLatenciesAreAVerticalRise(t *testing.T) {
	line := steps(scale{min: 1, max: 10}, []float64{3}, 0, []float64{100})
	if !slices.Equal(line.x, []float64{1, 3, 3}) || !slices.Equal(line.y, []float64{0, 0, 100}) {
		t.Errorf("x %v y %v", line.x, line.y)
	}
}

// A run whose accesses all take one time draws a line in both panels.
func TestRunOfEqualLatencies(t *testing.T) {
	dir := t.TempDir()
	r, err := measure.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		a := measure.Access{ID: uint64(i), Complete: 1500}
		a.Ledger.Causes[measure.CausePCIe], a.Ledger.Last = 1500, 1500
		r.Access(2000, &a)
	}
	var s measure.Summary
	r.Finish(&s)
	if err := r.Write(&s, measure.NewManifest("1", nil, 1, "", time.Now()), nil); err != nil {
		t.Fatal(err)
	}
	f, err := runLatency(dir, &s)
	if err != nil {
		t.Fatal(err)
	}
	data, err := f.render("svg")
	if err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("stroke:#%02X%02X%02X", seriesColors[0].R, seriesColors[0].G, seriesColors[0].B)
	if n := bytes.Count(data, []byte(line)); n != 2 {
		t.Errorf("%d lines, want one in each panel", n)
	}
}

// A part that reaches 1 % of any bar is named, however little it is of the others;
// of the rest the largest are, while fewer than eight are named.
func TestWhatIsSeenInABarIsNamed(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "nothing"}
	means := [][]float64{{9e5, 1e7}, {1e5, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 2e5}, {0, 0}}
	b := gather(names, means, 2)
	if want := []string{"a", "b", "d", "e", "f", "g", "h", "i", "other"}; !slices.Equal(b.Causes, want) {
		t.Fatalf("causes %v, want %v", b.Causes, want)
	}
	if got := b.Mean[len(b.Mean)-1]; !slices.Equal(got, []float64{1, 1}) {
		t.Errorf("other is %g, want c's", got)
	}
	if got := b.Most[len(b.Most)-2]; math.Abs(got-0.0196) > 0.0001 { // 2e5 / 1.02e7
		t.Errorf("i has %g of a bar at most", got)
	}
	for i := range 2 * fewParts {
		names, means = append(names, string(rune('j'+i))), append(means, []float64{1e5, 0})
	}
	if b := gather(names, means, 2); len(b.Causes) != 2*fewParts+4 { // a, b, i and other
		t.Errorf("%v, want all that are seen", b.Causes)
	}
}

func TestOverviewTellsPagingUnderLatency(t *testing.T) {
	for name, c := range map[string]struct {
		write func(*testing.T, string)
		want  [2]string
	}{
		"paging": {func(t *testing.T, dir string) { pagingSweep(t, dir, "pinned", "odp") }, [2]string{"p50 latency (µs)", "faults per 1000 accesses"}},
		"pinned": {func(t *testing.T, dir string) {
			writeSweep(t, dir, []string{"scheme", "workload.qps"}, []point{
				{[]string{"pinned", "1"}, "ok", sample(0.2, 0)}, {[]string{"pinned", "2"}, "ok", sample(0.2, 0)},
				{[]string{"odp", "1"}, "ok", sample(0.2, 0)}, {[]string{"odp", "2"}, "ok", sample(0.2, 0)}}, nil)
		}, [2]string{"p50 latency (µs)", "accesses completed (M/s)"}},
		"tables": {func(t *testing.T, dir string) { tlbSweep(t, dir) }, [2]string{"share of MTT look-ups (%)", "latency of an access (µs)"}},
	} {
		dir := t.TempDir()
		c.write(t, dir)
		figures, err := sweepFigures(dir, Options{Figures: []string{"overview"}})
		if err != nil || len(figures) != 1 {
			t.Fatalf("%s: %d figures, %v", name, len(figures), err)
		}
		panels := figures[0].panels
		if got := [2]string{panels[0][0].yLabel, panels[1][0].yLabel}; got != c.want {
			t.Errorf("%s: panels %q, want %q", name, got, c.want)
		}
	}
}

// 60 of 400 lookups missed, of which 45 walked; 9 000 ps of stall in 3 accesses.
func TestWalksAndStallOfATableMadeByHand(t *testing.T) {
	table, err := readSmall(t, "seed,status,tpt.mtt.lookups,tpt.mtt.misses,tpt.mtt.walks,tpt.mtt.l2.hits,cpu.accesses,cpu.stall_ps\n1,ok,400,60,45,0,3,9000\n2,ok,0,0,0,0,0,0\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		metric Metric
		want   float64
	}{{MissRate, 15}, {WalkRate, 11.25}, {CPUStall, 3000}} {
		got, err := table.Measure(c.metric)
		if err != nil || !same(got, []float64{c.want, math.NaN()}) {
			t.Errorf("%v: %v, want %g; %v", c.metric.Columns, got, c.want, err)
		}
	}
}

func TestFigureOfTheCPUIsThereWithTheProgram(t *testing.T) {
	for _, c := range []struct {
		on   bool
		want int
	}{{true, 1}, {false, 0}} {
		dir := t.TempDir()
		one := sample(0.2, 0)
		if c.on {
			one.CPU.Accesses, one.CPU.StallPS = 10, 0 // a program that never waits is drawn too
		}
		writeSweep(t, dir, []string{"seed"}, []point{{[]string{"1"}, "ok", one}}, nil)
		figures, err := sweepFigures(dir, Options{})
		got := strings.Count(namesOf(figures), "cpu")
		if err != nil || got != c.want {
			t.Errorf("on %v: %d figures, %v", c.on, got, err)
		}
	}
}

func TestFiguresAreAllThatDrawKnows(t *testing.T) {
	dir := t.TempDir()
	pagingSweep(t, dir, "pinned", "odp")
	figures, err := sweepFigures(dir, Options{Figures: Figures()})
	if err != nil || len(figures) != len(Figures()) {
		t.Errorf("%d figures of %v, %v", len(figures), Figures(), err)
	}
}
