package key

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

// entry is what a key was given, kept by the test.
type entry struct {
	key                     Key
	kind                    Kind
	pd                      PD
	qp                      uint32
	rights                  Rights
	base, length            uint64
	free, fast              bool
	suspends, openedWindows int
	under                   *entry
}

// verdict is the answer to an access to single bytes, from the rules as sentences.
func (e *entry) permits(pd PD, qp uint32, op model.Op, va, length uint64) (refused, later bool) {
	domain := e.pd == pd || e.kind == Window2A
	queue := e.qp == qp || e.kind == Memory || e.kind == Window1
	inside := true
	for b := va; b < va+length; b++ {
		inside = inside && b >= e.base && b < e.base+e.length
	}
	suspended := e.suspends > 0 || e.under != nil && e.under.suspends > 0
	refused = e.free || !domain || !queue || !e.rights.Has(Needed(op)) || !inside
	return refused, !refused && suspended
}

// lives drives a table and the entries beside it.
type lives struct {
	t       *rapid.T
	table   *Table
	entries []*entry
}

func (l *lives) find(k Key) *entry {
	i := slices.IndexFunc(l.entries, func(e *entry) bool { return e.key == k })
	if i < 0 {
		return nil
	}
	return l.entries[i]
}

func (l *lives) byIndex(k Key) *entry {
	i := slices.IndexFunc(l.entries, func(e *entry) bool { return e.key.Index() == k.Index() })
	if i < 0 {
		return nil
	}
	return l.entries[i]
}

// want compares an operation's success with what the rules say.
func (l *lives) want(what string, err error, ok bool) bool {
	if (err == nil) != ok {
		l.t.Fatalf("%s: %v, want success %v", what, err, ok)
	}
	return ok
}

func (l *lives) free(e *entry) {
	if e.under != nil {
		e.under.openedWindows--
	}
	e.free, e.under, e.rights, e.length = true, nil, 0, 0
}

func (l *lives) register(kind Kind, pd PD, rights Rights, base, length uint64, fast bool) {
	k, err := l.table.Register(Region{Kind: kind, PD: pd, Rights: rights, Base: model.VA(base), Length: length,
		FastReg: fast, PageShift: model.Shift4K})
	ok := len(l.entries) < 9 && (kind != Memory || rights.Has(LocalWrite) || rights&(RemoteWrite|RemoteAtomic) == 0) &&
		(kind == Memory || !fast)
	if l.want("register", err, ok) {
		e := &entry{key: k, kind: kind, pd: pd, rights: rights, base: base, length: length, fast: fast}
		if kind.Window() {
			l.free(e)
		}
		l.entries = append(l.entries, e)
	}
}

func (l *lives) bind(w, under Key, pd PD, qp uint32, rights Rights, base, length uint64) {
	err := l.table.Bind(w, under, pd, qp, rights, model.VA(base), length)
	e, r := l.byIndex(w), l.find(under)
	ok := e != nil && e.kind.Window() && e.pd == pd && (e.kind == Window1 || e.free && length > 0)
	if ok && length > 0 {
		ok = r != nil && r.kind == Memory && !r.free && r.pd == pd && r.rights.Has(WindowBind) &&
			(r.rights.Has(LocalWrite) || rights&(RemoteWrite|RemoteAtomic) == 0) &&
			base >= r.base && base+length <= r.base+r.length
	}
	if !l.want("bind", err, ok) {
		return
	}
	l.free(e)
	e.key = w
	if length > 0 {
		e.free, e.under, e.qp, e.rights, e.base, e.length = false, r, qp, rights&remote, base, length
		r.openedWindows++
	}
}

func (l *lives) change(op int, k Key, pd PD, rights Rights, base, length uint64) {
	e, any := l.find(k), l.byIndex(k)
	two := e != nil && (e.kind == Window2A || e.kind == Window2B)
	switch op {
	case 0:
		if l.want("invalidate", l.table.Invalidate(k), e != nil && (e.fast || two) && !e.free && e.openedWindows == 0) {
			e.free = true
			if two {
				e.free = false
				l.free(e)
			}
		}
	case 1:
		if l.want("deregister", l.table.Deregister(k), e != nil && e.openedWindows == 0) {
			if e.under != nil {
				e.under.openedWindows--
			}
			l.entries = slices.DeleteFunc(l.entries, func(x *entry) bool { return x == e })
		}
	case 2:
		ok := any != nil && any.fast && any.free && any.pd == pd &&
			(rights.Has(LocalWrite) || rights&(RemoteWrite|RemoteAtomic) == 0)
		if l.want("fast register", l.table.FastRegister(k, pd, rights, model.VA(base), length), ok) {
			any.key, any.rights, any.base, any.length, any.free = k, rights, base, length, false
		}
	case 3:
		if l.want("suspend", l.table.Suspend(k), any != nil && !any.kind.Window()) {
			any.suspends++
		}
	case 4:
		if l.want("resume", l.table.Resume(k), any != nil && any.suspends > 0) {
			any.suspends--
		}
	}
}

// KEY-1, KEY-3, FRW-6: random lives of regions and windows against their
// rules as sentences; a step that the rules refuse changes nothing.
func TestLivesAgainstRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, err := NewTable(10)
		if err != nil {
			t.Fatal(err)
		}
		l := &lives{t: t, table: table}
		given := []Key{0x1300} // names nothing
		rightsOf := rapid.Map(rapid.Uint32Range(0, 31), func(u uint32) Rights {
			return Rights(u) | LocalWrite*Rights(u%3&1)
		})
		for range 120 {
			pd := PD(rapid.IntRange(0, 3).Draw(t, "pd") / 3)
			who := uint32(rapid.IntRange(0, 3).Draw(t, "qp") / 3)
			base, length := rapid.Uint64Range(0, 8).Draw(t, "base"), rapid.Uint64Range(0, 24).Draw(t, "length")
			rights := rightsOf.Draw(t, "rights")
			op := rapid.IntRange(0, 9).Draw(t, "op")
			switch {
			case op < 2:
				kind := rapid.SampledFrom([]Kind{Memory, Memory, Window1, Window2A, Window2B}).Draw(t, "kind")
				l.register(kind, pd, rights|WindowBind, base, length+8, kind == Memory && rapid.Bool().Draw(t, "fast"))
				if n := len(l.entries); n > 0 {
					given = append(given, l.entries[n-1].key)
				}
			case op < 5:
				w := rapid.SampledFrom(given).Draw(t, "window")
				w = Make(w.Index(), w.Variant()+uint8(rapid.IntRange(0, 1).Draw(t, "variant")))
				given = append(given, w)
				l.bind(w, rapid.SampledFrom(given).Draw(t, "under"), pd, who, rights, base, length)
			default:
				k := rapid.SampledFrom(given).Draw(t, "key")
				l.change(op-5, k, pd, rights, base, length)
			}
			k := rapid.SampledFrom(given).Draw(t, "used")
			use := model.Op(rapid.IntRange(0, int(model.NumOps)-1).Draw(t, "use"))
			va, n := rapid.Uint64Range(0, 12).Draw(t, "va"), rapid.Uint64Range(1, 12).Draw(t, "bytes")
			refused, later := true, false
			if e := l.find(k); e != nil {
				refused, later = e.permits(pd, who, use, va, n)
			}
			_, v := table.Check(k, pd, who, use, model.VA(va), n)
			if v.Refused() != refused || (v == SuspendedNow) != later {
				t.Fatalf("%v of %d at %d by %#x: %v, want refused %v, later %v", use, n, va, uint32(k), v, refused, later)
			}
		}
	})
}
