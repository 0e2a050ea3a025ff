package mrc

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"rnicmmu/model"
	"rnicmmu/model/cache"
	"rnicmmu/workload"
)

// curve names the rows of the table that one call of Curve answers.
type curve struct {
	trace, pageBytes, refs, policy, ways string
}

// known is a row of the table.
type known struct {
	entries      int
	misses, cold uint64
}

// embedded are rows of the table for the trace that the program carries, so
// that something is compared where the table is absent.
var embedded = map[curve][]known{
	{"redis", "4096", "685000", "lru", "full"}:     {{64, 154023, 12682}, {128, 126836, 12682}},
	{"redis", "4096", "685000", "fifo", "full"}:    {{64, 161165, 12682}, {128, 137875, 12682}},
	{"redis", "4096", "685000", "direct", "1"}:     {{64, 199477, 12682}, {4096, 37909, 12682}},
	{"redis", "4096", "685000", "lru", "4"}:        {{64, 161702, 12682}, {4096, 20504, 12682}},
	{"redis", "4096", "685000", "lru", "8"}:        {{64, 159359, 12682}, {4096, 19236, 12682}},
	{"redis", "2097152", "200000", "lru", "full"}:  {{4, 36418, 45}, {16, 15214, 45}, {64, 45, 45}, {4096, 45, 45}},
	{"redis", "2097152", "200000", "fifo", "full"}: {{4, 40963, 45}, {16, 17947, 45}, {64, 45, 45}, {4096, 45, 45}},
}

// table reads the exact misses that an independent simulator counted on
// recorded programs; nil where they are absent.
func table(t *testing.T, dir string) map[curve][]known {
	f, err := os.Open(filepath.Join(dir, "miss_counts.csv"))
	if err != nil {
		return nil
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	curves := map[curve][]known{}
	for _, r := range rows[1:] {
		c := curve{r[0], r[1], r[2], r[3], r[4]}
		k := known{}
		k.entries, _ = strconv.Atoi(r[5])
		k.misses, _ = strconv.ParseUint(r[6], 10, 64)
		k.cold, _ = strconv.ParseUint(r[7], 10, 64)
		curves[c] = append(curves[c], k)
	}
	return curves
}

// TestMissCounts compares with the table, each row to the unit.
func TestMissCounts(t *testing.T) {
	shared := os.Getenv("RNICMMU_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(shared, "traces")
	curves := table(t, dir)
	if curves == nil {
		t.Log("recorded traces not found: the embedded one alone")
		curves = embedded
	}
	accesses := map[string][]workload.Access{}
	references := map[[3]string]*References{}
	for c, rows := range curves {
		if accesses[c.trace] == nil {
			accesses[c.trace] = recorded(t, dir, c.trace)
		}
		key := [3]string{c.trace, c.pageBytes, c.refs}
		if references[key] == nil {
			// Every access of these traces is within one page: references are accesses.
			limit, _ := strconv.ParseUint(c.refs, 10, 64)
			shift := map[string]model.PageShift{"4096": model.Shift4K, "2097152": model.Shift2M}[c.pageBytes]
			references[key] = read(t, accesses[c.trace], shift, limit)
		}
		compare(t, c, references[key], rows)
	}
}

func recorded(t *testing.T, dir, name string) []workload.Access {
	trace, err := workload.Open(filepath.Join(dir, name+".csv.gz"))
	if err != nil && name == "redis" {
		trace, err = workload.Example()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	all, err := workload.ReadAll(trace, 0)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func compare(t *testing.T, c curve, refs *References, rows []known) {
	policy := cache.LRU
	if c.policy == "fifo" {
		policy = cache.FIFO
	}
	ways, _ := strconv.Atoi(c.ways) // "full" is no number: 0
	var entries []int
	for _, r := range rows {
		entries = append(entries, r.entries)
	}
	points, err := Curve(refs, policy, ways, entries)
	if err != nil {
		t.Fatal(err)
	}
	if n := strconv.Itoa(refs.Len()); n != c.refs {
		t.Errorf("%+v: %s references", c, n)
	}
	for i, r := range rows {
		if points[i].Misses != r.misses || uint64(refs.Pages()) != r.cold {
			t.Errorf("%+v, %d entries: %d misses, %d cold; want %d, %d", c, r.entries, points[i].Misses, refs.Pages(), r.misses, r.cold)
		}
		if policy == cache.LRU && ways == 0 && i > 0 && points[i].Misses > points[i-1].Misses {
			t.Errorf("%+v: misses rise from %d to %d entries, against inclusion", c, rows[i-1].entries, r.entries)
		}
	}
}
