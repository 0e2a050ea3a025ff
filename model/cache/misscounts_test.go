package cache

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// sharedFolder is where the recorded traces and their exact miss counts are.
func sharedFolder() string {
	if dir := os.Getenv("RNICMMU_SHARED"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "shared")
}

// references reads a trace's page references: one a page that an access spans.
func references(t *testing.T, file string, shift uint) []uint64 {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var pages []uint64
	lines := bufio.NewScanner(z)
	lines.Scan() // header op,va,len
	for lines.Scan() {
		_, rest, _ := strings.Cut(lines.Text(), ",")
		va, length, _ := strings.Cut(rest, ",")
		a, err := strconv.ParseUint(va, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseUint(length, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		for p := a >> shift; p <= (a+n-1)>>shift; p++ {
			pages = append(pages, p)
		}
	}
	return pages
}

// run is a trace without immediate repeats, which hit in any cache and change
// the order of neither LRU nor FIFO.
type run struct {
	pages []uint64
	short int // how much of pages makes the first shortRefs references
}

const shortRefs = 200_000

func collapse(refs []uint64) run {
	var r run
	for i, p := range refs {
		if i == shortRefs {
			r.short = len(r.pages)
		}
		if i == 0 || p != refs[i-1] {
			r.pages = append(r.pages, p)
		}
	}
	return r
}

func misses(c *Cache, pages []uint64) (n int) {
	for _, p := range pages {
		if _, hit := c.Lookup(p, p); !hit {
			c.Fill(p, p)
			n++
		}
	}
	return n
}

type shape struct{ trace, pageBytes, policy, ways, entries string }

// TestMissCounts compares with the misses that an independent simulator
// counted on recorded programs, each row to the unit.
func TestMissCounts(t *testing.T) {
	dir := filepath.Join(sharedFolder(), "traces")
	f, err := os.Open(filepath.Join(dir, "miss_counts.csv"))
	if err != nil {
		t.Skip("recorded traces not found")
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	runs := map[[2]string]run{}
	want := map[shape]map[string]string{} // refs → misses
	var shapes []shape
	for _, r := range rows[1:] {
		s := shape{r[0], r[1], r[3], r[4], r[5]}
		if want[s] == nil {
			want[s] = map[string]string{}
			shapes = append(shapes, s)
		}
		want[s][r[2]] = r[6]
		key := [2]string{r[0], r[1]}
		if _, ok := runs[key]; !ok {
			shift := map[string]uint{"4096": 12, "2097152": 21}[r[1]]
			runs[key] = collapse(references(t, filepath.Join(dir, r[0]+".csv.gz"), shift))
		}
	}
	work := make(chan shape)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for s := range work {
				checkShape(t, s, runs[[2]string{s.trace, s.pageBytes}], want[s])
			}
		})
	}
	for _, s := range shapes {
		work <- s
	}
	close(work)
	group.Wait()
	if len(rows) < 700 {
		t.Errorf("only %d rows compared", len(rows))
	}
}

func checkShape(t *testing.T, s shape, r run, want map[string]string) {
	g := Geometry{Line: 1, Policy: LRU}
	if s.policy == "fifo" {
		g.Policy = FIFO
	}
	g.Entries, _ = strconv.Atoi(s.entries)
	g.Ways, _ = strconv.Atoi(s.ways) // "full" is no number: 0
	c, err := New(g)
	if err != nil {
		t.Error(err)
		return
	}
	short := misses(c, r.pages[:r.short])
	full := short + misses(c, r.pages[r.short:])
	for refs, m := range want {
		got := full
		if refs == strconv.Itoa(shortRefs) {
			got = short
		}
		if strconv.Itoa(got) != m {
			t.Errorf("%+v, %s refs: %d misses, want %s", s, refs, got, m)
		}
	}
}
