package mrc

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
	"rnicmmu/model/cache"
	"rnicmmu/workload"
)

func read(t testing.TB, accesses []workload.Access, shift model.PageShift, limit uint64) *References {
	t.Helper()
	refs, err := Read(workload.NewSlice(accesses), shift, limit)
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

// naive counts the misses of one cache with plain lists, the next victim last.
func naive(refs []page, policy cache.Policy, sets, ways int) (misses uint64) {
	lists := make([][]page, sets)
	for _, p := range refs {
		l := &lists[p.number%uint64(sets)]
		at := slices.Index(*l, p)
		switch {
		case at < 0:
			misses++
			*l = slices.Insert(*l, 0, p)
			*l = (*l)[:min(len(*l), ways)]
		case policy == cache.LRU:
			*l = slices.Insert(slices.Delete(*l, at, at+1), 0, p)
		}
	}
	return misses
}

// one is an access of one byte to a page.
func one(p page) workload.Access {
	return workload.Access{VA: model.VA(p.number << 12), Len: 1, Host: p.host}
}

func TestCurveIsNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pages := rapid.IntRange(1, 150).Draw(t, "pages")
		draw := rapid.Custom(func(t *rapid.T) page {
			return page{rapid.Uint64Range(0, uint64(pages)).Draw(t, "number"), rapid.Uint16Range(0, 1).Draw(t, "host")}
		})
		n := rapid.IntRange(1, 1500).Draw(t, "references")
		trace := rapid.SliceOfN(draw, n, n).Draw(t, "trace")
		var accesses []workload.Access
		for _, p := range trace {
			accesses = append(accesses, one(p))
		}
		refs, err := Read(workload.NewSlice(accesses), model.Shift4K, 0)
		if err != nil {
			t.Fatal(err)
		}
		policy := rapid.SampledFrom([]cache.Policy{cache.LRU, cache.FIFO}).Draw(t, "policy")
		ways := rapid.SampledFrom([]int{0, 1, 2, 3, 8, 65}).Draw(t, "ways")
		sizes := []int{1, 2, 3, 7, 64, 100, 128, 400}
		if ways > 0 {
			sizes = []int{ways, 2 * ways, 4 * ways, 32 * ways}
		}
		points, err := Curve(refs, policy, ways, sizes)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range points {
			sets, lines := 1, sizes[i]
			if ways > 0 {
				sets, lines = sizes[i]/ways, ways
			}
			if want := naive(trace, policy, sets, lines); p.Entries != sizes[i] || p.Misses != want {
				t.Fatalf("%s, %d ways, %d entries: %+v, want %d misses", policy, ways, sizes[i], p, want)
			}
		}
	})
}

// Every number of ways comes out of one pass at a number of sets.
func TestSetLRUServesAllWays(t *testing.T) {
	var trace []page
	var accesses []workload.Access
	for i := range uint64(5000) {
		trace = append(trace, page{number: i * i % 211})
		accesses = append(accesses, one(trace[i]))
	}
	refs := read(t, accesses, model.Shift4K, 0)
	for _, sets := range []int{1, 4, 32} {
		h := SetLRU(refs, sets, 12)
		for ways := 1; ways <= 12; ways++ {
			if got, want := h.Misses(ways), naive(trace, cache.LRU, sets, ways); got != want {
				t.Errorf("%d sets of %d ways: %d misses, want %d", sets, ways, got, want)
			}
		}
	}
}

// A cycle through m pages is LRU's closed form: with fewer than m lines every
// reference misses, with m or more each page misses once. It is also what
// renumbers most often.
func TestCycle(t *testing.T) {
	for _, m := range []int{1, 31, 32, 33, 64, 1000} {
		var accesses []workload.Access
		for i := range 20 * m {
			accesses = append(accesses, one(page{number: uint64(i % m)}))
		}
		h := LRU(read(t, accesses, model.Shift4K, 0))
		for lines := range m + 2 {
			want := uint64(20 * m)
			if lines >= m {
				want = uint64(m)
			}
			if got := h.Misses(lines); got != want {
				t.Errorf("%d pages, %d lines: %d misses, want %d", m, lines, got, want)
			}
		}
	}
}

func TestRead(t *testing.T) {
	refs := read(t, []workload.Access{
		{VA: 0x1fff, Len: 2},                  // pages 1, 2
		{VA: 0x3000, Len: 0x2000},             // 3, 4
		{Op: model.OpSend, Len: 64},           // none
		{VA: 0x5000, Len: 0},                  // none
		{VA: 0x2000, Len: 1, Host: 1},         // 2 of another host
		{VA: ^model.VA(0) - 0xfff, Len: 4096}, // the last page
		{VA: 0x9000, Len: 1},                  // past the limit
	}, model.Shift4K, 6)
	want := []page{{1, 0}, {2, 0}, {3, 0}, {4, 0}, {2, 1}, {1<<52 - 1, 0}}
	if !slices.Equal(refs.pages, want) || refs.Len() != 6 || refs.Pages() != 6 {
		t.Errorf("%d references to %v, want one each to %v", refs.Len(), refs.pages, want)
	}
	if _, err := Read(workload.NewSlice([]workload.Access{{Op: model.OpSend, Len: 1}}), 12, 0); err == nil {
		t.Error("SENDs alone: no error")
	}
	long := slices.Repeat([]workload.Access{{Len: workload.MaxMessage}}, 2000)
	if _, err := Read(workload.NewSlice(long), 1, 0); err == nil || !strings.Contains(err.Error(), "page references") {
		t.Errorf("more than 10^9 references: error %v", err)
	}
}

func TestCurveErrors(t *testing.T) {
	refs := read(t, []workload.Access{one(page{})}, model.Shift4K, 0)
	for _, c := range []struct {
		policy     cache.Policy
		ways, size int
		want       string
	}{
		{cache.LRU, 3, 64, "64 lines do not divide into sets of 3 ways"},
		{cache.FIFO, 4, 24, "6 sets: must be a power of two"},
		{cache.LRU, 0, 0, "at least one entry"},
		{cache.LRU, -1, 64, "ways -1"},
		{cache.FIFO, 4, 2 * MaxEntries, "at most"},
		{cache.NRU, 4, 64, "lru or fifo is due"},
	} {
		if _, err := Curve(refs, c.policy, c.ways, []int{c.size}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}

func TestDefaultEntries(t *testing.T) {
	for _, c := range []struct {
		pages, ways int
		want        []int
	}{
		{45, 0, []int{64}}, {64, 1, []int{64}}, {65, 4, []int{64, 128}},
		{1000, 0, []int{64, 128, 256, 512, 1024}}, {200, 128, []int{128, 256}}, {100, 3, []int{96, 192}},
	} {
		if got := DefaultEntries(c.pages, c.ways); !slices.Equal(got, c.want) {
			t.Errorf("%d pages, %d ways: %v, want %v", c.pages, c.ways, got, c.want)
		}
	}
}

func benchmarkTrace(b *testing.B) []workload.Access {
	t, err := workload.Example()
	if err != nil {
		b.Fatal(err)
	}
	all, err := workload.ReadAll(t, 0)
	if err != nil {
		b.Fatal(err)
	}
	return all
}

func BenchmarkRedis(b *testing.B) {
	all := benchmarkTrace(b)
	refs := read(b, all, model.Shift4K, 0)
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.N)*float64(refs.Len())/1e6/b.Elapsed().Seconds(), "Mref/s")
		})
	}
	run("Read", func() { read(b, all, model.Shift4K, 0) })
	run("LRU", func() { LRU(refs) })
	for _, ways := range []int{1, 8, 64} {
		run(fmt.Sprintf("SetLRU-%d", ways), func() { SetLRU(refs, 2048/ways, ways) })
	}
	run("FIFO-2048", func() {
		if _, err := Simulate(refs, cache.Geometry{Entries: 2048, Line: 1, Policy: cache.FIFO}); err != nil {
			b.Fatal(err)
		}
	})
}
