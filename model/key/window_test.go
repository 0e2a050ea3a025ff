package key

import (
	"errors"
	"math"
	"testing"

	"rnicmmu/model"
)

const mib = 1 << 20

// windowed is a table with a region of 1 MiB at 1 MiB, entries from 100 on, that
// may be opened by windows.
func windowed(t *testing.T, rights Rights) (*Table, Key) {
	t.Helper()
	table := mustTable(t, 64)
	r := region(mib, mib)
	r.Rights, r.MTT = rights|WindowBind, 100
	return table, mustRegister(t, table, r)
}

func window(t *testing.T, table *Table, kind Kind) Key {
	t.Helper()
	return mustRegister(t, table, Region{PD: 1, Kind: kind})
}

// next is the key with its variant one up, as software makes it for a bind.
func next(k Key) Key { return Make(k.Index(), k.Variant()+1) }

func mustBind(t *testing.T, table *Table, w, under Key, rights Rights, base model.VA, length uint64) {
	t.Helper()
	if err := table.Bind(w, under, 1, qp, rights, base, length); err != nil {
		t.Fatal(err)
	}
}

func wantVerdict(t *testing.T, table *Table, k Key, op model.Op, va model.VA, length uint64, want Verdict) {
	t.Helper()
	if _, v := table.Check(k, 1, qp, op, va, length); v != want {
		t.Errorf("%v of %d at %#x by %#x: %v, want %v", op, length, uint64(va), uint32(k), v, want)
	}
}

// A window's address finds the entry that its region finds for it.
func TestWindowTranslatesLikeItsRegion(t *testing.T) {
	table, mr := windowed(t, all)
	r := table.Lookup(mr)
	for _, base := range []model.VA{mib, mib + 0x1800, 2*mib - 1} {
		w := next(window(t, table, Window2B))
		mustBind(t, table, w, mr, RemoteRead, base, uint64(2*mib-base))
		r = table.Lookup(mr)
		for va := base; va < 2*mib; va += 0x7FF {
			x, v := table.Check(w, 1, qp, model.OpRead, va, 1)
			if v != OK || x.MTT+x.Page(va) != r.MTT+r.Page(va) {
				t.Fatalf("window at %#x, va %#x: %v", uint64(base), uint64(va), v)
			}
		}
		wantVerdict(t, table, w, model.OpRead, base-1, 1, OutOfBounds)
		wantVerdict(t, table, w, model.OpRead, 2*mib-1, 2, OutOfBounds)
	}
	if r.windows != 3 {
		t.Errorf("%d windows counted, want 3", r.windows)
	}
}

// bind is what TestBindRules asks for.
type bind struct {
	window, under Key
	pd            PD
	rights        Rights
	base          model.VA
	length        uint64
}

// FRW-6: each rule of binding refuses alone and leaves window and region as they
// were; with all kept, the window is bound.
func TestBindRules(t *testing.T) {
	for name, tc := range map[string]struct {
		want   error
		region func(*Region)
		bind   func(*bind)
	}{
		"kept":              {bind: func(*bind) {}},
		"whole region":      {bind: func(b *bind) { b.base, b.length = mib, mib }},
		"no window":         {want: ErrKey, bind: func(b *bind) { b.window = 0x1300 }},
		"region as window":  {want: ErrKind, bind: func(b *bind) { b.window = b.under }},
		"no region":         {want: ErrKey, bind: func(b *bind) { b.under = 0x1300 }},
		"stale region key":  {want: ErrKey, bind: func(b *bind) { b.under ^= 1 }},
		"window as region":  {want: ErrKind, bind: func(b *bind) { b.under = b.window }},
		"QP's PD":           {want: ErrWrongDomain, bind: func(b *bind) { b.pd = 2 }},
		"region's PD":       {want: ErrWrongDomain, region: func(r *Region) { r.PD = 2 }},
		"no MW_BIND":        {want: ErrNoBind, region: func(r *Region) { r.Rights = all }},
		"store, region not": {want: ErrNeedLocal, region: func(r *Region) { r.Rights = WindowBind | RemoteRead }},
		"atomic, region not": {want: ErrNeedLocal, region: func(r *Region) { r.Rights = WindowBind },
			bind: func(b *bind) { b.rights = RemoteAtomic }},
		"read, region not": {region: func(r *Region) { r.Rights = WindowBind },
			bind: func(b *bind) { b.rights = RemoteRead }},
		"before":      {want: ErrOutside, bind: func(b *bind) { b.base-- }},
		"behind":      {want: ErrOutside, bind: func(b *bind) { b.length = mib + 1 }},
		"end wraps":   {want: ErrOutside, bind: func(b *bind) { b.length = math.MaxUint64 }},
		"no bytes":    {want: ErrZeroBind, bind: func(b *bind) { b.length = 0 }},
		"region free": {want: ErrState, region: func(r *Region) { r.FastReg = true }},
	} {
		table := mustTable(t, 16)
		r := region(mib, mib)
		r.Rights |= WindowBind
		if tc.region != nil {
			tc.region(&r)
		}
		mr := mustRegister(t, table, r)
		if r.FastReg {
			if err := table.Invalidate(mr); err != nil {
				t.Fatal(err)
			}
		}
		w := window(t, table, Window2B)
		b := bind{window: w, under: mr, pd: 1, rights: RemoteRead | RemoteWrite, base: mib, length: 0x1000}
		if tc.bind != nil {
			tc.bind(&b)
		}
		before := [2]Region{*table.Lookup(mr), *table.Lookup(w)}
		err := table.Bind(b.window, b.under, b.pd, qp, b.rights, b.base, b.length)
		after := [2]Region{*table.Lookup(mr), *table.Lookup(w)}
		if !errors.Is(err, tc.want) || (before == after) != (tc.want != nil) {
			t.Errorf("%s: %v, want %v; changed %v", name, err, tc.want, before != after)
		}
	}
}

// A type 2 window goes from free to valid and back, and only then is bound
// again; a type 1 window is bound anew as it is, unbound by a bind of no bytes,
// and never invalidated.
func TestWindowLives(t *testing.T) {
	table, mr := windowed(t, all)
	for _, kind := range []Kind{Window2A, Window2B} {
		w := window(t, table, kind)
		if err := table.Invalidate(w); !errors.Is(err, ErrState) {
			t.Errorf("%d: invalidate while free: %v", kind, err)
		}
		mustBind(t, table, next(w), mr, RemoteRead, mib, 8)
		if err := table.Bind(next(w), mr, 1, qp, RemoteRead, mib, 8); !errors.Is(err, ErrState) {
			t.Errorf("%d: bound twice: %v", kind, err)
		}
		wantVerdict(t, table, w, model.OpRead, mib, 8, WrongVariant)
		wantVerdict(t, table, next(w), model.OpRead, mib, 8, OK)
		if err := table.Invalidate(next(w)); err != nil {
			t.Fatal(err)
		}
		if _, v := table.Check(next(w), 1, qp, model.OpRead, mib, 8); !v.Refused() {
			t.Errorf("%d: invalidated: %v", kind, v)
		}
		mustBind(t, table, w, mr, RemoteRead, mib+8, 8)
		wantVerdict(t, table, w, model.OpRead, mib+8, 8, OK)
	}
	w := window(t, table, Window1)
	mustBind(t, table, w, mr, RemoteRead, mib, 8)
	mustBind(t, table, next(w), mr, RemoteRead, mib+8, 8)
	wantVerdict(t, table, next(w), model.OpRead, mib, 8, OutOfBounds)
	if err := table.Invalidate(next(w)); !errors.Is(err, ErrNotFastReg) {
		t.Errorf("type 1 invalidated: %v", err)
	}
	mustBind(t, table, next(w), mr, 0, 0, 0)
	if _, v := table.Check(next(w), 1, qp, model.OpRead, mib+8, 8); !v.Refused() {
		t.Errorf("unbound: %v", v)
	}
	if n := table.Lookup(mr).windows; n != 2 {
		t.Errorf("%d windows bound, want the two of type 2", n)
	}
}

// Type 1 asks for the protection domain, 2A for the QP, 2B for both.
func TestWhoMayUseAWindow(t *testing.T) {
	for kind, want := range map[Kind][3]Verdict{ // own PD and other QP, other PD and own QP, both own
		Window1:  {OK, WrongPD, OK},
		Window2A: {WrongPD, OK, OK},
		Window2B: {WrongPD, WrongPD, OK},
	} {
		table, mr := windowed(t, all)
		w := window(t, table, kind)
		mustBind(t, table, w, mr, RemoteRead, mib, 8)
		for i, who := range [3]struct {
			pd PD
			qp uint32
		}{{1, 6}, {2, qp}, {1, qp}} {
			if _, v := table.Check(w, who.pd, who.qp, model.OpRead, mib, 8); v != want[i] {
				t.Errorf("kind %d, %+v: %v, want %v", kind, who, v, want[i])
			}
		}
		if v := CheckLocal(table.Lookup(w), w, 1, false, mib, 8); v != NoRegion {
			t.Errorf("kind %d as a local key: %v", kind, v)
		}
	}
}

// A window gives what it was bound with and the operation needs, no more: not
// the region's other rights, and no receive buffer.
func TestWindowRights(t *testing.T) {
	table, mr := windowed(t, all|OnDemand)
	w := window(t, table, Window2B)
	mustBind(t, table, w, mr, RemoteRead|LocalWrite, mib, 8)
	for op := range model.NumOps {
		want := NoRight
		if op == model.OpRead {
			want = OK
		}
		wantVerdict(t, table, w, op, mib, 8, want)
	}
	if !table.Lookup(w).OnDemand() {
		t.Error("a window on an on-demand region does not know that its pages may be absent")
	}
}

// A region that is open by a window can be neither
// deregistered nor invalidated, and is left as it is.
func TestBoundRegionStays(t *testing.T) {
	table := mustTable(t, 16)
	r := region(mib, mib)
	r.Rights, r.FastReg = all|WindowBind, true
	mr := mustRegister(t, table, r)
	for _, free := range []func(Key) error{table.Invalidate, table.Deregister} {
		w := window(t, table, Window2B)
		mustBind(t, table, w, mr, RemoteRead, mib, 8)
		if err := table.Deregister(mr); !errors.Is(err, ErrBound) {
			t.Errorf("deregister: %v", err)
		}
		if err := table.Invalidate(mr); !errors.Is(err, ErrBound) {
			t.Errorf("invalidate: %v", err)
		}
		wantVerdict(t, table, w, model.OpRead, mib, 8, OK)
		if err := free(w); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Invalidate(mr); err != nil {
		t.Errorf("with all windows free: %v", err)
	}
}

// SUS-2: windows follow their region: those bound before a suspension and those
// bound during it, but no other region's.
func TestWindowsAreSuspendedWithTheirRegion(t *testing.T) {
	table, mr := windowed(t, all)
	other := region(mib, mib)
	other.Rights |= WindowBind
	second := mustRegister(t, table, other)
	foreign, before, during := window(t, table, Window2B), window(t, table, Window1), window(t, table, Window2B)
	mustBind(t, table, before, mr, RemoteRead, mib, 8)
	mustBind(t, table, foreign, second, RemoteRead, mib, 8)
	if err := table.Suspend(mr); err != nil {
		t.Fatal(err)
	}
	mustBind(t, table, during, mr, RemoteRead, mib, 8)
	wantVerdict(t, table, before, model.OpRead, mib, 8, SuspendedNow)
	wantVerdict(t, table, during, model.OpRead, mib, 8, SuspendedNow)
	wantVerdict(t, table, foreign, model.OpRead, mib, 8, OK)
	if err := table.Suspend(before); !errors.Is(err, ErrKind) {
		t.Errorf("a window suspended alone: %v", err)
	}
	if err := table.Resume(mr); err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, table, before, model.OpRead, mib, 8, OK)
	wantVerdict(t, table, during, model.OpRead, mib, 8, OK)
}
