package key

import (
	"errors"
	"slices"
	"testing"

	"rnicmmu/model"
)

// fastRegion is a table with one fast-registration region of 4 KiB at 4 KiB.
func fastRegion(t *testing.T) (*Table, Key) {
	t.Helper()
	table := mustTable(t, 16)
	r := region(0x1000, 0x1000)
	r.FastReg = true
	return table, mustRegister(t, table, r)
}

// KEY-3, FRW-1, D5: once a key is invalidated, every later packet of a WRITE or
// READ that had begun is refused, and so is a late WRITE.
func TestInvalidateStopsMessagesUnderWay(t *testing.T) {
	for _, op := range []model.Op{model.OpWrite, model.OpRead} {
		table, k := fastRegion(t)
		wantVerdict(t, table, k, op, 0x1000, 0x1000, OK)
		wantVerdict(t, table, k, op, 0x1400, 0xC00, OK)
		if err := table.Invalidate(k); err != nil {
			t.Fatal(err)
		}
		wantVerdict(t, table, k, op, 0x1800, 0x800, NotValid)
		wantVerdict(t, table, k, op, 0x1000, 0x1000, NotValid)
	}
}

// FRW-4, D11: a SEND with invalidate that is seen has killed the key: the same
// peer's READ by it is refused, also when the index serves new memory.
func TestKeyIsDeadAfterSendWithInvalidate(t *testing.T) {
	table, k := fastRegion(t)
	if err := table.Invalidate(k); err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, table, k, model.OpRead, 0x1000, 8, NotValid)
	if err := table.FastRegister(next(k), 1, all, 0x1000, 0x1000); err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, table, k, model.OpRead, 0x1000, 8, WrongVariant)
}

// FRW-6, D8: invalidating a key that is free already fails and changes nothing,
// nor does any other step that fails.
func TestFailedStepsChangeNothing(t *testing.T) {
	table, k := fastRegion(t)
	if err := table.Invalidate(k); err != nil {
		t.Fatal(err)
	}
	before := *table.Lookup(k)
	for name, err := range map[string]error{
		"invalidate":    table.Invalidate(k),
		"register: PD":  table.FastRegister(k, 2, all, 0, 8),
		"register: end": table.FastRegister(k, 1, all, 1<<63, 1<<63+1),
	} {
		if err == nil || *table.Lookup(k) != before {
			t.Errorf("%s: %v, changed %v", name, err, *table.Lookup(k) != before)
		}
	}
}

// D7: of 16 WRITEs, those behind a deregistration are refused, whatever becomes
// of the index.
func TestDeregisterAmongWrites(t *testing.T) {
	table := mustTable(t, 2)
	k := mustRegister(t, table, region(0x1000, 0x1000))
	var got []Verdict
	for i := range 16 {
		if i == 4 {
			if err := table.Deregister(k); err != nil {
				t.Fatal(err)
			}
		}
		if i == 10 {
			mustRegister(t, table, region(0x1000, 0x1000))
		}
		_, v := table.Check(k, 1, qp, model.OpWrite, 0x1000, 8)
		got = append(got, v)
	}
	want := slices.Concat(slices.Repeat([]Verdict{OK}, 4), slices.Repeat([]Verdict{NoRegion}, 6),
		slices.Repeat([]Verdict{WrongVariant}, 6))
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// D9: a registration that is kept for reading does not stand for one that wants
// atomics, nor for more memory, another domain, or while its memory moves.
func TestKeptRegistrationMustCoverAll(t *testing.T) {
	table := mustTable(t, 16)
	r := region(0x1000, 0x1000)
	r.Rights = LocalWrite | RemoteRead
	k := mustRegister(t, table, r)
	covers := func(pd PD, rights Rights, length uint64) bool {
		return table.Lookup(k).Covers(pd, rights, 0x1000, length)
	}
	for _, rights := range []Rights{0, LocalWrite, RemoteRead, LocalWrite | RemoteRead} {
		if !covers(1, rights, 0x1000) {
			t.Errorf("rights %#x not covered", uint32(rights))
		}
	}
	if covers(1, RemoteAtomic, 8) || covers(1, RemoteRead|RemoteAtomic, 8) || covers(1, RemoteRead, 0x1001) || covers(2, RemoteRead, 8) {
		t.Error("covered though rights, memory or domain lack")
	}
	if err := table.Suspend(k); err != nil {
		t.Fatal(err)
	}
	if covers(1, RemoteRead, 8) {
		t.Error("covered while suspended")
	}
}

// E12, FLT-8: the right of the registration × that of the page. A writable
// region asks for a writable page even to be read; an entry allows stores only
// where both do.
func TestFillMatrix(t *testing.T) {
	for _, tc := range []struct {
		rights           Rights
		page, stores, ok bool
	}{
		{LocalWrite | RemoteRead, true, true, true},
		{LocalWrite | RemoteRead, false, true, false},
		{RemoteRead, true, false, true},
		{RemoteRead, false, false, true},
	} {
		r := Region{Rights: tc.rights}
		if stores, ok := r.Fill(tc.page); ok != tc.ok || ok && stores != tc.stores {
			t.Errorf("%#x, page stores %v: %v, %v", uint32(tc.rights), tc.page, stores, ok)
		}
	}
}

// SUS-2: a suspension outlives the invalidation and the new registration of its
// region: the memory that moves is not touched by way of a new key.
func TestSuspensionOutlivesInvalidation(t *testing.T) {
	table, k := fastRegion(t)
	for _, err := range []error{table.Suspend(k), table.Invalidate(k), table.FastRegister(next(k), 1, all, 0x1000, 8)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	wantVerdict(t, table, next(k), model.OpRead, 0x1000, 8, SuspendedNow)
	if err := table.Resume(k); err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, table, next(k), model.OpRead, 0x1000, 8, OK)
}

// Keys that a caller allots are served, taken once, and never given to another.
func TestRegisterAs(t *testing.T) {
	table := mustTable(t, 6)
	mine := Make(4, 9)
	for _, step := range []struct {
		k    Key
		want error
	}{{mine, nil}, {Make(4, 1), ErrInUse}, {Make(0, 1), ErrInUse}, {Make(6, 0), ErrInUse}} {
		if err := table.RegisterAs(step.k, region(0x1000, 8)); !errors.Is(err, step.want) {
			t.Errorf("%#x: %v, want %v", uint32(step.k), err, step.want)
		}
	}
	wantVerdict(t, table, mine, model.OpRead, 0x1000, 8, OK)
	var got []uint32
	for range 4 {
		got = append(got, mustRegister(t, table, region(0, 8)).Index())
	}
	if want := []uint32{5, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("indexes %v, want %v", got, want)
	}
	if _, err := table.Register(region(0, 8)); !errors.Is(err, ErrFull) || table.Len() != 5 {
		t.Errorf("full: %v, %d keys", err, table.Len())
	}
	if err := table.Deregister(mine); err != nil {
		t.Fatal(err)
	}
	if err := table.RegisterAs(mine, region(0, 8)); err != nil {
		t.Errorf("again: %v", err)
	}
	if _, err := table.Register(region(0, 8)); !errors.Is(err, ErrFull) {
		t.Errorf("an index in use was handed out: %v", err)
	}
}
