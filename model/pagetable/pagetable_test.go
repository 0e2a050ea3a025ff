package pagetable

import (
	"errors"
	"slices"
	"testing"

	"rnicmmu/model"
)

const storeBase = 0x1_0000_0000

func newTable(t testing.TB, frames int) (*Store, *Table) {
	t.Helper()
	s, err := NewStore(storeBase, frames)
	if err != nil {
		t.Fatal(err)
	}
	table, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return s, table
}

// Entries worked out by hand from the processor manuals.
func TestEntriesByHand(t *testing.T) {
	for _, tc := range []struct {
		name  string
		va    model.VA
		pa    model.PA
		shift model.PageShift
		flags PTE
		write bool
		want  PTE
		depth int
	}{
		// P 1 + W 2 + U 4 = 7
		{"4 KiB", 0x1000, 0x1234_5000, model.Shift4K, Write | User, false, 0x1234_5007, 4},
		// and A 0x20 + D 0x40
		{"4 KiB written", 0x1000, 0x1234_5000, model.Shift4K, Write | User, true, 0x1234_5067, 4},
		// PS 0x80 + U 4 + P 1
		{"2 MiB read-only", 0x4000_0000, 0x1_8020_0000, model.Shift2M, User, false, 0x1_8020_0085, 3},
		{"1 GiB no execute", 0x8000_0000, 0xC000_0000, model.Shift1G, Write | User | NoExecute, false,
			0x8000_0000_C000_0087, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, table := newTable(t, 16)
			if err := table.Map(tc.va, tc.pa, tc.shift, tc.flags); err != nil {
				t.Fatal(err)
			}
			if tc.write {
				if err := table.SetDirty(tc.va); err != nil {
					t.Fatal(err)
				}
			}
			w := table.Lookup(tc.va + 0x123)
			if w.Entry != tc.want || w.Depth != tc.depth || w.Shift != tc.shift {
				t.Errorf("entry %#x, depth %d, shift %d", uint64(w.Entry), w.Depth, w.Shift)
			}
			if got := s.Load(w.Reads[w.Depth-1]); got != tc.want {
				t.Errorf("memory holds %#x", uint64(got))
			}
			if w.Translate(tc.va+0x123) != tc.pa+0x123 || w.Writable != tc.flags.Has(Write) || !w.User {
				t.Errorf("translates to %#x, writable %v, user %v", w.Translate(tc.va+0x123), w.Writable, w.User)
			}
		})
	}
}

// The walk of 0x0000_7F12_3456_7000 by hand: indexes 254, 72, 418, 359; tables
// are allocated in order from the store's base.
func TestWalkAddressesByHand(t *testing.T) {
	s, table := newTable(t, 16)
	const va = 0x7F12_3456_7000
	if err := table.Map(va, 0x5000, model.Shift4K, 0); err != nil {
		t.Fatal(err)
	}
	w := table.Lookup(va)
	want := [4]model.PA{storeBase + 254*8, storeBase + 0x1000 + 72*8, storeBase + 0x2000 + 418*8, storeBase + 0x3000 + 359*8}
	if w.Reads != want || table.Root() != storeBase || s.Bytes() != 4*4096 {
		t.Errorf("reads %#x, want %#x; %d bytes", w.Reads, want, s.Bytes())
	}
	if upper := s.Load(want[0]); upper != storeBase+0x1000+7 {
		t.Errorf("PML4 entry %#x: P, W, U and the next table", uint64(upper))
	}
	if hole := table.Lookup(va + 1<<30); hole.Present() || hole.Depth != 2 || hole.Shift != model.Shift1G {
		t.Errorf("absent: depth %d, shift %d", hole.Depth, hole.Shift)
	}
}

func TestMapErrors(t *testing.T) {
	_, table := newTable(t, 16)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(table.Map(0, 0, model.Shift4K, 0))
	must(table.Map(0x4000_0000, 0, model.Shift1G, 0))
	for _, tc := range []struct {
		va    model.VA
		pa    model.PA
		shift model.PageShift
		want  error
	}{
		{0, 0, model.Shift4K, ErrMapped},
		{0, 0, model.Shift2M, ErrOccupied},
		{0, 0, model.Shift1G, ErrOccupied},
		{0x4000_0000, 0, model.Shift1G, ErrMapped},
		{0x4000_0000, 0, model.Shift2M, ErrCovered},
		{0x7FFF_F000, 0, model.Shift4K, ErrCovered},
		{0x1800, 0, model.Shift4K, ErrMisaligned},
		{0x20_0000, 0x1000, model.Shift2M, ErrMisaligned},
		{0x1_0000, 0, model.Shift64K, ErrPageSize},
		{0x8000_0000_0000, 0, model.Shift4K, ErrNotCanonical},
		{0x1000, 1 << 52, model.Shift4K, ErrPhysical},
	} {
		if err := table.Map(tc.va, tc.pa, tc.shift, 0); !errors.Is(err, tc.want) {
			t.Errorf("Map(%#x, %#x, %d): %v, want %v", tc.va, tc.pa, tc.shift, err, tc.want)
		}
	}
	if _, _, err := table.Unmap(0x1000); !errors.Is(err, ErrNotMapped) {
		t.Errorf("Unmap: %v", err)
	}
	if err := table.SetDirty(0x1000); !errors.Is(err, ErrNotMapped) {
		t.Errorf("SetDirty: %v", err)
	}
	if w := table.Lookup(1 << 47); w.Depth != 0 || w.Present() {
		t.Errorf("non-canonical lookup read %d entries", w.Depth)
	}
}

// ATS-1: tables whose pages are all unmapped keep a larger page away until they
// are pruned, and their frames are out of use until they are released.
func TestPrune(t *testing.T) {
	s, table := newTable(t, 16)
	small := []model.VA{0, 0x1000, 0x20_0000}
	for _, va := range small {
		if err := table.Map(va, 0, model.Shift4K, 0); err != nil {
			t.Fatal(err)
		}
	}
	const tables = 5 // PML4, PDPT, PD, two PTs
	for _, va := range small {
		if got, err := table.Prune(va, model.Shift1G, nil); !errors.Is(err, ErrOccupied) || got != nil {
			t.Errorf("Prune at %#x with a page in it: %#x, %v", uint64(va), got, err)
		}
		if _, _, err := table.Unmap(va); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Map(0, 0, model.Shift1G, 0); !errors.Is(err, ErrOccupied) {
		t.Errorf("Map over empty tables: %v", err)
	}
	pruned, err := table.Prune(0, model.Shift1G, nil)
	if err != nil || len(pruned) != 3 || s.Bytes() != tables*4096 {
		t.Fatalf("pruned %#x, %v; %d bytes of tables: want a PD and two PTs, all still taken", pruned, err, s.Bytes())
	}
	if w := table.Lookup(0); w.Depth != 2 || w.Present() {
		t.Errorf("a walk reads %d entries", w.Depth)
	}
	if err := table.Map(0x40_0000, 0, model.Shift4K, 0); err != nil {
		t.Fatal(err)
	}
	if w := table.Lookup(0x40_0000); slices.Contains(pruned, w.Reads[2]&^0xFFF) || slices.Contains(pruned, w.Reads[3]&^0xFFF) {
		t.Errorf("a table was used again before its release: reads %#x, pruned %#x", w.Reads, pruned)
	}
	for _, a := range pruned {
		s.Release(a)
	}
	if want := uint64(tables+2-3) * 4096; s.Bytes() != want {
		t.Errorf("%d bytes of tables, want %d", s.Bytes(), want)
	}
	if got, err := table.Prune(0x8000_0000, model.Shift2M, nil); err != nil || got != nil {
		t.Errorf("Prune of a hole: %#x, %v", got, err)
	}
	if _, err := table.Prune(0, model.Shift64K, nil); !errors.Is(err, ErrPageSize) {
		t.Errorf("Prune for 64 KiB: %v", err)
	}
}

func TestStoreLimits(t *testing.T) {
	for _, tc := range []struct {
		base   model.PA
		frames int
	}{{8, 1}, {0, 0}, {1 << 52, 1}, {1<<52 - 4096, 2}, {0, -1}} {
		if _, err := NewStore(tc.base, tc.frames); err == nil {
			t.Errorf("%+v accepted", tc)
		}
	}
	s, table := newTable(t, 3)
	if err := table.Map(0, 0, model.Shift4K, 0); !errors.Is(err, ErrNoMemory) {
		t.Errorf("map with too few frames: %v", err)
	}
	if err := table.Map(0, 0, model.Shift2M, 0); err != nil {
		t.Errorf("the tables made so far must serve a larger page: %v", err)
	}
	if s.Load(0) != 0 || s.Load(storeBase+0x10_0000) != 0 {
		t.Error("memory without a table is not zero")
	}
}

func TestAccessedDirtyProtect(t *testing.T) {
	s, table := newTable(t, 16)
	const va = 0x1000
	if err := table.Map(va, 0, model.Shift4K, Write); err != nil {
		t.Fatal(err)
	}
	if err := table.SetAccessed(va); err != nil {
		t.Fatal(err)
	}
	w := table.Lookup(va)
	for _, at := range w.Reads {
		if !s.Load(at).Has(Accessed) || s.Load(at).Has(Dirty) {
			t.Errorf("entry at %#x is %#x: A in every level, D in none", at, uint64(s.Load(at)))
		}
	}
	want := func(name string, was bool, err error, wanted bool) {
		t.Helper()
		if err != nil || was != wanted {
			t.Errorf("%s: %v, %v, want %v", name, was, err, wanted)
		}
	}
	was, err := table.ClearAccessed(va)
	want("first ClearAccessed", was, err, true)
	was, err = table.ClearAccessed(va)
	want("second ClearAccessed", was, err, false)
	was, err = table.ClearDirty(va)
	want("ClearDirty when clean", was, err, false)
	if err := table.SetDirty(va); err != nil {
		t.Fatal(err)
	}
	was, err = table.ClearDirty(va)
	want("ClearDirty", was, err, true)
	was, err = table.Protect(va, false)
	want("Protect", was, err, true)
	if w := table.Lookup(va); w.Writable {
		t.Error("writable after Protect")
	}
	was, err = table.Protect(va, true)
	want("unprotect", was, err, false)
}

// Two processes share a store and nothing else: scenario F11.
func TestProcessesAreApart(t *testing.T) {
	s, a := newTable(t, 16)
	b, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	const va = 0xFFFF_FFFF_C000_0000
	if err := a.Map(va, 0x4000_0000, model.Shift1G, 0); err != nil {
		t.Fatal(err)
	}
	if w := b.Lookup(va); w.Present() {
		t.Error("seen from the other process")
	}
	if err := b.Map(va, 0x8000_0000, model.Shift1G, 0); err != nil {
		t.Fatal(err)
	}
	if wa, wb := a.Lookup(va), b.Lookup(va); wa.Translate(va) == wb.Translate(va) {
		t.Error("same frame in both")
	}
}

// 20 GiB of 4 KiB pages: 10240 page tables, 20 directories, PDPT and PML4.
func TestTwentyGigabytes(t *testing.T) {
	s, table := newTable(t, 1<<20)
	const pages = 20 << 30 >> 12
	for i := range uint64(pages) {
		if err := table.Map(model.VA(i<<12), model.PA(i<<12), model.Shift4K, Write|User); err != nil {
			t.Fatal(err)
		}
	}
	if want := uint64(10240+20+2) * 4096; s.Bytes() != want {
		t.Errorf("%d bytes of tables, want %d", s.Bytes(), want)
	}
	n := 0
	for range table.Range(0, 20<<30) {
		n++
	}
	if n != pages {
		t.Errorf("%d pages in range, want %d", n, pages)
	}
}

func BenchmarkLookup(b *testing.B) {
	_, table := newTable(b, 1<<12)
	for i := range uint64(1 << 18) {
		if err := table.Map(model.VA(i<<12), 0, model.Shift4K, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	va := model.VA(0)
	for b.Loop() {
		va = (va + 7919<<12) & (1<<30 - 1)
		table.Lookup(va)
	}
}

// Mark sets A and D as hardware does: in entries that are present, and no other
// bit.
func TestMark(t *testing.T) {
	s, table := newTable(t, 16)
	const va = 0x5000
	if err := table.Map(va, 0x9000, model.Shift4K, 0); err != nil {
		t.Fatal(err)
	}
	at := table.Lookup(va).Reads[3]
	s.Mark(at, Accessed|Dirty|Write)
	if got, want := s.Load(at), 0x9000|Present|Accessed|Dirty; got != want {
		t.Errorf("entry %#x, want %#x", uint64(got), uint64(want))
	}
	s.Mark(at+8, Accessed)
	if got := s.Load(at + 8); got != 0 {
		t.Errorf("an absent entry became %#x", uint64(got))
	}
}
