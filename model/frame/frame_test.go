package frame

import (
	"errors"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

func mustNew(t testing.TB, frames, pages, slots int) *Oracle {
	t.Helper()
	o, err := New(frames, pages, slots)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// give assigns a frame and fails the test if that is refused.
func give(t testing.TB, o *Oracle, f ID, p Page) {
	t.Helper()
	must(t, o.Assign(f, p))
}

// write is a write to page p that lands in frame f, and is seen at once.
func write(t testing.TB, o *Oracle, f ID, p Page, id uint64, offset uint32) {
	t.Helper()
	expect(t, "store", o.Store(f, id, offset), Good)
	expect(t, "expect", o.Expect(p, id, offset), Good)
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func expect(t testing.TB, what string, got, want Verdict) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Order, write id and offset all matter, and a difference is never undone by
// equal later writes.
func TestMix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := Tag(rapid.Uint64().Draw(t, "old"))
		a, b := rapid.Uint64().Draw(t, "a"), rapid.Uint64().Draw(t, "b")
		x, y := rapid.Uint32Max(4095).Draw(t, "x"), rapid.Uint32Max(4095).Draw(t, "y")
		if a != b || x != y {
			if Mix(old, a, x) == Mix(old, b, y) {
				t.Fatal("two writes look alike")
			}
			if Mix(Mix(old, a, x), b, y) == Mix(Mix(old, b, y), a, x) {
				t.Fatal("order is lost")
			}
		}
		other := Tag(rapid.Uint64().Draw(t, "other"))
		for i := range uint64(10) {
			if same := Mix(old, a+i, x) == Mix(other, a+i, x); same != (old == other) {
				t.Fatal("different contents met")
			}
			old, other = Mix(old, a+i, x), Mix(other, a+i, x)
		}
	})
}

// A dirty page goes out and comes back with its last write.
func TestSwapRoundTrip(t *testing.T) {
	o := mustNew(t, 2, 4, 4)
	give(t, o, 0, 3)
	must(t, o.Zero(0))
	write(t, o, 0, 3, 77, 512)
	must(t, o.CopyOut(0, 2), o.Free(0))
	expect(t, "in swap", o.CheckSlot(2, 3), Good)
	give(t, o, 1, 3)
	expect(t, "before swap-in", o.Check(1, 3), Corrupt)
	must(t, o.CopyIn(2, 1))
	expect(t, "read after swap-in", o.Check(1, 3), Good)
	must(t, o.FreeSlot(2))
	if err := o.CopyIn(2, 1); !errors.Is(err, ErrEmpty) {
		t.Errorf("swap-in from a freed slot: %v", err)
	}
}

// A write that lands after the copy to swap is lost, and stays visible
// whatever is written later.
func TestLateWriteIsSeenForEver(t *testing.T) {
	o := mustNew(t, 2, 1, 1)
	give(t, o, 0, 0)
	must(t, o.Zero(0), o.CopyOut(0, 0))
	write(t, o, 0, 0, 1, 0)
	must(t, o.Free(0))
	give(t, o, 1, 0)
	must(t, o.CopyIn(0, 1))
	for id := range uint64(100) {
		write(t, o, 1, 0, id, 8)
		expect(t, "content", o.Check(1, 0), Corrupt)
	}
}

// An old translation after the frame changed hands harms both pages.
func TestStaleWriteHarmsBothPages(t *testing.T) {
	o := mustNew(t, 2, 2, 0)
	give(t, o, 0, 0)
	must(t, o.Zero(0), o.CopyFrame(0, 1), o.Free(0))
	give(t, o, 1, 0)
	give(t, o, 0, 1)
	must(t, o.Zero(0))
	expect(t, "the old translation", o.Check(0, 0), Stale)
	write(t, o, 0, 0, 9, 0)
	expect(t, "page that lost the write", o.Check(1, 0), Corrupt)
	expect(t, "page that was overwritten", o.Check(0, 1), Corrupt)
}

// A frame is a page's from Assign to Free.
func TestOwner(t *testing.T) {
	o := mustNew(t, 1, 2, 0)
	owner := func(want Page) {
		t.Helper()
		if got := o.Owner(0); got != want {
			t.Errorf("owner %d, want %d", got, want)
		}
	}
	owner(NoPage)
	give(t, o, 0, 1)
	owner(1)
	must(t, o.Free(0))
	owner(NoPage)
	expect(t, "while free", o.Check(0, 1), Stale)
}

// A page that was given up is zeros again, wherever it was; what was written
// before is not asked for.
func TestForget(t *testing.T) {
	o := mustNew(t, 1, 1, 0)
	give(t, o, 0, 0)
	must(t, o.Zero(0))
	write(t, o, 0, 0, 5, 0)
	must(t, o.Forget(0))
	expect(t, "in its frame", o.Check(0, 0), Corrupt)
	expect(t, "nowhere", o.CheckUnwritten(0), Good)
	must(t, o.Zero(0))
	expect(t, "zeroed", o.Check(0, 0), Good)
}

// A write acknowledged and never placed is found.
func TestAcknowledgedButNeverPlaced(t *testing.T) {
	o := mustNew(t, 1, 1, 0)
	give(t, o, 0, 0)
	must(t, o.Zero(0))
	expect(t, "unwritten", o.CheckUnwritten(0), Good)
	expect(t, "acknowledge", o.Expect(0, 5, 0), Good)
	expect(t, "not placed", o.Check(0, 0), Corrupt)
	expect(t, "written page nowhere", o.CheckUnwritten(0), Corrupt)
	expect(t, "place", o.Store(0, 5, 0), Good)
	expect(t, "placed", o.Check(0, 0), Good)
}

func TestRefusals(t *testing.T) {
	o := mustNew(t, 1, 1, 1)
	for _, err := range []error{o.Free(1), o.Zero(1), o.CopyOut(0, 1), o.CopyOut(1, 0), o.CopyIn(1, 0),
		o.CopyIn(0, 1), o.FreeSlot(1), o.Forget(1), o.CopyFrame(0, 1), o.CopyFrame(1, 0)} {
		if !errors.Is(err, ErrNoObject) {
			t.Errorf("out of range: %v", err)
		}
	}
	for _, v := range []Verdict{o.Store(1, 0, 0), o.Expect(1, 0, 0),
		o.Check(1, 0), o.CheckSlot(0, 1), o.CheckUnwritten(1)} {
		expect(t, "out of range", v, NoObject)
	}
	if err := o.Free(0); !errors.Is(err, ErrNotOwned) {
		t.Errorf("free of a free frame: %v", err)
	}
	if err := o.CopyOut(0, 0); !errors.Is(err, ErrNotOwned) {
		t.Errorf("swap-out of a free frame: %v", err)
	}
	give(t, o, 0, 0)
	if err := o.Assign(0, 0); !errors.Is(err, ErrOwned) {
		t.Errorf("second owner: %v", err)
	}
	if _, err := New(-1, 0, 0); err == nil {
		t.Error("negative size accepted")
	}
}

// Random paging with a right pager is always Good; the oracle raises no false
// alarm.
func TestRightPagerIsNeverBlamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const frames, pages = 4, 12
		o, err := New(frames, pages, pages)
		if err != nil {
			t.Fatal(err)
		}
		var where [pages]int // frame+1, or 0
		var swapped [pages]bool
		var clock [frames]int // page in the frame, -1
		for i := range clock {
			clock[i] = -1
		}
		for id := range uint64(200) {
			p := rapid.IntRange(0, pages-1).Draw(t, "page")
			if where[p] == 0 {
				f := rapid.IntRange(0, frames-1).Draw(t, "victim")
				if v := clock[f]; v >= 0 {
					if o.CopyOut(ID(f), Slot(v)) != nil || o.Free(ID(f)) != nil {
						t.Fatal("swap-out refused")
					}
					where[v], swapped[v] = 0, true
				}
				if err := o.Assign(ID(f), Page(p)); err != nil {
					t.Fatal(err)
				}
				if swapped[p] {
					err = o.CopyIn(Slot(p), ID(f))
				} else {
					err = o.Zero(ID(f))
				}
				if err != nil {
					t.Fatal(err)
				}
				where[p], clock[f] = f+1, p
			}
			f := ID(where[p] - 1)
			if o.Store(f, id, uint32(id%4096)) != Good || o.Expect(Page(p), id, uint32(id%4096)) != Good {
				t.Fatal("write refused")
			}
			if v := o.Check(f, Page(p)); v != Good {
				t.Fatalf("read: %v", v)
			}
		}
		for p := range pages {
			if where[p] == 0 && swapped[p] && o.CheckSlot(Slot(p), Page(p)) != Good {
				t.Fatalf("page %d in swap: %v", p, o.CheckSlot(Slot(p), Page(p)))
			}
		}
	})
}

// 20 GB advertised on 2 GB: tens of megabytes an array.
func TestSize(t *testing.T) {
	const frames, pages = 2 << 30 >> 12, 20 << 30 >> 12
	var o Oracle
	for _, n := range []uintptr{
		unsafe.Sizeof(o.frames[0]) * frames, unsafe.Sizeof(o.pages[0]) * pages, unsafe.Sizeof(o.slots[0]) * pages,
	} {
		if n > 90<<20 {
			t.Errorf("array of %d MiB", n>>20)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	o := mustNew(b, 1<<16, 1<<16, 0)
	for f := range ID(1 << 16) {
		give(b, o, f, Page(f))
	}
	b.ReportAllocs()
	f := uint32(0)
	for b.Loop() {
		f = (f + 7919) & (1<<16 - 1)
		o.Store(ID(f), uint64(f), 0)
		o.Expect(Page(f), uint64(f), 0)
	}
}
