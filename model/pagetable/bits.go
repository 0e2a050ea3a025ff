package pagetable

import "rnicmmu/model"

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
