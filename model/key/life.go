package key

import "rnicmmu/model"

// Invalidate takes a fast-registration region or a type 2 window to Free
// (LOCAL_INV or a peer's SEND with invalidate), also while it is suspended. It
// is refused while windows are bound to the region. On error nothing changes.
// Rules: [Linux] rxe_mr.c, rxe_mw.c.
func (t *Table) Invalidate(k Key) error {
	r, err := t.exact(k)
	switch {
	case err != nil:
		return err
	case !r.FastReg && r.Kind != Window2A && r.Kind != Window2B:
		return ErrNotFastReg
	case r.State == Free:
		return ErrState
	case r.windows > 0:
		return ErrBound
	case r.Kind.Window():
		t.unbind(r)
	}
	r.State = Free
	return nil
}

// FastRegister makes a Free region Valid over new memory (REG_MR), or Suspended
// where a suspension has not ended. Of the key only the variant may change; PD
// must be the region's own. On error the region is unchanged.
func (t *Table) FastRegister(k Key, pd PD, rights Rights, base model.VA, length uint64) error {
	r := t.Lookup(k)
	switch {
	case r == nil:
		return ErrKey
	case !r.FastReg:
		return ErrNotFastReg
	case r.State != Free:
		return ErrState
	case r.PD != pd:
		return ErrWrongDomain
	}
	n := *r
	n.Key, n.Rights, n.Base, n.Length, n.State = k, rights, base, length, n.open()
	if err := n.validate(); err != nil {
		return err
	}
	*r = n
	return nil
}

// open is the state of a region that is not free.
func (r *Region) open() State {
	if r.suspends > 0 {
		return Suspended
	}
	return Valid
}

// Suspend marks a region suspended, and the windows bound to it. Suspensions
// nest: as many Resume calls end them. They belong to the index: a region that
// is invalidated and registered anew meanwhile is still suspended.
func (t *Table) Suspend(k Key) error { return t.suspend(k, 1) }

// Resume undoes one Suspend.
func (t *Table) Resume(k Key) error { return t.suspend(k, -1) }

func (t *Table) suspend(k Key, by int) error {
	r := t.Lookup(k)
	switch {
	case r == nil:
		return ErrKey
	case r.Kind.Window():
		return ErrKind
	case by < 0 && r.suspends == 0:
		return ErrNotSuspended
	}
	r.suspends += uint32(by)
	if r.State != Free {
		r.State = r.open()
		t.windowsOf(r)
	}
	return nil
}
