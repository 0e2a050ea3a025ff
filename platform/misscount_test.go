package platform

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"rnicmmu/workload"
)

// missCount is a row of miss_counts.csv: exact misses of a trace, counted by a
// simulator that shares no code with this one.
type missCount struct {
	trace    string
	page     string // of adapter and host
	refs     uint64
	policy   string
	ways     string
	entries  int
	misses   uint64
	distinct uint64
}

// prefix is the shorter length, in page references, that the counts are given
// for. Every access of the traces touches one page.
const prefix = 200_000

// redisCounts are rows of miss_counts.csv for the trace that the program
// carries.
var redisCounts = []missCount{
	{"redis", "4KiB", 200000, "lru", "full", 1024, 11818, 6031},
	{"redis", "4KiB", 200000, "fifo", "full", 1024, 14791, 6031},
	{"redis", "4KiB", 200000, "direct", "1", 1024, 21991, 6031},
	{"redis", "4KiB", 200000, "lru", "4", 512, 22032, 6031},
	{"redis", "4KiB", 200000, "lru", "4", 4096, 6853, 6031},
	{"redis", "4KiB", 200000, "fifo", "4", 512, 24088, 6031},
	{"redis", "4KiB", 200000, "lru", "8", 1024, 12693, 6031},
	{"redis", "4KiB", 200000, "fifo", "8", 4096, 7471, 6031},
	{"redis", "2MiB", 200000, "lru", "full", 8, 24704, 45},
	{"redis", "2MiB", 200000, "fifo", "full", 8, 28325, 45},
	{"redis", "2MiB", 200000, "direct", "1", 8, 40871, 45},
	{"redis", "2MiB", 200000, "lru", "4", 16, 17195, 45},
	{"redis", "2MiB", 200000, "fifo", "4", 8, 30485, 45},
	{"redis", "2MiB", 200000, "lru", "8", 16, 15602, 45},
	{"redis", "2MiB", 200000, "fifo", "8", 16, 18511, 45},
}

// sharedFile is the path of a file in the folder that RNICMMU_SHARED names, or
// in ../shared beside the repository; without it the test is skipped.
func sharedFile(t testing.TB, name string) string {
	t.Helper()
	for _, dir := range []string{os.Getenv("RNICMMU_SHARED"), "../../shared"} {
		if path := filepath.Join(dir, name); dir != "" {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	t.Skipf("no %s here; set RNICMMU_SHARED", name)
	return ""
}

// readMissCounts reads the rows that keep says.
func readMissCounts(t *testing.T, keep func(*missCount) bool) []missCount {
	t.Helper()
	f, err := os.Open(sharedFile(t, "traces/miss_counts.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []missCount
	for _, r := range rows[1:] {
		number := func(i int) uint64 {
			n, err := strconv.ParseUint(r[i], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		m := missCount{trace: r[0], page: map[string]string{"4096": "4KiB", "2097152": "2MiB"}[r[1]], refs: number(2),
			policy: r[3], ways: r[4], entries: int(number(5)), misses: number(6), distinct: number(7)}
		if keep(&m) {
			all = append(all, m)
		}
	}
	return all
}

// settings is the configuration that the counts are exact for.
func (m *missCount) settings() []string {
	policy, ways := m.policy, m.ways
	if policy == "direct" {
		policy = "lru"
	}
	if ways == "full" {
		ways = "0"
	}
	return []string{"workload.outstanding=1", "tpt.mtt.line_entries=1", "tpt.mtt.index=page", "workload.qps=1",
		"host.page=" + m.page, "tpt.page=" + m.page, "host.memory=4GiB", "host.llc.ddio_lines=0",
		"tpt.mtt.replacement=" + policy, "tpt.mtt.ways=" + ways, fmt.Sprintf("tpt.mtt.entries=%d", m.entries)}
}

// count runs the rows on all processors and compares the misses.
func count(t *testing.T, inputs map[string]*Input, rows []missCount) {
	t.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(rows)); i = next.Add(1) - 1 {
				m := &rows[i]
				in := *inputs[m.trace]
				in.Accesses = in.Accesses[:min(m.refs, uint64(len(in.Accesses)))]
				o, err := execute(&in, m.settings())
				if err != nil {
					t.Errorf("%+v: %v", *m, err)
					continue
				}
				if broken := o.broken(); broken != "" {
					t.Errorf("%+v: %s", *m, broken)
				}
				mtt := &o.sum.TPT.MTT
				if mtt.Misses != m.misses || mtt.Lookups != m.refs || mtt.Misses < m.distinct {
					t.Errorf("%+v: %d misses of %d look-ups", *m, mtt.Misses, mtt.Lookups)
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d rows", len(rows))
}

func exampleInput(t testing.TB, limit uint64) *Input {
	t.Helper()
	trace, err := workload.Example()
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	return readInput(t, trace, limit)
}

func readInput(t testing.TB, trace *workload.Trace, limit uint64) *Input {
	t.Helper()
	in, err := ReadInput(trace, limit)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func sharedInput(t testing.TB, name string, limit uint64) *Input {
	t.Helper()
	trace, err := workload.Open(sharedFile(t, "traces/"+name+".csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	return readInput(t, trace, limit)
}

// The misses of the trace that the program carries are those of the independent
// simulator, to the unit.
func TestMissCountsOfExample(t *testing.T) {
	count(t, map[string]*Input{"redis": exampleInput(t, prefix)}, redisCounts)
}

// So are those of the recorded traces: two sizes of each policy, ways and page here;
// with RNICMMU_LONG=1 every size of the first 200,000 references, and with
// RNICMMU_LONG=2 of the whole traces.
func TestMissCounts(t *testing.T) {
	long, seen := os.Getenv("RNICMMU_LONG"), map[string]int{}
	if testing.Short() && long == "" {
		t.Skip("short")
	}
	rows := readMissCounts(t, func(m *missCount) bool {
		switch {
		case long == "2":
			return m.refs != prefix
		case m.refs != prefix || long == "1":
			return m.refs == prefix
		}
		// Sizes at which policies differ most.
		class := m.trace + m.page + m.policy + m.ways
		if m.trace != "sqlite" || m.entries < map[string]int{"4KiB": 512, "2MiB": 8}[m.page] || seen[class] == 2 {
			return false
		}
		seen[class]++
		return true
	})
	limit := uint64(prefix)
	if long == "2" {
		limit = 0
	}
	for _, name := range []string{"redis", "sqlite"} {
		t.Run(name, func(t *testing.T) {
			var own []missCount
			for _, m := range rows {
				if m.trace == name {
					own = append(own, m)
				}
			}
			if len(own) > 0 {
				count(t, map[string]*Input{name: sharedInput(t, name, limit)}, own)
			}
		})
	}
}
