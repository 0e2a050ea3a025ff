package key

import (
	"errors"
	"testing"

	"rnicmmu/model"
)

const gib = 1 << 30

// process is an implicit region with its children, as a kernel keeps both: what
// the children's lives say is written to the table at once.
type process struct {
	Children
	t interface {
		Helper()
		Fatal(args ...any)
		Fatalf(format string, args ...any)
	}
	table *Table
	root  Key
}

func implicit(t testing.TB, table *Table) *process {
	t.Helper()
	return &process{t: t, table: table,
		root: mustRegister(t, table, Region{PD: 1, Kind: Implicit, Rights: all, Length: 1 << 48, PageShift: model.Shift4K})}
}

// hold finds or makes the child of an index, whose user the caller is.
func (p *process) hold(index uint64) Key {
	p.t.Helper()
	if k, ok := p.Attached(index); ok {
		p.Hold(k)
		return k
	}
	k, err := p.table.Register(Region{PD: 1, Rights: all | OnDemand, Base: ChildBase(index), Length: gib, MTT: index * 1000, PageShift: model.Shift4K})
	if err != nil {
		p.t.Fatal(err)
	}
	if child, won := p.Attach(index, k); !won || child != k {
		p.t.Fatalf("child %d: %#x, %v", index, uint32(child), won)
	}
	return k
}

// fill brings a page in, and tells whether the child was still there for it.
func (p *process) fill(index uint64, k Key) bool {
	if !p.Fill(k, 1) {
		return false
	}
	if p.Publish(k) {
		p.set(index, k)
	}
	return true
}

func (p *process) set(index uint64, k Key) {
	p.t.Helper()
	if err := p.table.SetEntry(p.root, ChildBase(index), k); err != nil {
		p.t.Fatal(err)
	}
}

// gone writes the null entry of a child that was detached, where one is due.
func (p *process) gone(index uint64, d Detached) bool {
	if d.Named {
		p.set(index, 0)
	}
	return d.Now
}

// reap deregisters what may be, as the worker does, and counts it.
func (p *process) reap() (n int) {
	p.t.Helper()
	for k, ok := p.Reap(); ok; k, ok = p.Reap() {
		if err := p.table.Deregister(k); err != nil {
			p.t.Fatal(err)
		}
		n++
	}
	return n
}

// An address of the root resolves to its child once the root's entry names it,
// and to nothing else's: 20 GiB touched are 20 children of 1 GiB, and an access
// across a boundary has two parts.
func TestRootResolvesToChildren(t *testing.T) {
	table := mustTable(t, 64)
	p := implicit(t, table)
	const first = 0x7F00_0000_0000 / gib
	part, v := table.Resolve(p.root, 1, qp, model.OpWrite, first*gib, 8)
	if v != NoChild || v.Granted() || v.Refused() || part.Region.Key != p.root || part.VA != first*gib {
		t.Errorf("untouched: %v", v)
	}
	for i := uint64(first); i < first+20; i++ {
		k := p.hold(i)
		if _, v := table.Resolve(p.root, 1, qp, model.OpWrite, ChildBase(i), 8); v != NoChild {
			t.Errorf("child %d before its pages: %v", i, v)
		}
		p.fill(i, k)
		p.Release(k)
	}
	if p.Len() != 20 {
		t.Errorf("%d children, want 20", p.Len())
	}
	for i := uint64(first); i < first+20; i++ {
		part, v := table.Resolve(p.root, 1, qp, model.OpWrite, ChildBase(i+1)-4, 8)
		if v != OK || part.Length != 4 || part.Region.MTT != i*1000 || part.Region.Page(part.VA) != gib/4096-1 {
			t.Errorf("end of child %d: %v, %+v", i, v, part)
		}
		if k, _ := p.Entry(i); part.Region != table.Lookup(k) {
			t.Errorf("child %d: wrong region", i)
		}
	}
	if _, v := table.Resolve(p.root, 1, qp, model.OpWrite, 1<<48, 8); v != OutOfBounds {
		t.Errorf("outside the root: %v", v)
	}
}

// PRE-4: a list names only children of its root: memory of its domain, and the
// GiB of the entry. One that it names cannot be deregistered.
func TestEntryRules(t *testing.T) {
	table := mustTable(t, 64)
	p := implicit(t, table)
	child := Region{PD: 1, Rights: all, Base: 5 * gib, Length: gib, PageShift: model.Shift4K}
	good := mustRegister(t, table, child)
	foreign, short := child, child
	foreign.PD, short.Length = 2, gib/2
	for _, tc := range []struct {
		root  Key
		va    model.VA
		child Key
		want  error
	}{
		{p.root ^ 1, 5 * gib, good, ErrKey},
		{good, 5 * gib, 0, ErrKind},
		{p.root, 1 << 48, 0, ErrOutside},
		{p.root, 6 * gib, good, ErrOutside},
		{p.root, 5 * gib, good ^ 1, ErrKey},
		{p.root, 0, p.root, ErrKind},
		{p.root, 5 * gib, mustRegister(t, table, foreign), ErrWrongDomain},
		{p.root, 5 * gib, mustRegister(t, table, short), ErrOutside},
		{p.root, 5*gib + 123, good, nil},
	} {
		if err := table.SetEntry(tc.root, tc.va, tc.child); !errors.Is(err, tc.want) {
			t.Errorf("%#x at %#x of %#x: %v, want %v", uint32(tc.child), uint64(tc.va), uint32(tc.root), err, tc.want)
		}
	}
	if err := table.Deregister(good); !errors.Is(err, ErrNamed) {
		t.Errorf("named, and deregistered: %v", err)
	}
	other := mustRegister(t, table, child)
	p.set(5, other)
	if err := table.Deregister(good); err != nil {
		t.Errorf("no more named: %v", err)
	}
	if err := table.Deregister(p.root); err != nil {
		t.Fatal(err)
	}
	if err := table.Deregister(other); err != nil {
		t.Errorf("its root is gone: %v", err)
	}
}
