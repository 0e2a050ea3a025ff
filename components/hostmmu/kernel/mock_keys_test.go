package kernel

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"

	content "rnicmmu/model/frame"
)

// keyEvent is a key command that an adapter executed.
type keyEvent struct {
	at     clocked.Time
	op     msg.KeyOp
	key    key.Key
	region key.Region
	under  key.Key
}

const domain = 1

const allRights = key.LocalWrite | key.RemoteWrite | key.RemoteRead | key.RemoteAtomic

// change executes a key command, under keys that the kernel allots.
func (n *nic) change(c *msg.KeyChange) error {
	if n.keys != nil {
		return n.changeTable(c)
	}
	r := &n.regions[c.Key.Index()]
	switch {
	case c.Op == msg.KeyRegister && c.Region.Rights&key.RemoteWrite != 0 && !c.Region.Rights.Has(key.LocalWrite):
		return key.ErrNeedLocal
	case c.Op == msg.KeyRegister && r.State == key.Unused, c.Op == msg.KeyFastRegister && r.FastReg && r.State == key.Free:
		if c.Region.Key != c.Key {
			return key.ErrKey
		}
		*r = c.Region
	case c.Op == msg.KeyDeregister && r.Key == c.Key:
		*r = key.Region{}
	case c.Op == msg.KeyInvalidate && r.Key == c.Key && r.FastReg && r.State == key.Valid:
		r.State = key.Free
	default:
		return key.ErrState
	}
	return nil
}

// grants makes the key checks of an access.
func (n *nic) grants(a *access) bool {
	return key.Check(&n.regions[a.key.Index()], a.key, domain, 0, a.op, a.va, 8).Granted()
}

// software asks for registrations and takes the answers.
func (w *world) software(now clocked.Time) {
	for len(w.asked) > 0 && w.ports.Registration.Ready(now) {
		*w.ports.Registration.Push(now) = w.asked[0]
		w.asked = w.asked[1:]
	}
	for m := w.ports.Registered.Peek(now); m != nil; m = w.ports.Registered.Peek(now) {
		w.answers = append(w.answers, *m)
		w.ports.Registered.Pop(now)
	}
}

// entries is the number of entries of the largest table.
func (k *Kernel) entries() uint64 {
	n := uint64(len(k.pages))
	for i := range k.regions {
		r := &k.regions[i]
		n = max(n, r.FirstEntry+k.adapters[r.Adapter].shift.Span(r.VA, r.Length))
	}
	return n
}

// audit checks that every page is where the kernel believes, with its content.
func (w *world) audit() {
	for p := range uint32(w.kernel.Pages()) {
		f, resident, swapped := w.kernel.Locate(p)
		v := w.oracle.CheckUnwritten(content.Page(p))
		switch {
		case resident:
			v = w.oracle.Check(content.ID(f), content.Page(p))
		case swapped:
			v = w.oracle.CheckSlot(content.Slot(p), content.Page(p))
		}
		if v != content.Good {
			w.t.Errorf("page %d, resident %v, swapped %v: %v", p, resident, swapped, v)
		}
	}
}

// at runs up to an instant and does something there.
func (w *world) at(t clocked.Time, do func(now clocked.Time)) {
	w.t.Helper()
	w.engine.Wake(w.id, max(w.engine.Now()+1, ns))
	w.engine.Wake(w.kernel.ID(), t)
	if err := w.engine.RunUntil(t); err != nil {
		w.t.Fatal(err)
	}
	if now := w.engine.Now(); now != t {
		w.t.Fatalf("at %v, want %v", now, t)
	}
	do(t)
}

// ask sends a request at an instant, and returns when it reaches the kernel.
func (w *world) ask(t clocked.Time, m msg.Registration) clocked.Time {
	w.t.Helper()
	w.at(t, func(clocked.Time) { w.asked = append(w.asked, m) })
	w.engine.Wake(w.id, t+1)
	return t + 1 + hop
}

// dynamicRegions are regions of so many pages each, over the same pages where
// they are on different adapters.
func dynamicRegions(n, pages int) (list []Region) {
	for i := range n {
		list = append(list, Region{VA: 0x10000 + model.VA(i)*0x100000, Length: uint64(pages) * 4096, FirstPage: uint32(i * pages),
			FirstEntry: uint64(i * pages), Writable: true, Dynamic: true,
			MPT: key.Region{Key: key.Make(uint32(i)+1, 0), PD: domain, Rights: allRights}})
	}
	return list
}

func expectAnswer(t *testing.T, w *world, i int, op msg.RegistrationOp, failed bool) msg.Registered {
	t.Helper()
	if len(w.answers) <= i {
		t.Fatalf("%d answers, want one more", len(w.answers))
	}
	a := w.answers[i]
	if a.Op != op || (a.Err != nil) != failed {
		t.Fatalf("answer %d: %+v; want op %d, failed %v", i, a, op, failed)
	}
	return a
}
