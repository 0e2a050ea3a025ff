package plots

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// smallTable is made by hand; every expected value below follows from it.
const smallTable = `scheme,pressure.overcommit,status,simulated_ps,accesses.completed,accesses.latency_ps.p50,accesses.latency_ps.p99,accesses.latency_ps.p999,accesses.cause_ps.network,accesses.cause_ps.fault,accesses.cause_ps.pcie,tpt.mtt.lookups,tpt.mtt.misses,faults.raised,invalidations.issued,point,error
odp,4,ok,2000000000,100,5000,9000,9900,300000,97000,3000,200,50,10,5,a,
odp,0.5,ok,1000000000,100,1000,2000,3000,100000,0,900,200,20,0,0,b,
pinned,0.5,ok,500000000,200,800,900,1000,200000,0,0,400,0,0,0,c,
pinned,4,refused,,,,,,,,,,,,,,memory cannot be pinned
`

func readSmall(t *testing.T, text string) (*Table, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), SweepFile)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return ReadTable(path)
}

func TestSeriesOfATableMadeByHand(t *testing.T) {
	table, err := readSmall(t, smallTable)
	if err != nil {
		t.Fatal(err)
	}
	layout := table.Layout()
	if layout.X.Key != "pressure.overcommit" {
		t.Fatalf("x is %s", layout.X.Key)
	}
	none := math.NaN()
	for _, c := range []struct {
		name        string
		metric      Metric
		odp, pinned []float64 // at 0.5 and 4
	}{
		{"p99", Latency("p99"), []float64{2000, 9000}, []float64{900, none}},
		{"miss rate in percent", MissRate, []float64{10, 25}, []float64{0, none}},
		{"accesses a second", Throughput, []float64{100e3, 50e3}, []float64{400e3, none}},
		{"faults per 1000", FaultRate, []float64{0, 100}, []float64{0, none}},
		{"invalidations per 1000", InvalidationRate, []float64{0, 50}, []float64{0, none}},
		{"network a access", Ratio(causePrefix+"network", completed, 1), []float64{1000, 3000}, []float64{1000, none}},
		{"a column", Column("faults.raised"), []float64{0, 10}, []float64{0, none}},
	} {
		series, err := table.Series(layout, c.metric)
		if err != nil {
			t.Fatal(err)
		}
		for g, want := range []Series{{Group: "odp", Y: c.odp}, {Group: "pinned", Y: c.pinned}} {
			got := series[g]
			if got.Group != want.Group || !slices.Equal(got.X, []float64{0.5, 4}) || !same(got.Y, want.Y) {
				t.Errorf("%s: group %s x %v y %v, want %s y %v", c.name, got.Group, got.X, got.Y, want.Group, want.Y)
			}
		}
	}
	if got := layout.Groups[1].Status; !slices.Equal(got, []string{"ok", "refused"}) {
		t.Errorf("status of pinned %v", got)
	}
}

// same compares with NaN equal to itself, to 12 digits.
func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 1e-12*math.Abs(y)
	})
}

func TestBreakdownAddsUpAndGathersTheRest(t *testing.T) {
	table, err := readSmall(t, smallTable)
	if err != nil {
		t.Fatal(err)
	}
	b, err := table.Breakdown()
	if err != nil {
		t.Fatal(err)
	}
	// pcie is 0.75 % and 0.89 % of its rows, and of few.
	if want := []string{"network", "fault", "pcie"}; !slices.Equal(b.Causes, want) {
		t.Fatalf("causes %v, want %v", b.Causes, want)
	}
	none := math.NaN()
	for i, want := range [][]float64{{3000, 1000, 1000, none}, {970, 0, 0, none}, {30, 9, 0, none}} {
		if !same(b.Mean[i], want) {
			t.Errorf("%s: %v, want %v", b.Causes[i], b.Mean[i], want)
		}
	}
	if want := []float64{4000, 1009, 1000, none}; !same(b.Total, want) {
		t.Errorf("totals %v, want %v", b.Total, want)
	}
	for i, share := range b.shares() {
		if want := 100 * b.Mean[i][0] / 4000; math.Abs(share[0]-want) > 1e-9 {
			t.Errorf("%s: share %g, want %g", b.Causes[i], share[0], want)
		}
	}
}

func TestNoCompletedAccessIsNoLatency(t *testing.T) {
	table, err := readSmall(t, "seed,status,accesses.latency_ps.p50,accesses.completed\n1,ok,0,0\n2,ok,7,1\n")
	if err != nil {
		t.Fatal(err)
	}
	got, err := table.Measure(Latency("p50"))
	if err != nil || !same(got, []float64{math.NaN(), 7}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestXIsTheNumericAxisWithMostValues(t *testing.T) {
	for _, c := range []struct{ csv, x, groups string }{
		{"a,status,point\n1,ok,p\n2,ok,q\n", "a", ""},
		{"a,b,status\n1,1,ok\n1,2,ok\n1,3,ok\n2,1,ok\n", "b", "a 1|a 2"},
		{"a,b,status\n1,1,ok\n2,2,ok\n", "a", "b 1|b 2"},
		{"s,t.size,status\nx,4KiB,ok\ny,64KiB,ok\nz,4KiB,ok\n", "t.size", "s: x|s: y|s: z"},
		{"s,r,status\nx,u,ok\ny,u,ok\n", "s", ""},
		{"t.mtt.ways,n,status\n0,1,ok\n0,2,ok\n0,3,ok\n4,1,ok\n", "n", "fully associative|ways 4"},
		{"p.len,q.len,n,status\n1B,2B,1,ok\n2B,4B,2,ok\n1B,2B,3,ok\n", "n", "len 1B, len 2B|len 2B, len 4B"},
		{"p.len,s,n,status\n1B,x,1,ok\n2B,y,2,ok\n1B,x,3,ok\n", "n", "len 1B, s: x|len 2B, s: y"},
		{"status,point\nok,p\n", "point", ""},
	} {
		table, err := readSmall(t, c.csv)
		if err != nil {
			t.Fatal(err)
		}
		l := table.Layout()
		var groups []string
		for _, g := range l.Groups {
			groups = append(groups, g.Group)
		}
		if got := strings.Join(groups, "|"); l.X.Key != c.x || got != c.groups {
			t.Errorf("%q: x %s, groups %q; want %s, %q", c.csv, l.X.Key, got, c.x, c.groups)
		}
	}
}

func TestQuantitiesOfConfigurations(t *testing.T) {
	for text, want := range map[string]struct {
		value float64
		unit  string
	}{
		"64": {64, ""}, "0.75": {0.75, ""}, "4KiB": {4096, "B"}, "20GiB": {20 * (1 << 30), "B"}, "250ns": {250e-9, "s"},
		"1.28ms": {1.28e-3, "s"}, "800MHz": {800e6, "Hz"}, "32GT/s": {32e9, "T/s"}, "100Gbps": {100e9, "b/s"}, "2us": {2e-6, "s"},
	} {
		v, unit, ok := parseQuantity(text)
		if !ok || unit != want.unit || math.Abs(v-want.value) > 1e-12*want.value {
			t.Errorf("%s: %g %s %v", text, v, unit, ok)
		}
	}
	for _, text := range []string{"", "lru", "4 apples", "inf", "NaN", "KiB", "true"} {
		if v, unit, ok := parseQuantity(text); ok {
			t.Errorf("%q read as %g %s", text, v, unit)
		}
	}
}

func TestBadTablesAreOneClearLine(t *testing.T) {
	good := "seed,status,simulated_ps,accesses.completed\n"
	for _, c := range []struct{ name, csv, want string }{
		{"empty", "", "no points"},
		{"head only", good, "no points"},
		{"no status", "a,b\n1,2\n", "no column status"},
		{"cut row", good + "1,ok,5\n", "run the sweep again with --resume"},
		{"no number", good + "1,ok,5,many\n", `sweep.csv:2: accesses.completed: "many" is no number`},
		{"not finite", good + "1,ok,5,NaN\n", `"NaN" is no number`},
		{"column gone", "seed,status,point\n1,ok,p\n", "no column accesses.completed"},
		{"all refused", good + "1,refused,,\n2,refused,,\n", "no point has results (2 rows, status refused)"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, SweepFile), []byte(c.csv), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Draw(dir, nil, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want one line with %q", c.name, err, c.want)
		}
		if exists(filepath.Join(dir, FiguresDir)) {
			t.Errorf("%s: made a folder for nothing", c.name)
		}
	}
}
