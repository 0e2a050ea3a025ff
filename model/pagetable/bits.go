package pagetable

import (
	"iter"

	"rnicmmu/model"
)

// SetAccessed does what a walk for a read does: it sets A in every entry used.
func (t *Table) SetAccessed(va model.VA) error { return t.mark(va, Accessed) }

// SetDirty does what a walk for a write does: A in every entry used, and D in
// the leaf. Rights are not checked.
func (t *Table) SetDirty(va model.VA) error { return t.mark(va, Accessed|Dirty) }

func (t *Table) mark(va model.VA, leafBits PTE) error {
	w := t.Lookup(va)
	if !w.Present() {
		return ErrNotMapped
	}
	for _, at := range w.Reads[:w.Depth-1] {
		t.store.put(at, t.store.Load(at)|Accessed)
	}
	t.store.put(w.Reads[w.Depth-1], w.Entry|leafBits)
	return nil
}

// ClearAccessed clears A in the leaf and tells whether it was set: the pager's
// test for recent use. Tables above keep theirs, as in Linux.
func (t *Table) ClearAccessed(va model.VA) (was bool, err error) {
	return t.change(va, Accessed, 0)
}

// ClearDirty clears D in the leaf and tells whether it was set.
func (t *Table) ClearDirty(va model.VA) (was bool, err error) {
	return t.change(va, Dirty, 0)
}

// Protect makes the page that maps va writable or read-only and tells whether
// it was writable.
func (t *Table) Protect(va model.VA, writable bool) (was bool, err error) {
	if writable {
		return t.change(va, 0, Write)
	}
	return t.change(va, Write, 0)
}

func (t *Table) change(va model.VA, clear, set PTE) (was bool, err error) {
	w := t.Lookup(va)
	if !w.Present() {
		return false, ErrNotMapped
	}
	t.store.put(w.Reads[w.Depth-1], w.Entry&^clear|set)
	return w.Entry&(clear|set) != 0, nil
}

// Leaf is a mapped page.
type Leaf struct {
	Entry PTE
	Shift model.PageShift
}

// Range yields the mapped pages that [va, va+length) touches, by ascending
// address of their first byte; the first may begin before va. A range beyond
// the top of memory ends there. The page just yielded may be changed or
// unmapped on the way.
func (t *Table) Range(va model.VA, length uint64) iter.Seq2[model.VA, Leaf] {
	return func(yield func(model.VA, Leaf) bool) {
		if length == 0 {
			return
		}
		last := va + model.VA(length-1)
		if last < va {
			last = ^model.VA(0)
		}
		for at := va; ; {
			if !Canonical(at) {
				at = upperHalf
				if at > last {
					return
				}
			}
			w := t.Lookup(at)
			first := at &^ model.VA(w.Shift.Bytes()-1)
			if w.Present() && !yield(first, Leaf{w.Entry, w.Shift}) {
				return
			}
			end := first + model.VA(w.Shift.Bytes()-1)
			if end >= last {
				return
			}
			at = end + 1
		}
	}
}
