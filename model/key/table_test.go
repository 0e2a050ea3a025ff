package key

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

// KEY-3: a stale key never opens the region that reuses its index, and the index
// freed longest ago is reused first.
func TestReuseOrderAndStaleKeys(t *testing.T) {
	table := mustTable(t, 4) // indexes 1, 2, 3
	var keys []Key
	for range 3 {
		keys = append(keys, mustRegister(t, table, region(0, 8)))
	}
	if _, err := table.Register(region(0, 8)); !errors.Is(err, ErrFull) {
		t.Errorf("full table: %v", err)
	}
	for _, i := range []int{1, 2, 0} {
		if err := table.Deregister(keys[i]); err != nil {
			t.Fatal(err)
		}
		if _, v := table.Check(keys[i], 1, qp, model.OpRead, 0, 8); v != NoRegion {
			t.Errorf("deregistered key: %v", v)
		}
	}
	for _, i := range []int{1, 2, 0} {
		k := mustRegister(t, table, region(0, 8))
		if k.Index() != keys[i].Index() || k.Variant() == keys[i].Variant() {
			t.Errorf("got %#x, want index %d with a new variant", uint32(k), keys[i].Index())
		}
		if _, v := table.Check(keys[i], 1, qp, model.OpRead, 0, 8); v != WrongVariant {
			t.Errorf("stale key: %v", v)
		}
		if err := table.Deregister(keys[i]); !errors.Is(err, ErrKey) {
			t.Errorf("deregister by stale key: %v", err)
		}
	}
}

// SUS-2: suspensions nest, and only the last Resume opens the region.
func TestSuspendNests(t *testing.T) {
	table := mustTable(t, 16)
	k := mustRegister(t, table, region(0, 8))
	want := func(v Verdict) {
		t.Helper()
		if _, got := table.Check(k, 1, qp, model.OpRead, 0, 8); got != v {
			t.Errorf("verdict %v, want %v", got, v)
		}
	}
	for _, step := range []struct {
		do   func(Key) error
		want Verdict
	}{{table.Suspend, SuspendedNow}, {table.Suspend, SuspendedNow}, {table.Resume, SuspendedNow}, {table.Resume, OK}} {
		if err := step.do(k); err != nil {
			t.Fatal(err)
		}
		want(step.want)
	}
	if err := table.Resume(k); !errors.Is(err, ErrNotSuspended) {
		t.Errorf("one resume too many: %v", err)
	}
}

// Random lives of keys against a plain map of what each key was given.
func TestTableAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, err := NewTable(rapid.IntRange(2, 12).Draw(t, "capacity"))
		if err != nil {
			t.Fatal(err)
		}
		live := map[Key]model.VA{}
		var seen []Key
		for i := range 100 {
			if rapid.Bool().Draw(t, "register") {
				base := model.VA(i) << 12
				k, err := table.Register(region(base, 64))
				if err == nil {
					if _, taken := live[k]; taken {
						t.Fatalf("key %#x handed out twice", uint32(k))
					}
					live[k] = base
					seen = append(seen, k)
				}
			} else if len(seen) > 0 {
				k := rapid.SampledFrom(seen).Draw(t, "key")
				_, ok := live[k]
				if err := table.Deregister(k); (err == nil) != ok {
					t.Fatalf("Deregister(%#x) = %v", uint32(k), err)
				}
				delete(live, k)
			}
		}
		if table.Len() != len(live) {
			t.Fatalf("Len %d, want %d", table.Len(), len(live))
		}
		for _, k := range seen {
			base, ok := live[k]
			if _, v := table.Check(k, 1, qp, model.OpRead, base, 64); (v == OK) != ok {
				t.Fatalf("key %#x: %v, live %v", uint32(k), v, ok)
			}
		}
	})
}
