package key

import "rnicmmu/model"

// ChildShift is the size of a child of an implicit region: 2^30 bytes, as of a
// process of 48 address bits ([Linux] mlx5/odp.c).
const ChildShift = model.Shift1G

// IndirectBytes is the size of an entry of an implicit region's list, which
// names the child of its index ([Linux] mlx5/odp.c).
const IndirectBytes = 16

// ChildIndex is the number of the child that serves va.
func ChildIndex(va model.VA) uint64 { return ChildShift.Number(va) }

// ChildBase is the first address of a child.
func ChildBase(index uint64) model.VA { return model.VA(index << ChildShift) }

// entries is the list of an implicit region: the child's key for each GiB from
// its base on, 0 for the null key.
type entries struct{ keys []Key }

// Entry is the child that an implicit region's list names for an address inside
// the region, or 0.
func (r *Region) Entry(va model.VA) Key {
	i := ChildIndex(va) - ChildIndex(r.Base)
	if r.entries == nil || i >= uint64(len(r.entries.keys)) {
		return 0
	}
	return r.entries.keys[i]
}

// SetEntry makes an implicit region's list name a child at an address, or no
// child, 0. The child is memory of the root's domain, the GiB of that address.
// On error nothing changes.
func (t *Table) SetEntry(root Key, va model.VA, child Key) error {
	r, err := t.exact(root)
	switch {
	case err != nil:
		return err
	case r.Kind != Implicit:
		return ErrKind
	case !r.Contains(va, 1):
		return ErrOutside
	}
	if child != 0 {
		c, err := t.exact(child)
		switch {
		case err != nil:
			return err
		case c.Kind != Memory:
			return ErrKind
		case c.PD != r.PD:
			return ErrWrongDomain
		case c.Base != ChildBase(ChildIndex(va)) || c.Length != ChildShift.Bytes():
			return ErrOutside
		}
		c.under = root
	}
	if old := t.Lookup(r.Entry(va)); old != nil && old.Key != child {
		old.under = 0
	}
	r.entries.set(ChildIndex(va)-ChildIndex(r.Base), child)
	return nil
}

func (e *entries) set(i uint64, child Key) {
	if n := uint64(len(e.keys)); i >= n {
		e.keys = append(e.keys, make([]Key, i+1-n)...)
	}
	e.keys[i] = child
}

// isChild tells whether the list of an implicit region names r.
func (t *Table) isChild(r *Region) bool {
	if r.Kind != Memory || r.under == 0 {
		return false
	}
	_, err := t.exact(r.under)
	return err == nil
}
