package key

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

const gib = 1 << 30

func implicit(t testing.TB, table *Table) (Key, *Children) {
	t.Helper()
	root := mustRegister(t, table, Region{PD: 1, Kind: Implicit, Rights: all, Length: 1 << 48, PageShift: model.Shift4K})
	return root, table.Children(root)
}

func childOf(t testing.TB, table *Table, root Key, index uint64) Key {
	t.Helper()
	k, err := table.Child(root, index, index*1000)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// reap deregisters what may be, as the worker does, and counts it.
func reap(t testing.TB, table *Table, c *Children) (n int) {
	t.Helper()
	for k, ok := c.Reap(); ok; k, ok = c.Reap() {
		if err := table.Deregister(k); err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// An address of the root resolves to its child once pages are there, and to
// nothing else's: 20 GiB touched are 20 children of 1 GiB, and an access across
// a boundary has two parts.
func TestRootResolvesToChildren(t *testing.T) {
	table := mustTable(t, 64)
	root, c := implicit(t, table)
	const first = 0x7F00_0000_0000 / gib
	p, v := table.Resolve(root, 1, qp, model.OpWrite, first*gib, 8)
	if v != NoChild || v.Granted() || v.Refused() || p.Region.Key != root || p.VA != first*gib {
		t.Errorf("untouched: %v", v)
	}
	for i := uint64(first); i < first+20; i++ {
		k := childOf(t, table, root, i)
		if _, v := table.Resolve(root, 1, qp, model.OpWrite, ChildBase(i), 8); v != NoChild {
			t.Errorf("child %d before its pages: %v", i, v)
		}
		c.Fill(k, 1)
		c.Release(k)
	}
	if c.Len() != 20 {
		t.Errorf("%d children, want 20", c.Len())
	}
	for i := uint64(first); i < first+20; i++ {
		p, v := table.Resolve(root, 1, qp, model.OpWrite, ChildBase(i+1)-4, 8)
		if v != OK || p.Length != 4 || p.Region.MTT != i*1000 || p.Region.Page(p.VA) != gib/4096-1 {
			t.Errorf("end of child %d: %v, %+v", i, v, p)
		}
		k, _ := c.Entry(i)
		if p.Region != table.Lookup(k) || !p.Region.OnDemand() {
			t.Errorf("child %d: wrong region", i)
		}
	}
	if _, v := table.Resolve(root, 1, qp, model.OpWrite, 1<<48, 8); v != OutOfBounds {
		t.Errorf("outside the root: %v", v)
	}
	if _, err := table.Child(root, 1<<18, 0); !errors.Is(err, ErrOutside) {
		t.Errorf("child outside the root: %v", err)
	}
}

// A2: a fault and the end of the last page meet at one index, in every order of
// their steps. After both, either there is a child that the root's entry names,
// or none and a null entry; and the entry never names a key that is gone.
func TestFaultMeetsDestruction(t *testing.T) {
	const steps = 8
	for order := range 1 << steps { // bit i set: step i is the fault's
		table := mustTable(t, 16)
		root, c := implicit(t, table)
		k := childOf(t, table, root, 5)
		c.Fill(k, 1)
		c.Release(k)
		fault, destroy := fault{t: t, table: table, root: root, index: 5}, []func(){
			func() { c.Hold(k) },
			func() { c.Zap(k, 1) },
			func() { c.Release(k) },
			func() { reap(t, table, c) },
		}
		for i := range 2 * steps {
			if faulting := i >= steps || order>>i&1 == 1; faulting {
				fault.step()
			}
			if destroying := i >= steps || order>>i&1 == 0; destroying && len(destroy) > 0 {
				destroy[0]()
				destroy = destroy[1:]
			}
			entryNamesTheLive(t, table, c, 5)
		}
		if !fault.done || len(destroy) > 0 {
			t.Fatalf("order %08b: fault done %v, %d steps of the destruction left", order, fault.done, len(destroy))
		}
		reap(t, table, c)
		if _, ok := c.Entry(5); !ok || c.Users() != 0 || c.Len() != 1 || table.Len() != 2 {
			t.Errorf("order %08b: entry %v, %d users, %d children, %d keys", order, ok, c.Users(), c.Len(), table.Len())
		}
	}
}

// fault brings one page in: it finds or makes the child, fills it, and starts
// anew when the child was detached meanwhile.
type fault struct {
	t     testing.TB
	table *Table
	root  Key
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
		f.child, f.has = childOf(f.t, f.table, f.root, f.index), true
		return
	}
	c := f.table.Children(f.root)
	f.done, f.has = c.Fill(f.child, 1), false
	c.Release(f.child)
}

// entryNamesTheLive checks PRE-4 at one index.
func entryNamesTheLive(t testing.TB, table *Table, c *Children, index uint64) {
	t.Helper()
	k, ok := c.Entry(index)
	attached, there := c.Attached(index)
	if ok && (!there || attached != k || table.Lookup(k) == nil || table.Lookup(k).Key != k) {
		t.Fatalf("the root's entry %d names %#x, which is gone", index, uint32(k))
	}
}

// A5: two invalidations of one page overlap, then the root ends: the child is
// detached once, every count returns to zero, and the root can go.
func TestRootEndsWhenUsersHaveLeft(t *testing.T) {
	table := mustTable(t, 16)
	root, c := implicit(t, table)
	k := childOf(t, table, root, 0)
	c.Fill(k, 1)
	c.Release(k)
	for range 2 {
		if !c.Hold(k) {
			t.Fatal("an invalidation could not hold the child")
		}
	}
	if !c.Zap(k, 1) || c.Zap(k, 0) {
		t.Error("detached not exactly once")
	}
	c.Release(k)
	if reap(t, table, c) != 0 {
		t.Error("destroyed under a user")
	}
	if err := table.Deregister(k); !errors.Is(err, ErrUsers) {
		t.Errorf("deregistered under a user: %v", err)
	}
	if c.Hold(k) {
		t.Error("a new user of a child that is going")
	}
	c.Close()
	if err := table.Deregister(root); !errors.Is(err, ErrUsers) {
		t.Errorf("root deregistered under a user: %v", err)
	}
	c.Release(k)
	if n := reap(t, table, c); n != 1 || c.Users() != 0 {
		t.Errorf("%d reaped, %d users", n, c.Users())
	}
	if _, err := table.Child(root, 0, 0); !errors.Is(err, ErrState) || table.Len() != 1 {
		t.Errorf("a child of a closed root: %v, %d keys", err, table.Len())
	}
	if err := table.Deregister(root); err != nil || table.Len() != 0 {
		t.Errorf("root: %v, %d keys left", err, table.Len())
	}
}

// PRE-4: at most one child for an index; one is destroyed only when the root's
// entry does not name it and it has no users. Random lives against counts kept
// beside.
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
		c := table.Children(root)
		users, pages, attached := map[Key]int{}, map[Key]uint64{}, map[uint64]Key{}
		var seen []Key
		at := map[Key]uint64{}
		for range 150 {
			index := rapid.Uint64Range(0, 2).Draw(t, "index")
			op := rapid.IntRange(0, 5).Draw(t, "op")
			if op == 0 || len(seen) == 0 {
				k, err := table.Child(root, index, 0)
				if old, ok := attached[index]; err != nil || ok && k != old {
					t.Fatalf("child %d: %#x, %v, want %#x", index, uint32(k), err, uint32(old))
				}
				attached[index], at[k] = k, index
				users[k]++
				seen = append(seen, k)
				continue
			}
			k := rapid.SampledFrom(seen).Draw(t, "key")
			alive := attached[at[k]] == k
			switch op {
			case 1:
				if c.Hold(k) != alive {
					t.Fatal("Hold")
				} else if alive {
					users[k]++
				}
			case 2:
				c.Release(k)
				users[k] = max(0, users[k]-1)
			case 3:
				if c.Fill(k, 2) != alive {
					t.Fatal("Fill")
				} else if alive {
					pages[k] += 2
				}
			case 4:
				pages[k] -= min(1, pages[k])
				if c.Zap(k, 1) != (alive && pages[k] == 0) {
					t.Fatal("Zap")
				}
				if alive && pages[k] == 0 {
					delete(attached, at[k])
				}
			case 5:
				gone, ok := c.Reap()
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
				entry, ok := c.Entry(i)
				if ok && (attached[i] != entry || table.Lookup(entry) == nil) {
					t.Fatalf("entry %d names %#x", i, uint32(entry))
				}
			}
		}
	})
}
