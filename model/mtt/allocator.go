package mtt

import (
	"errors"
	"slices"
)

// Errors of the allocator.
var (
	ErrNoRange    = errors.New("no contiguous range of table entries is free")
	ErrEmptyRange = errors.New("a range of table entries must hold at least one")
	ErrNotHeld    = errors.New("range of table entries is not held")
)

// Allocator hands out contiguous ranges of entries, the lowest that fits
// first. Ranges start and end at multiples of MaxLine entries, so that no line
// of entries, of whatever length dividing MaxLine, serves two regions.
type Allocator struct {
	free  []extent // by first, never adjacent
	limit uint64
}

type extent struct{ first, n uint64 }

// NewAllocator makes an allocator of a layout's entries. A last part line is
// not handed out.
func NewAllocator(l Layout) *Allocator {
	a := &Allocator{limit: l.entries / MaxLine * MaxLine}
	if a.limit > 0 {
		a.free = []extent{{0, a.limit}}
	}
	return a
}

func roundUp(n uint64) uint64 { return (n + MaxLine - 1) / MaxLine * MaxLine }

// Free counts the entries that are not handed out.
func (a *Allocator) Free() (n uint64) {
	for _, e := range a.free {
		n += e.n
	}
	return n
}

// Allocate takes n entries and returns the first.
func (a *Allocator) Allocate(n uint64) (first uint64, err error) {
	if n == 0 {
		return 0, ErrEmptyRange
	}
	if n > a.limit {
		return 0, ErrNoRange
	}
	n = roundUp(n)
	for i := range a.free {
		e := &a.free[i]
		if e.n < n {
			continue
		}
		first = e.first
		e.first += n
		if e.n -= n; e.n == 0 {
			a.free = slices.Delete(a.free, i, i+1)
		}
		return first, nil
	}
	return 0, ErrNoRange
}

// Release returns the n entries from first, as Allocate gave them. A range
// that is free already, in part or whole, changes nothing.
func (a *Allocator) Release(first, n uint64) error {
	if n == 0 || first%MaxLine != 0 || n > a.limit || first > a.limit-roundUp(n) {
		return ErrNotHeld
	}
	n = roundUp(n)
	i, _ := slices.BinarySearchFunc(a.free, first, func(e extent, f uint64) int {
		if e.first < f {
			return -1
		}
		return 1
	})
	if i > 0 && a.free[i-1].first+a.free[i-1].n > first || i < len(a.free) && first+n > a.free[i].first {
		return ErrNotHeld
	}
	a.free = slices.Insert(a.free, i, extent{first, n})
	a.join(i)
	a.join(i - 1)
	return nil
}

// join merges extent i with its successor where they touch.
func (a *Allocator) join(i int) {
	if i < 0 || i+1 >= len(a.free) || a.free[i].first+a.free[i].n != a.free[i+1].first {
		return
	}
	a.free[i].n += a.free[i+1].n
	a.free = slices.Delete(a.free, i+1, i+2)
}
