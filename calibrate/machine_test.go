package calibrate

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"rnicmmu/components/dmabench"
)

// Every measurement of both machines is met, 5 % of a latency and 10 % of a
// bandwidth, or is an outlier with its reason, which the settings that are said to
// explain it do explain. A named outlier that is met is named for nothing.
func TestMachines(t *testing.T) {
	for _, m := range Machines() {
		rows, err := m.Compare(t.Context(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != 7+7+15+15+3*40 {
			t.Errorf("%s: %d measurements", m.Profile, len(rows))
		}
		out := map[*Outlier]int{}
		var kinds [2]tally // of latencies, of bandwidths
		for i := range rows {
			r := &rows[i]
			kinds[kindOf(r)].add(r)
			if !r.Good() {
				t.Errorf("%s: %v of %d B: %.2f, measured %.2f (%+.1f %%); with the outlier's settings %.2f", m.Profile,
					r.Test, r.Bytes, r.Model, r.Value, 100*r.Error(), r.With)
			}
			if r.Outlier != nil {
				out[r.Outlier]++
			}
		}
		for i := range m.Outliers {
			if o := &m.Outliers[i]; out[o] != len(o.Sizes) || o.Reason == "" {
				t.Errorf("%s: %d of the sizes %v of %v are outliers; reason %q", m.Profile, out[o], o.Sizes, o.Test, o.Reason)
			}
		}
		pageHasCounts(t, m, kinds[0], kinds[1])
	}
}

// tally counts rows, and those that are within.
type tally struct {
	rows, within int
	worst        float64 // error
}

func kindOf(r *Row) int {
	if r.Test.Latency() {
		return 0
	}
	return 1
}

func (c *tally) add(r *Row) {
	c.rows++
	c.worst = max(c.worst, math.Abs(r.Error()))
	if r.Within() {
		c.within++
	}
}

// pageHasCounts checks the row of a machine in the page on calibration, of which
// every latency is within.
func pageHasCounts(t *testing.T, m *Machine, latency, bandwidth tally) {
	page, err := os.ReadFile("../docs/calibration.md")
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Trim(m.Title[strings.Index(m.Title, "("):], "()")
	line := fmt.Sprintf("| %s | all within %.0f %% | %d of %d within %g %%, %d outliers |", name, math.Ceil(100*latency.worst),
		bandwidth.within, bandwidth.rows, 100*BandwidthTolerance, bandwidth.rows-bandwidth.within)
	if latency.within != latency.rows || !strings.Contains(string(page), line) {
		t.Errorf("%d of %d latencies within; calibration.md lacks the row\n%s", latency.within, latency.rows, line)
	}
	head := fmt.Sprintf("| machine | latency, %d figures | bandwidth, %d figures |", 2*latency.rows, 2*bandwidth.rows)
	if sum := fmt.Sprintf("; %d figures |", 2*(latency.rows+bandwidth.rows)); !strings.Contains(string(page), head) || !strings.Contains(string(page), sum) {
		t.Errorf("calibration.md lacks\n%s\nor %q", head, sum)
	}
}

// The name of the data's origin is that of every row.
func TestDataSource(t *testing.T) {
	for _, name := range []string{"data/pciebench_latency.csv", "data/pciebench_bandwidth.csv"} {
		data, err := embedded.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if rows := strings.Count(text, "\n") - 1; rows < 1 || strings.Count(text, DataSource) != rows {
			t.Errorf("%s: %d of %d rows are of %s", name, strings.Count(text, DataSource), rows, DataSource)
		}
	}
}

// A measurement is simulated the same way every time, whatever runs beside it.
func TestCompareIsDeterministic(t *testing.T) {
	few := func(p *Point) bool { return p.Bytes == 512 }
	var runs [2][]Row
	for i := range runs {
		var err error
		if runs[i], err = haswell.Compare(t.Context(), few, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range runs[0] {
		if runs[0][i].Model != runs[1][i].Model || len(runs[0]) != 5 {
			t.Errorf("row %d of %d: %v, then %v", i, len(runs[0]), runs[0][i].Model, runs[1][i].Model)
		}
	}
}

// What a row is judged by, at the edges of both tolerances.
func TestRows(t *testing.T) {
	named, explained := &Outlier{Reason: "r"}, &Outlier{Reason: "r", With: []string{"k=v"}}
	for _, c := range []struct {
		test         dmabench.Test
		model, with  float64
		outlier      *Outlier
		within, good bool
	}{
		{dmabench.DMARead, 104.9, 0, nil, true, true},
		{dmabench.DMARead, 94.9, 0, nil, false, false},
		{dmabench.ReadBandwidth, 109.9, 0, nil, true, true},
		{dmabench.ReadBandwidth, 110.1, 0, nil, false, false},
		{dmabench.ReadBandwidth, 89.9, math.NaN(), named, false, true},
		{dmabench.ReadBandwidth, 89.9, 90.1, explained, false, true},
		{dmabench.ReadBandwidth, 89.9, 89.8, explained, false, false},
	} {
		r := Row{Point: Point{Test: c.test, Value: 100}, Model: c.model, With: c.with, Outlier: c.outlier}
		if r.Within() != c.within || r.Good() != c.good {
			t.Errorf("%v %g, with settings %g: within %v, good %v", c.test, c.model, c.with, r.Within(), r.Good())
		}
	}
}

// Two figures of each kind as the files have them.
func TestPoints(t *testing.T) {
	points, err := Points("hsw-E5-2637v3")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, p := range points {
		switch {
		case p.Test == dmabench.CommandRead && p.Bytes == 4:
			found++
			if p.Value != 512.3 || p.File != "lat_cmd_sizes" {
				t.Errorf("%+v, want 512.3 ns of lat_cmd_sizes", p)
			}
		case p.Test == dmabench.ReadBandwidth && p.Bytes == 16:
			found++
			if p.Value != 7.64 || p.File != "bw_dma_sz_sweep" {
				t.Errorf("%+v, want 7.64 Gb/s of bw_dma_sz_sweep", p)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d of two points found", found)
	}
	if _, err := Points("sky-lake"); err == nil {
		t.Error("a system without measurements has points")
	}
	const head = "system,test,bytes,v,file\n"
	for _, bad := range []string{head + "s,LAT_DMA_RD,x,1,f\n", head + "s,LAT_DMA_RD,8,x,f\n", head + "s,LAT,8,1,f\n", head + "s,LAT\n"} {
		if points, err := parse([]byte(bad), "s", "v"); err == nil {
			t.Errorf("%q was read as %v", bad, points)
		}
	}
}
