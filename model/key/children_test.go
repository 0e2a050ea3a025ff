package key

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

// A2: a fault and the end of the last page meet at one index, in every order of
// their steps. After both, either there is a child that the root's entry names,
// or none and a null entry; and the entry never names a key that is gone.
func TestFaultMeetsDestruction(t *testing.T) {
	const steps = 8
	for order := range 1 << steps { // bit i set: step i is the fault's
		table := mustTable(t, 16)
		p := implicit(t, table)
		k := p.hold(5)
		p.fill(5, k)
		p.Release(k)
		fault, destroy := fault{p: p, index: 5}, []func(){
			func() { p.Hold(k) },
			func() { p.gone(5, p.Zap(k, 1)) },
			func() { p.gone(5, p.Release(k)) },
			func() { p.reap() },
		}
		for i := range 2 * steps {
			if faulting := i >= steps || order>>i&1 == 1; faulting {
				fault.step()
			}
			if destroying := i >= steps || order>>i&1 == 0; destroying && len(destroy) > 0 {
				destroy[0]()
				destroy = destroy[1:]
			}
			entryNamesTheLive(t, p, 5)
		}
		if !fault.done || len(destroy) > 0 {
			t.Fatalf("order %08b: fault done %v, %d steps of the destruction left", order, fault.done, len(destroy))
		}
		p.reap()
		if _, ok := p.Entry(5); !ok || p.Users() != 0 || p.Len() != 1 || table.Len() != 2 {
			t.Errorf("order %08b: entry %v, %d users, %d children, %d keys", order, ok, p.Users(), p.Len(), table.Len())
		}
	}
}

// fault brings one page in: it finds or makes the child, fills it, and starts
// anew when the child was detached meanwhile.
type fault struct {
	p     *process
	index uint64
	child Key
	has   bool
	done  bool
}

func (f *fault) step() {
	if f.done {
		return
	}
	if !f.has {
		f.child, f.has = f.p.hold(f.index), true
		return
	}
	f.done, f.has = f.p.fill(f.index, f.child), false
	f.p.gone(f.index, f.p.Release(f.child))
}

// entryNamesTheLive checks PRE-4 at one index: the table's entry is what the
// children say, and names an attached one.
func entryNamesTheLive(t testing.TB, p *process, index uint64) {
	t.Helper()
	k, ok := p.Entry(index)
	attached, there := p.Attached(index)
	if ok && (!there || attached != k || p.table.Lookup(k) == nil || p.table.Lookup(k).Key != k) {
		t.Fatalf("the root's entry %d names %#x, which is gone", index, uint32(k))
	}
	if named := p.table.Lookup(p.root).Entry(ChildBase(index)); named != k {
		t.Fatalf("the root's entry %d is %#x, want %#x", index, uint32(named), uint32(k))
	}
}

// A5: two invalidations of one page overlap under two users: the child is
// detached once, and destroyed when the last user has left; then the root can go.
func TestRootEndsWhenUsersHaveLeft(t *testing.T) {
	table := mustTable(t, 16)
	p := implicit(t, table)
	k := p.hold(0)
	p.fill(0, k)
	p.Hold(k)
	if !p.gone(0, p.Zap(k, 1)) || p.gone(0, p.Zap(k, 1)) {
		t.Error("detached not exactly once")
	}
	p.Release(k)
	if p.reap() != 0 {
		t.Error("destroyed under a user")
	}
	if p.Hold(k) {
		t.Error("a new user of a child that is going")
	}
	if p.gone(0, p.Release(k)) {
		t.Error("detached again")
	}
	if n := p.reap(); n != 1 || p.Users() != 0 || p.Len() != 0 {
		t.Errorf("%d reaped, %d users, %d children", n, p.Users(), p.Len())
	}
	if err := table.Deregister(p.root); err != nil || table.Len() != 0 {
		t.Errorf("root: %v, %d keys left", err, table.Len())
	}
}

// PRE-4: at most one child for an index; one is destroyed only when the root's
// entry does not name it and it has no users, and one without pages goes with
// its last user. Random lives against counts kept beside.
func TestAtMostOneChild(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, err := NewTable(200)
		if err != nil {
			t.Fatal(err)
		}
		root, err := table.Register(Region{PD: 1, Kind: Implicit, Rights: all, Length: 1 << 48, PageShift: model.Shift4K})
		if err != nil {
			t.Fatal(err)
		}
		p := &process{t: t, table: table, root: root}
		users, pages, attached := map[Key]int{}, map[Key]uint64{}, map[uint64]Key{}
		var seen []Key
		at := map[Key]uint64{}
		for range 150 {
			index := rapid.Uint64Range(0, 2).Draw(t, "index")
			op := rapid.IntRange(0, 5).Draw(t, "op")
			if op == 0 || len(seen) == 0 {
				k := p.hold(index)
				if old, ok := attached[index]; ok && k != old {
					t.Fatalf("child %d: %#x, want %#x", index, uint32(k), uint32(old))
				}
				attached[index], at[k] = k, index
				users[k]++
				seen = append(seen, k)
				continue
			}
			k := rapid.SampledFrom(seen).Draw(t, "key")
			alive := attached[at[k]] == k
			ends := func(detached, due bool) {
				if detached != (alive && due && pages[k] == 0) {
					t.Fatalf("%#x with %d users and %d pages: detached %v", uint32(k), users[k], pages[k], detached)
				}
				if detached {
					delete(attached, at[k])
				}
			}
			switch op {
			case 1:
				if p.Hold(k) != alive {
					t.Fatal("Hold")
				} else if alive {
					users[k]++
				}
			case 2:
				had := users[k] > 0
				users[k] = max(0, users[k]-1)
				ends(p.gone(at[k], p.Release(k)), had && users[k] == 0)
			case 3:
				if p.fill(at[k], k) != alive {
					t.Fatal("Fill")
				} else if alive {
					pages[k]++
				}
			case 4:
				pages[k] -= min(1, pages[k])
				ends(p.gone(at[k], p.Zap(k, 1)), true)
			case 5:
				gone, ok := p.Reap()
				if ok && (users[gone] > 0 || attached[at[gone]] == gone) {
					t.Fatalf("%#x reaped with %d users", uint32(gone), users[gone])
				}
				if ok {
					if err := table.Deregister(gone); err != nil {
						t.Fatal(err)
					}
				}
			}
			for i := range uint64(3) {
				entry := table.Lookup(root).Entry(ChildBase(i))
				if entry != 0 && (attached[i] != entry || table.Lookup(entry) == nil) {
					t.Fatalf("entry %d names %#x", i, uint32(entry))
				}
			}
		}
	})
}
