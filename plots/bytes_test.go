package plots

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rnicmmu/measure"
)

func TestAccessSizeIsReadWhereItIsKnown(t *testing.T) {
	const config = "workload:\n  pattern: uniform  # addresses\n  access_bytes: 64B\n  atomic_fraction: 0\n"
	for _, c := range []struct {
		name, csv, config string
		trace             bool
		want              []float64
	}{
		{"configured", "seed,status,point\n1,refused,gone\n2,ok,p\n", config, false, []float64{64, 64}},
		{"swept", "workload.access_bytes,status,point\n64B,ok,p\n4KiB,ok,q\n", config, false, []float64{64, 4096}},
		{"trace", "seed,status,point\n1,ok,p\n", config, true, nil},
		{"values of many sizes", "seed,status,point\n1,ok,p\n", "workload: {pattern: keyvalue, access_bytes: 64B}\n", false, nil},
		{"atomics", "seed,status,point\n1,ok,p\n", "workload: {access_bytes: 64B, atomic_fraction: 0.5}\n", false, nil},
		{"pattern swept", "workload.pattern,status,point\nuniform,ok,p\n", config, false, nil},
		{"no configuration", "seed,status,point\n1,ok,other\n", config, false, nil},
		{"broken configuration", "seed,status,point\n1,ok,p\n", "a: [", false, nil},
	} {
		table, err := readSmall(t, c.csv)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "points", "p"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "points", "p", measure.ConfigFile), []byte(c.config), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := table.accessBytes(dir, c.trace); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// 64 B at 400 000 accesses a second are 204.8 Mb/s.
func TestDataRateIsBitsOfAccesses(t *testing.T) {
	s := &sweepFigure{bytes: []float64{64}}
	got := s.dataRate([]Series{{Y: []float64{400e3}, Rows: []int{0}}})
	if !same(got[0].Y, []float64{204.8e6}) {
		t.Errorf("%v b/s", got[0].Y)
	}
}
