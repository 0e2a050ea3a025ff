package key

import "rnicmmu/model"

// remote are the rights that a window can give.
const remote = RemoteWrite | RemoteRead | RemoteAtomic

// Bind opens [base, base+length) of the region under to the holders of a
// window's key. Of the key only the variant may change, and the old one is dead.
// A type 2 window must be free, and is the QP's from now on. A type 1 window may
// be bound already, and then leaves its region; length 0 only unbinds it. Rules:
// [Linux] rxe_mw.c. Only the remote rights count, and on error nothing changes.
func (t *Table) Bind(window, under Key, pd PD, qp uint32, rights Rights, base model.VA, length uint64) error {
	w := t.Lookup(window)
	switch {
	case w == nil:
		return ErrKey
	case !w.Kind.Window():
		return ErrKind
	case w.Kind != Window1 && w.State != Free:
		return ErrState
	case w.PD != pd:
		return ErrWrongDomain
	case length == 0 && w.Kind != Window1:
		return ErrZeroBind
	case length == 0:
		t.unbind(w)
		w.Key = window
		return nil
	}
	r, err := t.exact(under)
	if err == nil {
		err = r.opens(pd, rights, base, length)
	}
	if err != nil {
		return err
	}
	t.unbind(w)
	*w = Region{Key: window, PD: pd, Rights: rights&remote | r.Rights&OnDemand, Base: base, Length: length,
		MTT: r.MTT + r.Page(base), PageShift: r.PageShift, Kind: w.Kind, State: r.State, under: under}
	if w.Kind != Window1 {
		w.QP = qp
	}
	r.windows++
	return nil
}

// opens tells why the region cannot be opened by a window, or nil.
func (r *Region) opens(pd PD, rights Rights, base model.VA, length uint64) error {
	switch {
	case r.Kind != Memory:
		return ErrKind
	case r.State == Free:
		return ErrState
	case r.PD != pd:
		return ErrWrongDomain
	case !r.Rights.Has(WindowBind):
		return ErrNoBind
	case rights&(RemoteWrite|RemoteAtomic) != 0 && !r.Rights.Has(LocalWrite):
		return ErrNeedLocal
	case !r.Contains(base, length):
		return ErrOutside
	}
	return nil
}

// unbind closes a window: it is free and opens nothing.
func (t *Table) unbind(w *Region) {
	if r := t.Lookup(w.under); r != nil {
		r.windows--
	}
	*w = Region{Key: w.Key, PD: w.PD, Kind: w.Kind, State: Free}
}

// windowsOf gives a region's bound windows its state.
func (t *Table) windowsOf(r *Region) {
	left := r.windows
	for i := 0; left > 0; i++ {
		if w := &t.regions[i]; w.Kind.Window() && w.under == r.Key {
			w.State = r.State
			left--
		}
	}
}
