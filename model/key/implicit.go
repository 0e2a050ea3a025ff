package key

// Child is the child of an implicit region that serves an index, made if there
// is none, with the place of its translation entries; the caller is its user
// until it calls Release.
func (t *Table) Child(root Key, index, mtt uint64) (Key, error) {
	r, err := t.exact(root)
	switch {
	case err != nil:
		return 0, err
	case r.children == nil:
		return 0, ErrKind
	case !r.Contains(ChildBase(index), ChildShift.Bytes()):
		return 0, ErrOutside
	}
	if k, ok := r.children.Attached(index); ok {
		r.children.Hold(k)
		return k, nil
	}
	children := r.children // Register may move r
	x := Region{PD: r.PD, Rights: r.Rights, Base: ChildBase(index), Length: ChildShift.Bytes(),
		PageShift: r.PageShift, MTT: mtt}
	k, err := t.Register(x)
	if err != nil {
		return 0, err
	}
	t.Lookup(k).under = root
	if _, won := children.Attach(index, k); !won {
		_ = t.Deregister(k)
		return 0, ErrState
	}
	return k, nil
}

// Children are those of an implicit region, nil of any other.
func (t *Table) Children(root Key) *Children {
	if r, err := t.exact(root); err == nil {
		return r.children
	}
	return nil
}

// isChild tells whether an implicit region still knows r as its child.
func (t *Table) isChild(r *Region) bool {
	root := t.Lookup(r.under)
	return r.Kind == Memory && root != nil && root.children != nil && root.children.child(r.Key) != nil
}
