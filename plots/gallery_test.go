package plots

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// folders are the kinds of folders that Draw must cope with.
var folders = map[string]func(testing.TB, string){
	"tlb":    tlbSweep,
	"paging": func(t testing.TB, dir string) { pagingSweep(t, dir, "pinned", "odp") },
	"schemes": func(t testing.TB, dir string) {
		pagingSweep(t, dir, "pinned", "odp", "sva", "iommu", "suspend")
	},
	"run":        func(t testing.TB, dir string) { writeRun(t, dir, 20000, true) },
	"runpinned":  func(t testing.TB, dir string) { writeRun(t, dir, 1000, false) },
	"neighbours": func(t testing.TB, dir string) { neighbours(t, dir, true) },
	"grid": func(t testing.TB, dir string) {
		var points []point
		for _, ways := range []int{0, 1, 2, 4, 8, 16, 32, 64, 128} {
			for entries := 64; entries <= 65536; entries *= 2 {
				miss := 0.02 + 0.78/(1+math.Pow(float64(entries)/(2500+100*float64(ways)), 1.6))
				points = append(points, point{[]string{fmt.Sprint(ways), fmt.Sprint(entries)}, "ok", sample(miss, 0)})
			}
		}
		writeSweep(t, dir, []string{"tpt.mtt.ways", "tpt.mtt.entries"}, points, nil)
	},
	"one": func(t testing.TB, dir string) {
		writeSweep(t, dir, []string{"tpt.mtt.entries"}, []point{{[]string{"64"}, "ok", sample(0.3, 0.01)}}, nil)
	},
	"noaxes": func(t testing.TB, dir string) {
		writeSweep(t, dir, nil, []point{{nil, "ok", sample(0.3, 0.01)}}, nil)
	},
	"names": func(t testing.TB, dir string) {
		var points []point
		for i, policy := range []string{"lru", "plru", "fifo", "random", "nru"} {
			points = append(points, point{[]string{policy}, "ok", sample(0.1*float64(i), 0)})
		}
		points[2].status, points[2].summary = "failed", nil
		writeSweep(t, dir, []string{"tpt.mtt.replacement"}, points, nil)
	},
	"thousand": func(t testing.TB, dir string) {
		var points []point
		for i := 1; i <= 1000; i++ {
			points = append(points, point{[]string{fmt.Sprintf("%dns", 10*i)}, "ok", sample(1/(1+float64(i)/100), 0)})
		}
		writeSweep(t, dir, []string{"pcie.read_latency"}, points, nil)
	},
	"zeros": func(t testing.TB, dir string) {
		var points []point
		for _, size := range []string{"4KiB", "64KiB", "2MiB", "1GiB"} {
			s := sample(0, 0)
			*s = *new(sampleSummary)
			points = append(points, point{[]string{size}, "ok", s})
		}
		writeSweep(t, dir, []string{"tpt.page"}, points, nil)
	},
	"crowd": func(t testing.TB, dir string) {
		var points []point
		for q := 1; q <= 40; q++ {
			for _, size := range []string{"64B", "1KiB", "4KiB"} {
				for _, scheme := range []string{"odp", "pinned"} {
					points = append(points, point{[]string{scheme, size, fmt.Sprint(q)}, "ok", sample(1/float64(q), 0)})
				}
			}
		}
		writeSweep(t, dir, []string{"scheme", "workload.access_bytes", "workload.qps"}, points, nil)
	},
}

// TestGallery draws every kind of folder in every format. RNICMMU_GALLERY names
// a folder that keeps them for a look.
func TestGallery(t *testing.T) {
	for name, write := range folders {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if keep := os.Getenv("RNICMMU_GALLERY"); keep != "" {
				dir = filepath.Join(keep, name)
				if err := os.MkdirAll(dir, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			write(t, dir)
			files, err := Draw(dir, Formats(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(files) < 2*len(Formats()) {
				t.Errorf("only %v", files)
			}
			for _, file := range files {
				checkImage(t, file)
			}
		})
	}
}
