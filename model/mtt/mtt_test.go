package mtt

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

func mustLayout(t testing.TB, base model.PA, entries uint64, levels int) Layout {
	t.Helper()
	l, err := NewLayout(base, entries, levels)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// decode is the inverse of Entry.Encode.
func decode(w Word) Entry {
	return Entry{PA: w.PA(), Read: w&bitRead != 0, Write: w&bitWrite != 0,
		Present: w.Present(), Suspended: w.Suspended()}
}

func TestEntryBits(t *testing.T) {
	for _, tc := range []struct {
		e Entry
		w Word
	}{
		{Entry{}, 0},
		{Entry{PA: 0x1234_5000, Read: true, Present: true}, 0x1234_5005},
		{Entry{PA: 0x1234_5000, Read: true, Write: true, Present: true}, 0x1234_5007},
		{Entry{PA: 0xFFFF_FFFF_FFFF_F000, Present: true, Suspended: true}, 0xFFFF_FFFF_FFFF_F00C},
	} {
		if got := tc.e.Encode(); got != tc.w || decode(got) != tc.e {
			t.Errorf("%+v encodes to %#x, want %#x; back %+v", tc.e, got, tc.w, decode(got))
		}
	}
}

// An entry serves an access only with presence, right and no suspension (FLT-8).
func TestAllows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := Entry{PA: 0x1000, Read: rapid.Bool().Draw(t, "r"), Write: rapid.Bool().Draw(t, "w"),
			Present: rapid.Bool().Draw(t, "p"), Suspended: rapid.Bool().Draw(t, "s")}
		w := e.Encode()
		usable := e.Present && !e.Suspended
		if w.Allows(false) != (usable && e.Read) || w.Allows(true) != (usable && e.Write) {
			t.Fatalf("%+v: read %v, write %v", e, w.Allows(false), w.Allows(true))
		}
		for _, on := range []bool{true, false} {
			want := e
			want.Suspended = on
			if got := decode(w.WithSuspended(on)); got != want {
				t.Fatalf("WithSuspended(%v) = %+v", on, got)
			}
		}
	})
}

func TestLayoutErrors(t *testing.T) {
	for _, tc := range []struct {
		base    model.PA
		entries uint64
		levels  int
	}{{8, 1, 1}, {0, 0, 1}, {0, 1<<40 + 1, 1}, {0, 1, 0}, {0, 1, 4}, {1<<64 - 4096, 1, 1}} {
		if _, err := NewLayout(tc.base, tc.entries, tc.levels); err == nil {
			t.Errorf("%+v accepted", tc)
		}
	}
}

// Addresses by hand: 1024 entries are two chunks of leaves (8 KiB), one chunk
// of directory 1 and one of directory 2.
func TestWalkByHand(t *testing.T) {
	const base = 0x10_0000
	for _, tc := range []struct {
		levels int
		want   []model.PA // for entry 515
		bytes  uint64
	}{
		{1, []model.PA{base + 8*515}, 0x2000},
		{2, []model.PA{base + 0x2000 + 8, base + 8*515}, 0x3000},
		{3, []model.PA{base + 0x3000, base + 0x2000 + 8, base + 8*515}, 0x4000},
	} {
		l := mustLayout(t, base, 1024, tc.levels)
		reads := l.Walk(515)
		if got := reads[:l.levels]; !slices.Equal(got, tc.want) {
			t.Errorf("%d levels: %#x, want %#x", tc.levels, got, tc.want)
		}
		if uint64(l.end-l.base[0]) != tc.bytes || l.Address(515) != base+8*515 {
			t.Errorf("%d levels: %d bytes, leaf at %#x", tc.levels, uint64(l.end-l.base[0]), l.Address(515))
		}
	}
}

// 20 GiB of 4 KiB pages: 40 MiB of leaves, 10240 directory entries (80 KiB),
// 20 entries of one 4 KiB chunk.
func TestTwentyGigabytes(t *testing.T) {
	l := mustLayout(t, 0, 20<<30>>12, 3)
	if want := uint64(40<<20 + 80<<10 + 4<<10); uint64(l.end-l.base[0]) != want {
		t.Errorf("%d bytes, want %d", uint64(l.end-l.base[0]), want)
	}
}

// Two entries share the read of a level exactly if they share the index bits
// above it; no address belongs to two levels.
func TestWalkSharesUpperLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<22).Draw(t, "entries")
		l, err := NewLayout(0x4000, n, 3)
		if err != nil {
			t.Fatal(err)
		}
		i, j := rapid.Uint64Max(n-1).Draw(t, "i"), rapid.Uint64Max(n-1).Draw(t, "j")
		a, b := l.Walk(i), l.Walk(j)
		for step, shift := range []int{18, 9, 0} {
			if (a[step] == b[step]) != (i>>shift == j>>shift) {
				t.Fatalf("step %d of %d and %d: %#x, %#x", step, i, j, a[step], b[step])
			}
		}
		if !(b[2] < a[1] && b[1] < a[0] && a[0] < 0x4000+model.PA(uint64(l.end-l.base[0]))) {
			t.Fatalf("levels overlap: %#x %#x", a, b)
		}
	})
}

func TestLine(t *testing.T) {
	for _, tc := range []struct {
		i             uint64
		n             int
		number, first uint64
	}{{0, 8, 0, 0}, {7, 8, 0, 0}, {8, 8, 1, 8}, {13, 4, 3, 12}, {13, 1, 13, 13}, {13, 3, 4, 12}} {
		if number, first := Line(tc.i, tc.n); number != tc.number || first != tc.first {
			t.Errorf("Line(%d, %d) = %d, %d", tc.i, tc.n, number, first)
		}
	}
}

func TestTableAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 3*storeEntries).Draw(t, "entries")
		l, err := NewLayout(0, n, 2)
		if err != nil {
			t.Fatal(err)
		}
		table, want := NewTable(l), map[uint64]Word{}
		for range 200 {
			i := rapid.Uint64Max(n+1).Draw(t, "i")
			if rapid.IntRange(0, 9).Draw(t, "zap") > 0 {
				w := Word(rapid.Uint64().Draw(t, "w"))
				if table.Set(i, w) != (i < n) {
					t.Fatalf("Set(%d) of %d", i, n)
				}
				if i < n {
					want[i] = w
				}
				continue
			}
			count := rapid.Uint64Max(2*storeEntries).Draw(t, "n")
			present := uint64(0)
			for k, w := range want {
				if k >= i && k-i < count {
					if w.Present() {
						present++
					}
					delete(want, k)
				}
			}
			if got := table.Zap(i, count, false); got != present {
				t.Fatalf("Zap(%d, %d) = %d, want %d", i, count, got, present)
			}
		}
		for i := range n + 2 {
			if table.Get(i) != want[i] {
				t.Fatalf("entry %d is %#x, want %#x", i, table.Get(i), want[i])
			}
		}
	})
}

// Of a 32-entry region with entries 0 and 16 present, an invalidation zaps
// two: scenario A16.
func TestZapCountsPresentOnly(t *testing.T) {
	table := NewTable(mustLayout(t, 0, 32, 1))
	present := Entry{PA: 0x1000, Read: true, Present: true}.Encode()
	table.Set(0, present)
	table.Set(16, present)
	if got := table.Zap(0, 32, false); got != 2 {
		t.Errorf("zapped %d, want 2", got)
	}
}

// A page that moves keeps the suspended bit when it is zapped, one that is
// absent is left as it is.
func TestZapOfMovingPages(t *testing.T) {
	table := NewTable(mustLayout(t, 0, 4, 1))
	table.Set(0, Entry{PA: 0x1000, Read: true, Present: true}.Encode())
	if got := table.Zap(0, 2, true); got != 1 || table.Get(0) != bitSuspended || table.Get(1) != 0 {
		t.Errorf("zapped %d: %#x, %#x", got, table.Get(0), table.Get(1))
	}
	if got := table.Zap(0, 2, false); got != 0 || table.Get(0) != 0 {
		t.Errorf("zapped %d more: %#x", got, table.Get(0))
	}
}

// SUS-2, SUS-3: against a model that keeps for each entry its suspensions, and
// whether its frame is one of before the last of them: an entry opens with the
// last suspension, never with an old frame.
func TestSuspensions(t *testing.T) {
	const entries = 16
	layout := mustLayout(t, 0, entries, 1)
	rapid.Check(t, func(t *rapid.T) {
		table := NewTable(layout)
		var count [entries]int
		var frame [entries]Word // of a usable one; 0: none
		var active []span
		for i := range uint64(60) {
			first := rapid.Uint64Max(entries-1).Draw(t, "first")
			s := span{first, rapid.Uint64Range(1, entries-first).Draw(t, "n")}
			switch rapid.IntRange(0, 4).Draw(t, "op") {
			case 0:
				frame[first] = Entry{PA: model.PA(i+1) << 12, Read: true, Write: i%2 == 0, Present: true}.Encode()
				table.Program(first, frame[first])
			case 1:
				table.Suspend(s.first, s.n)
				active = append(active, s)
				for e := first; e < first+s.n; e++ {
					count[e]++
					frame[e] = 0
				}
			case 2, 3:
				at := slices.Index(active, s)
				if len(active) > 0 && at < 0 && i%3 > 0 {
					at = rapid.IntRange(0, len(active)-1).Draw(t, "which")
					s = active[at]
				}
				if err := table.Unsuspend(s.first, s.n); (err == nil) != (at >= 0) {
					t.Fatalf("unsuspend %v of %v: %v", s, active, err)
				}
				if at < 0 {
					continue
				}
				active = slices.Delete(active, at, at+1)
				for e := s.first; e < s.first+s.n; e++ {
					count[e]--
				}
			case 4:
				table.Protect(s.first, s.n)
				for e := first; e < first+s.n; e++ {
					frame[e] &^= bitWrite
				}
			}
			for e := range uint64(entries) {
				w := table.Get(e)
				open := count[e] == 0
				if open && w != frame[e] || !open && (w.Allows(false) || frame[e] != 0 && w != frame[e].WithSuspended(true)) {
					t.Fatalf("entry %d, %d suspensions: %#x, want %#x", e, count[e], w, frame[e])
				}
			}
		}
	})
}

func TestPagesByHand(t *testing.T) {
	if _, err := NewPages(0, 1, model.Shift2M, model.Shift4K); err == nil {
		t.Error("adapter page larger than the host's accepted")
	}
	// From 4 KiB below a 2 MiB boundary to 4 KiB above the next.
	p, err := NewPages(0x3F_F000, 1<<21+0x2000, model.Shift4K, model.Shift2M)
	if err != nil {
		t.Fatal(err)
	}
	if p.adapter.Span(p.base, p.length) != 514 {
		t.Errorf("%d entries, want 514", p.adapter.Span(p.base, p.length))
	}
	for _, tc := range []struct {
		va       model.VA
		length   uint64
		first, n uint64
	}{
		{0x20_0000, 1, 0, 1},         // the region's first page only
		{0x40_0000, 1, 1, 512},       // a whole host page
		{0x5F_FFFF, 2, 1, 513},       // its last byte and the next page
		{0x3F_FFFF, 1 << 22, 0, 514}, // everything
		{0x80_0000, 4096, 0, 0},      // beyond
		{0x40_0000, 0, 0, 0},
	} {
		if first, n := p.Covered(tc.va, tc.length); first != tc.first || n != tc.n {
			t.Errorf("Covered(%#x, %#x) = %d, %d, want %d, %d", tc.va, tc.length, first, n, tc.first, tc.n)
		}
	}
	if got := p.Address(0, 0x1000_0000); got != 0x101F_F000 {
		t.Errorf("entry 0 at %#x", got)
	}
	if got := p.Address(3, 0x2000_0000); got != 0x2000_2000 || p.HostPage(3) != 2 {
		t.Errorf("entry 3 at %#x of host page %d", got, p.HostPage(3))
	}
}

// Covered is exactly the entries whose host page the range touches.
func TestCoveredProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := model.VA(rapid.Uint64Range(0, 1<<24).Draw(t, "base"))
		length := rapid.Uint64Range(1, 1<<22).Draw(t, "length")
		host := rapid.SampledFrom([]model.PageShift{12, 16, 21}).Draw(t, "host")
		adapter := rapid.SampledFrom([]model.PageShift{12, 16, 21}).Filter(
			func(s model.PageShift) bool { return s <= host }).Draw(t, "adapter")
		p, err := NewPages(base, length, adapter, host)
		if err != nil {
			t.Fatal(err)
		}
		va := model.VA(rapid.Uint64Range(0, 1<<25).Draw(t, "va"))
		n := rapid.Uint64Range(1, 1<<22).Draw(t, "n")
		first, count := p.Covered(va, n)
		for i := range p.adapter.Span(p.base, p.length) {
			h := p.HostPage(i)
			touched := h >= host.Number(va) && h <= host.Number(va+model.VA(n-1))
			if in := i >= first && i-first < count; in != touched {
				t.Fatalf("entry %d: covered %v, touched %v", i, in, touched)
			}
			if p.Entry(p.VA(i)) != i {
				t.Fatalf("entry %d starts at %#x, which is in entry %d", i, p.VA(i), p.Entry(p.VA(i)))
			}
		}
	})
}

func BenchmarkGetSet(b *testing.B) {
	table := NewTable(mustLayout(b, 0, 1<<20, 1))
	b.ReportAllocs()
	i := uint64(0)
	for b.Loop() {
		i = (i + 7919) & (1<<20 - 1)
		table.Set(i, table.Get(i)|bitPresent)
	}
}
