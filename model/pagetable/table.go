package pagetable

import (
	"errors"

	"rnicmmu/model"
)

// Errors of a table's operations. Nothing has changed when one is returned.
var (
	ErrNotCanonical = errors.New("virtual address is not canonical")
	ErrMisaligned   = errors.New("address is not aligned to its page")
	ErrPageSize     = errors.New("page size must be 4 KiB, 2 MiB or 1 GiB")
	ErrPhysical     = errors.New("physical address is beyond 52 bits")
	ErrMapped       = errors.New("page is mapped already")
	ErrCovered      = errors.New("page lies in a larger mapped page")
	ErrOccupied     = errors.New("smaller pages, or tables for them, are inside the page")
	ErrNotMapped    = errors.New("page is not mapped")
)

// Table is one process's page table.
type Table struct {
	store *Store
	root  model.PA
}

// New makes an empty table; it takes one frame of the store.
func New(s *Store) (*Table, error) {
	root, err := s.allocate()
	if err != nil {
		return nil, err
	}
	return &Table{store: s, root: root}, nil
}

// Root is the physical address of the level-4 table (CR3).
func (t *Table) Root() model.PA { return t.root }

// Store is the memory that holds the table.
func (t *Table) Store() *Store { return t.store }

// Walk is what a hardware walk for an address reads and finds.
type Walk struct {
	Entry    PTE             // the last entry read; not present if the page is absent
	Shift    model.PageShift // what that entry covers: the page, or the hole (12, 21, 30 or 39)
	Depth    int             // entries read, 1 … 4
	Reads    [levels]model.PA
	Writable bool // present, and Write set in every entry read
	User     bool // present, and User set in every entry read
}

// Present tells whether the address is mapped.
func (w *Walk) Present() bool { return w.Entry.Has(Present) }

// Translate is the physical address of va, which the walk must have found.
func (w *Walk) Translate(va model.VA) model.PA {
	return w.Entry.PA() + model.PA(uint64(va)&(w.Shift.Bytes()-1))
}

// Lookup walks for an address and changes nothing. A non-canonical address
// reads nothing: Depth is 0.
func (t *Table) Lookup(va model.VA) (w Walk) {
	if !Canonical(va) {
		return w
	}
	all := Write | User
	for s := First(t.root, va); ; {
		e := t.store.Load(s.At)
		w.Reads[w.Depth] = s.At
		w.Depth++
		all &= e
		if !e.Has(Present) || s.Leaf(e) {
			w.Entry, w.Shift = e, s.Shift()
			w.Writable = e.Has(Present) && all.Has(Write)
			w.User = e.Has(Present) && all.Has(User)
			return w
		}
		s = s.Below(e.PA(), va)
	}
}

// Map makes the page at va a leaf of the given size. Of flags, Write, User,
// Accessed, Dirty, Global and NoExecute count; Present is implied. Tables in the
// place of a larger leaf, even if they are empty, have to be pruned first.
func (t *Table) Map(va model.VA, pa model.PA, shift model.PageShift, flags PTE) error {
	leaf := levelOf(shift)
	switch {
	case leaf == 0:
		return ErrPageSize
	case !Canonical(va):
		return ErrNotCanonical
	case (uint64(va)|uint64(pa))&(shift.Bytes()-1) != 0:
		return ErrMisaligned
	case pa>>52 != 0:
		return ErrPhysical
	}
	at, err := t.descend(va, leaf)
	if err != nil {
		return err
	}
	old := t.store.Load(at)
	if old.Has(Present) {
		if old.leaf(leaf) {
			return ErrMapped
		}
		return ErrOccupied
	}
	e := PTE(pa) | flags&leafFlags | Present
	if leaf > 1 {
		e |= PageSize
	}
	t.store.put(at, e)
	return nil
}

// descend returns the slot of va at a level and makes the tables above it. If
// it runs out of frames, tables made on the way stay, empty.
func (t *Table) descend(va model.VA, to int) (model.PA, error) {
	table := t.root
	for level := levels; ; level-- {
		at := slot(table, va, level)
		if level == to {
			return at, nil
		}
		e := t.store.Load(at)
		switch {
		case !e.Has(Present):
			next, err := t.store.allocate()
			if err != nil {
				return 0, err
			}
			e = PTE(next) | tableFlags
			t.store.put(at, e)
		case e.leaf(level):
			return 0, ErrCovered
		}
		table = e.PA()
	}
}

// bare tells whether no page is mapped in the tree under a table.
func (t *Table) bare(table model.PA, level int) bool {
	if t.store.empty(table) {
		return true
	}
	if level == 1 {
		return false
	}
	for i := range model.PA(tableEntries) {
		e := t.store.Load(table + i*entryBytes)
		if e.Has(Present) && (e.leaf(level) || !t.bare(e.PA(), level-1)) {
			return false
		}
	}
	return true
}

// Prune unlinks the tables where va has no page of the given size or below, so
// that one of this size can be mapped there, and appends their addresses to
// tables. A walk, or a cache of walks, may still hold these: Store.Release is
// for when none does. ErrOccupied tells that a smaller page is mapped.
func (t *Table) Prune(va model.VA, shift model.PageShift, tables []model.PA) ([]model.PA, error) {
	leaf := levelOf(shift)
	if leaf == 0 {
		return tables, ErrPageSize
	}
	w := t.Lookup(va)
	if w.Depth <= levels-leaf {
		return tables, nil // a hole of a larger size, or a larger page
	}
	at := w.Reads[levels-leaf]
	e := t.store.Load(at)
	switch {
	case !e.Has(Present) || e.leaf(leaf):
		return tables, nil
	case !t.bare(e.PA(), leaf-1):
		return tables, ErrOccupied
	}
	t.store.put(at, 0)
	return t.gather(e.PA(), leaf-1, tables), nil
}

// gather appends the tables of a tree without pages.
func (t *Table) gather(table model.PA, level int, tables []model.PA) []model.PA {
	if level > 1 && !t.store.empty(table) {
		for i := range model.PA(tableEntries) {
			if e := t.store.Load(table + i*entryBytes); e.Has(Present) {
				tables = t.gather(e.PA(), level-1, tables)
			}
		}
	}
	return append(tables, table)
}

// Unmap removes the page that maps va and returns its last entry, with the
// accessed and dirty bits, and its size.
func (t *Table) Unmap(va model.VA) (PTE, model.PageShift, error) {
	w := t.Lookup(va)
	if !w.Present() {
		return 0, 0, ErrNotMapped
	}
	t.store.put(w.Reads[w.Depth-1], 0)
	return w.Entry, w.Shift, nil
}
