package mtt

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestAllocator(t *testing.T) {
	a := NewAllocator(mustLayout(t, 0, 100, 1)) // 96 usable
	if a.Free() != 96 {
		t.Errorf("%d free, want 96", a.Free())
	}
	x, _ := a.Allocate(1)
	y, _ := a.Allocate(9)
	z, err := a.Allocate(72)
	if x != 0 || y != 8 || z != 24 || err != nil || a.Free() != 0 {
		t.Errorf("ranges at %d, %d, %d (%v), %d free", x, y, z, err, a.Free())
	}
	if _, err := a.Allocate(1); !errors.Is(err, ErrNoRange) {
		t.Errorf("when full: %v", err)
	}
	if _, err := a.Allocate(0); !errors.Is(err, ErrEmptyRange) {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := a.Allocate(1 << 63); !errors.Is(err, ErrNoRange) {
		t.Errorf("of too much: %v", err)
	}
	if err := a.Release(y, 9); err != nil {
		t.Error(err)
	}
	for _, bad := range []extent{{8, 8}, {16, 16}, {4, 1}, {0, 16}, {96, 1}, {0, 0}, {8, 1 << 63}} {
		if err := a.Release(bad.first, bad.n); !errors.Is(err, ErrNotHeld) {
			t.Errorf("release of %+v: %v", bad, err)
		}
	}
	if a.Free() != 16 {
		t.Errorf("%d free, want 16", a.Free())
	}
}

// Ranges never overlap, and when all are back one extent is left.
func TestAllocatorProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, err := NewLayout(0, 1024, 1)
		if err != nil {
			t.Fatal(err)
		}
		a := NewAllocator(l)
		var held []extent
		owner := [1024]bool{}
		mark := func(e extent, on bool) {
			for i := e.first; i < e.first+e.n; i++ {
				if owner[i] == on {
					t.Fatalf("entry %d handed out twice", i)
				}
				owner[i] = on
			}
		}
		for range 100 {
			if len(held) > 0 && rapid.Bool().Draw(t, "release") {
				i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
				if err := a.Release(held[i].first, held[i].n); err != nil {
					t.Fatal(err)
				}
				mark(held[i], false)
				held = slices.Delete(held, i, i+1)
				continue
			}
			n := rapid.Uint64Range(1, 200).Draw(t, "n")
			if first, err := a.Allocate(n); err == nil {
				held = append(held, extent{first, n})
				mark(extent{first, n}, true)
			}
		}
		for _, e := range held {
			if err := a.Release(e.first, e.n); err != nil {
				t.Fatal(err)
			}
		}
		if len(a.free) != 1 || a.Free() != 1024 {
			t.Fatalf("left %+v", a.free)
		}
	})
}
