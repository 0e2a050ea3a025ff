package key

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

const all = LocalWrite | RemoteWrite | RemoteRead | RemoteAtomic

const qp = 5 // the QP that asks where it does not matter

func region(base model.VA, length uint64) Region {
	return Region{PD: 1, Rights: all, Base: base, Length: length, PageShift: model.Shift4K}
}

func mustTable(t testing.TB, capacity int) *Table {
	t.Helper()
	table, err := NewTable(capacity)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func mustRegister(t testing.TB, table *Table, r Region) Key {
	t.Helper()
	k, err := table.Register(r)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Bits from ib_user_ioctl_verbs.h.
func TestAccessFlagBits(t *testing.T) {
	for bit, flag := range []Rights{LocalWrite, RemoteWrite, RemoteRead, RemoteAtomic, WindowBind,
		ZeroBased, OnDemand, HugeTLB, FlushGlobal, FlushPersistent} {
		if flag != 1<<bit {
			t.Errorf("flag %d is %#x", bit, uint32(flag))
		}
	}
}

func TestKeyParts(t *testing.T) {
	k := Key(0x123456AB)
	if k.Index() != 0x123456 || k.Variant() != 0xAB || Make(0x123456, 0xAB) != k {
		t.Errorf("%#x: index %#x variant %#x", uint32(k), k.Index(), k.Variant())
	}
}

func TestRegistrationRules(t *testing.T) {
	table := mustTable(t, 16)
	for _, tc := range []struct {
		change func(*Region)
		want   error
	}{
		{func(r *Region) { r.Rights = RemoteWrite }, ErrNeedLocal},
		{func(r *Region) { r.Rights = RemoteAtomic | RemoteRead }, ErrNeedLocal},
		{func(r *Region) { r.Rights = RemoteRead }, nil},
		{func(r *Region) { r.Rights = 0 }, nil},
		{func(r *Region) { r.Base, r.Length = math.MaxUint64, 2 }, ErrWraps},
		{func(r *Region) { r.Base, r.Length = math.MaxUint64, 1 }, nil},
		{func(r *Region) { r.Length = 0 }, nil},
		{func(r *Region) { r.PageShift = 11 }, ErrPageShift},
	} {
		r := region(0x1000, 0x1000)
		tc.change(&r)
		before := table.Len()
		_, err := table.Register(r)
		if !errors.Is(err, tc.want) {
			t.Errorf("%+v: %v, want %v", r, err, tc.want)
		}
		if grew := table.Len() > before; grew != (tc.want == nil) {
			t.Errorf("%+v: table grew %v", r, grew)
		}
	}
	for _, n := range []int{-1, 0, 1, MaxRegions + 1} {
		if _, err := NewTable(n); err == nil {
			t.Errorf("capacity %d accepted", n)
		}
	}
}

// D1, KEY-2: a zero-length registration contains nothing.
func TestZeroLengthRegistrationKeepsBounds(t *testing.T) {
	table := mustTable(t, 16)
	k := mustRegister(t, table, region(0x1000, 0))
	if _, v := table.Check(k, 1, qp, model.OpWrite, 0x1000, 8); v != OutOfBounds || !v.Refused() {
		t.Errorf("8 B WRITE: %v", v)
	}
}

// D2, KEY-2: a READ or WRITE of no bytes looks at neither key nor address.
func TestZeroLengthAccessIgnoresKey(t *testing.T) {
	table := mustTable(t, 16)
	for _, op := range []model.Op{model.OpRead, model.OpWrite} {
		r, v := table.Check(0xDEADBEEF, 7, qp, op, 0xFFFF_FFFF_FFFF_FFFF, 0)
		if r != nil || v != ZeroLength || !v.Granted() {
			t.Errorf("%v: %v, %v", op, r, v)
		}
	}
	if v := CheckLocal(nil, 0xDEADBEEF, 7, true, 1, 0); v != ZeroLength {
		t.Errorf("local: %v", v)
	}
}

// D3: LOCAL_INV compares the whole key; a wrong variant changes nothing.
func TestInvalidateComparesWholeKey(t *testing.T) {
	table := mustTable(t, 16)
	r := region(0x1000, 0x1000)
	r.Rights, r.FastReg = LocalWrite, true
	k := mustRegister(t, table, r)
	before := *table.Lookup(k)
	if err := table.Invalidate(k ^ 1); !errors.Is(err, ErrKey) {
		t.Errorf("wrong variant: %v", err)
	}
	if *table.Lookup(k) != before {
		t.Error("a failed invalidate changed the region")
	}
	if err := table.Invalidate(k); err != nil || table.Lookup(k).State != Free {
		t.Errorf("by lkey: %v, %v", err, table.Lookup(k).State)
	}
	if err := table.Invalidate(k); !errors.Is(err, ErrState) {
		t.Errorf("twice: %v", err)
	}
	if v := CheckLocal(table.Lookup(k), k, 1, true, 0x1000, 8); v != NotValid {
		t.Errorf("use when free: %v", v)
	}
	plain := mustRegister(t, table, region(0, 1))
	if err := table.Invalidate(plain); !errors.Is(err, ErrNotFastReg) {
		t.Errorf("ordinary region: %v", err)
	}
}

func TestFastRegister(t *testing.T) {
	table := mustTable(t, 16)
	r := region(0x1000, 0x1000)
	r.FastReg = true
	k := mustRegister(t, table, r)
	if err := table.FastRegister(k, 1, all, 0x5000, 16); !errors.Is(err, ErrState) {
		t.Errorf("while valid: %v", err)
	}
	if err := table.Invalidate(k); err != nil {
		t.Fatal(err)
	}
	next := Make(k.Index(), k.Variant()+9)
	if err := table.FastRegister(next, 2, all, 0x5000, 16); !errors.Is(err, ErrWrongDomain) {
		t.Errorf("other PD: %v", err)
	}
	if err := table.FastRegister(next, 1, RemoteWrite, 0x5000, 16); !errors.Is(err, ErrNeedLocal) {
		t.Errorf("rights: %v", err)
	}
	if err := table.FastRegister(next, 1, all, 0x5000, 16); err != nil {
		t.Fatal(err)
	}
	if _, v := table.Check(k, 1, qp, model.OpRead, 0x5000, 16); v != WrongVariant {
		t.Errorf("old key: %v", v)
	}
	if _, v := table.Check(next, 1, qp, model.OpRead, 0x5000, 16); v != OK {
		t.Errorf("new key: %v", v)
	}
}

// KEY-1: each check hides the later ones. A region that fails all of them is
// mended one failure at a time.
func TestCheckOrder(t *testing.T) {
	const k = Key(0x500)
	r := Region{Key: 0x501, PD: 2, State: Free, Base: 0x1000, Length: 4}
	if v := Check(nil, k, 1, qp, model.OpWrite, 0, 8); v != NoRegion {
		t.Errorf("no region: %v", v)
	}
	steps := []struct {
		want Verdict
		mend func()
	}{
		{WrongVariant, func() { r.Key = k }},
		{WrongPD, func() { r.PD = 1 }},
		{NoRight, func() { r.Rights = all }},
		{NotValid, func() { r.State = Suspended }},
		{OutOfBounds, func() { r.Base, r.Length = 0, 8 }},
		{SuspendedNow, func() { r.State = Valid }},
		{OK, func() {}},
	}
	for _, s := range steps {
		v := Check(&r, k, 1, qp, model.OpWrite, 0, 8)
		if v != s.want {
			t.Errorf("verdict %v, want %v", v, s.want)
		}
		if v.Refused() != (v != OK && v != SuspendedNow) || v.Granted() != (v == OK) {
			t.Errorf("%v: refused %v, granted %v", v, v.Refused(), v.Granted())
		}
		s.mend()
	}
}

// F10: the right that each operation needs, and no other, grants it; an atomic
// is not a READ.
func TestRights(t *testing.T) {
	want := map[model.Op]Rights{model.OpWrite: RemoteWrite, model.OpRead: RemoteRead,
		model.OpSend: LocalWrite, model.OpCompareSwap: RemoteAtomic, model.OpFetchAdd: RemoteAtomic}
	for op, right := range want {
		for _, have := range []Rights{LocalWrite, RemoteWrite, RemoteRead, RemoteAtomic} {
			r := Region{Key: 0x100, State: Valid, Rights: have, Length: 8}
			v := Check(&r, 0x100, 0, qp, op, 0, 8)
			if (v == OK) != (have == right) || v != OK && v != NoRight {
				t.Errorf("%v with %#x: %v", op, uint32(have), v)
			}
		}
	}
	r := Region{Key: 0x100, State: Valid, Rights: RemoteRead, Length: 8}
	if v := CheckLocal(&r, 0x100, 0, false, 0, 8); v != OK {
		t.Errorf("local source: %v", v)
	}
	if v := CheckLocal(&r, 0x100, 0, true, 0, 8); v != NoRight {
		t.Errorf("local landing: %v", v)
	}
	if v := Check(&r, 0x100, 0, qp, model.NumOps, 0, 8); v != NoRight {
		t.Errorf("unknown operation: %v", v)
	}
}

// KEY-4: bounds against unlimited arithmetic.
func TestBoundsNeverWrap(t *testing.T) {
	edge := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(math.MaxUint64-16, math.MaxUint64), rapid.Uint64Max(16))
	rapid.Check(t, func(t *rapid.T) {
		base, length := edge.Draw(t, "base"), edge.Draw(t, "length")
		va, n := edge.Draw(t, "va"), edge.Draw(t, "n")
		big64 := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
		end := new(big.Int).Add(big64(va), big64(n))
		limit := new(big.Int).Add(big64(base), big64(length))
		want := va >= base && end.Cmp(limit) <= 0
		r := Region{Base: model.VA(base), Length: length}
		if got := r.Contains(model.VA(va), n); got != want {
			t.Fatalf("Contains = %v, want %v", got, want)
		}
	})
}

func TestPages(t *testing.T) {
	r := region(0x1800, 0x1000) // spans 0x1800 … 0x27FF: two pages
	if r.Pages() != 2 || r.Page(0x1800) != 0 || r.Page(0x2000) != 1 {
		t.Errorf("%d pages, first %d, second %d", r.Pages(), r.Page(0x1800), r.Page(0x2000))
	}
}

func BenchmarkCheck(b *testing.B) {
	table := mustTable(b, MaxRegions)
	k := mustRegister(b, table, region(0x1000, 1<<30))
	b.ReportAllocs()
	for b.Loop() {
		table.Check(k, 1, qp, model.OpWrite, 0x2000, 4096)
	}
}
