package coverage

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawn is a report of a run that hit what was drawn.
func drawn(t *rapid.T, name string) *Report {
	c := &Collector{hits: make([]uint64, counters)}
	for range rapid.IntRange(0, 20).Draw(t, name) {
		c.hits[rapid.IntRange(0, counters-1).Draw(t, "bin")] += rapid.Uint64Range(1, 1<<40).Draw(t, "hits")
	}
	return c.Report("test", rapid.Uint64Range(0, 5).Draw(t, "seed"))
}

func merged(t *rapid.T, a, b *Report) *Report {
	m, err := Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMerge: it is associative and commutative, no run is its neutral element,
// and every bin has the hits of both.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawn(t, "a"), drawn(t, "b"), drawn(t, "c")
		before, _ := a.JSON()
		if x, y := merged(t, merged(t, a, b), c), merged(t, a, merged(t, b, c)); !reflect.DeepEqual(x, y) {
			t.Error("not associative")
		}
		ab := merged(t, a, b)
		if !reflect.DeepEqual(ab, merged(t, b, a)) {
			t.Error("not commutative")
		}
		if !reflect.DeepEqual(a, merged(t, Empty("test"), a)) {
			t.Error("no run changes something")
		}
		for i := range ab.Groups {
			covered := 0
			for j, x := range ab.Groups[i].Bins {
				if x.Hits != a.Groups[i].Bins[j].Hits+b.Groups[i].Bins[j].Hits {
					t.Errorf("%s: %s has %d hits", ab.Groups[i].Name, x.Name, x.Hits)
				}
				if x.Hits > 0 && x.Due() {
					covered++
				}
			}
			if covered != ab.Groups[i].Covered {
				t.Errorf("%s: %d covered, not %d", ab.Groups[i].Name, ab.Groups[i].Covered, covered)
			}
		}
		if ab.Runs != 2 || len(ab.Seeds) > 2 || !slices.IsSorted(ab.Seeds) || !slices.Contains(ab.Seeds, a.Seeds[0]) {
			t.Errorf("%d runs, seeds %v", ab.Runs, ab.Seeds)
		}
		if after, _ := a.JSON(); !bytes.Equal(before, after) {
			t.Error("a report that was merged has changed")
		}
	})
}

// TestMergeOfStrangers: reports with other bins, or of another version, are
// refused.
func TestMergeOfStrangers(t *testing.T) {
	version, group, bin, fewer := Empty("other"), Empty("test"), Empty("test"), Empty("test")
	group.Groups[3].Name = "x"
	bin.Groups[3].Bins[0].Name = "x"
	fewer.Groups = fewer.Groups[1:]
	for _, r := range []*Report{version, group, bin, fewer} {
		if _, err := Merge(Empty("test"), r); err == nil {
			t.Error("merged")
		}
	}
}

// TestRoundTrip: what is written is read again; other layouts are refused.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a := drawn(r, "a")
		path := filepath.Join(t.TempDir(), "coverage.json")
		data, err := a.JSON()
		if err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if b, err := Read(path); err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("read again: %v", err)
		}
		if err := os.WriteFile(path, bytes.Replace(data, []byte(Schema), []byte("rnicmmu.coverage.0"), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil {
			t.Error("another layout was read")
		}
	})
}

// TestPage: the page names every bin, what is missing before what was hit, and
// needs nothing from elsewhere.
func TestPage(t *testing.T) {
	c := &Collector{hits: make([]uint64, counters)}
	c.hit(allowedSet, 0, 0)
	var b bytes.Buffer
	if err := c.Report("test", 1).HTML(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, g := range groups {
		for _, x := range g.Bins {
			if !strings.Contains(text, "<td>"+x.Name) {
				t.Errorf("%s: %s is not on the page", g.Name, x.Name)
			}
		}
	}
	at := strings.Index(text, `id="allowed_set"`)
	if hit, missing := strings.Index(text[at:], "store × 1<"), strings.Index(text[at:], "read × 1<"); hit < missing {
		t.Error("a bin that was hit is before one that was not")
	}
	if strings.Contains(text, "http") || strings.Contains(text, "src=") {
		t.Error("the page refers to something outside it")
	}
}

// TestBroken: a bin that must not occur is told of when it was hit.
func TestBroken(t *testing.T) {
	r := Empty("test")
	if b := r.Broken(); len(b) > 0 {
		t.Errorf("of no run: %v", b)
	}
	r.Groups[0].Bins[0].Illegal, r.Groups[0].Bins[0].Hits = "reason", 1
	if b := r.Broken(); len(b) != 1 || !strings.HasSuffix(b[0], "reason") {
		t.Errorf("told: %v", b)
	}
}

// TestSize: bins of sizes are powers of two, and the last has no end.
func TestSize(t *testing.T) {
	if got := sizes(6); !slices.Equal(got, []string{"0", "1", "2", "3–4", "5–8", "over 8"}) {
		t.Errorf("%q", got)
	}
	for _, x := range []struct {
		n   uint64
		bin int
	}{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 3}, {5, 4}, {8, 4}, {9, 5}, {1 << 60, 5}} {
		if got := size(x.n, 6); got != x.bin {
			t.Errorf("%d: bin %d, not %d", x.n, got, x.bin)
		}
	}
}
