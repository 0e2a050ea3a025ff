package kernel

import (
	"errors"
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

var (
	rootKey = implicitRoot().Key
	first   = key.Make(2, 0) // key of the first child
	second  = key.Make(3, 0)
)

// atRest runs to the end and checks the children: so many made, so many left.
func (w *world) atRest(made, left int) Stats {
	w.t.Helper()
	s := w.run()
	attached, wrong := w.kernel.CheckChildren(0, w.nics[0].keys.Lookup(rootKey))
	if attached != left || wrong != 0 || s.ChildrenMade != uint64(made) || s.ChildrenDestroyed != uint64(made-left) {
		w.t.Errorf("%d children attached, %d wrong, %d made, %d destroyed; want %d made, %d left", attached, wrong, s.ChildrenMade, s.ChildrenDestroyed, made, left)
	}
	return s
}

// The first fault in a GiB makes its child, and before the adapter goes on the
// list names it. Its time is that of a fault of a plain region and the child's
// two commands, the first of which runs beside the CPU fault. The second fault
// finds all that.
func TestFirstFaultMakesTheChild(t *testing.T) {
	plain := newWorld(t, setting{spec: quick(8), regions: inGiBs(1, 4)})
	same := plain.reach(0, 0, 0, 1)
	plain.run()
	w := newWorld(t, implicitly(quick(8), inGiBs(1, 4)))
	w.logging = true
	q := w.reach(0, 0, 0, 1)
	w.atRest(1, 1)
	const command = us + 2*hop // posted, executed, complete
	wantTime(t, "first fault", q.service[0], same.service[0]+2*command-(pageTime+2*hop))
	wantTime(t, "second fault", q.service[1], same.service[1])
	want := []keyOp{{msg.KeyRegister, first, 0}, {msg.KeyEntry, rootKey, first}}
	if got := w.keyOps(); !slices.Equal(got, want) {
		t.Errorf("key commands %v, want %v", got, want)
	}
	order := []string{"key 0: 0+0", "fill 0: 16+1", "key 0: 0+0", "resume 0: 0+0", "fill 0: 17+1", "resume 0: 0+0"}
	if !slices.Equal(w.log, order) {
		t.Errorf("%q, want %q", w.log, order)
	}
	if r := w.keys[0].region; r.Base != 1<<30 || r.Length != 1<<30 || r.MTT != 0 || !r.Rights.Has(key.OnDemand) {
		t.Errorf("child %+v", r)
	}
}

// PRE-4: faults that meet in one GiB make one child, and write the list once.
func TestFaultsShareTheChild(t *testing.T) {
	w := newWorld(t, implicitly(quick(16), inGiBs(2, 4)))
	for i := range uint32(4) {
		w.reach(0, 0, i)
		w.reach(0, 1, i)
	}
	w.atRest(2, 2)
	if n := len(w.keys); n != 4 {
		t.Errorf("%d key commands, want a registration and an entry for each of two children", n)
	}
}

// INV-10: with its last page the child goes: the list's entry is null behind the
// zap and before the key dies, once. The next fault makes another, under a key
// that was never used.
func TestChildGoesWithItsLastPage(t *testing.T) {
	w := newWorld(t, implicitly(quick(8), inGiBs(1, 4)))
	w.logging = true
	w.reach(0, 0, 0, 1)
	w.reach(300*us, 0, 0)
	for i := range uint32(2) {
		w.at(clocked.Time(100+50*i)*us, func(now clocked.Time) {
			if len(w.keys) != 2 || !w.kernel.Migrate(now, i) {
				t.Errorf("page %d: %d key commands", i, len(w.keys))
			}
		})
	}
	w.at(200*us, func(clocked.Time) {
		tail := []string{"invalidate 0: 17+1", "key 0: 0+0", "key 0: 0+0"}
		if got := w.log[len(w.log)-3:]; !slices.Equal(got, tail) {
			t.Errorf("%q, want %q", got, tail)
		}
	})
	w.atRest(2, 1)
	want := []keyOp{{msg.KeyRegister, first, 0}, {msg.KeyEntry, rootKey, first}, {msg.KeyEntry, rootKey, 0},
		{msg.KeyDeregister, first, 0}, {msg.KeyRegister, key.Make(2, 1), 0}, {msg.KeyEntry, rootKey, key.Make(2, 1)}}
	if got := w.keyOps(); !slices.Equal(got, want) {
		t.Errorf("key commands %v, want %v", got, want)
	}
}

// A page that stays but leaves the table, here to be protected, takes its child
// with it.
func TestProtectedPageLeavesItsChild(t *testing.T) {
	w := newWorld(t, implicitly(quick(8), inGiBs(1, 4)))
	w.reach(0, 0, 0)
	w.at(100*us, func(now clocked.Time) { w.kernel.Protect(now, 0) })
	w.atRest(1, 0)
}

// A2: a fault is under way in a GiB whose last page goes. It finds its child
// detached and starts anew with another; the old one, whose entry is null at
// once, is destroyed when the fault has left it.
func TestFaultMeetsTheEndOfItsChild(t *testing.T) {
	s := quick(8)
	s.Fault.Minor = 50 * us
	w := newWorld(t, implicitly(s, inGiBs(1, 4)))
	w.reach(0, 0, 0)
	w.reach(200*us, 0, 1)
	w.at(210*us, func(now clocked.Time) { w.kernel.Migrate(now, 0) })
	w.at(240*us, func(clocked.Time) {
		if n := len(w.keys); n != 3 || w.keys[2].op != msg.KeyEntry || w.kernel.adapters[0].implicit.Users() != 1 {
			t.Errorf("%v: while the fault uses the child only its entry can go", w.keyOps())
		}
	})
	stats := w.atRest(2, 1)
	want := []keyOp{{msg.KeyEntry, rootKey, 0}, {msg.KeyRegister, second, 0}, {msg.KeyDeregister, first, 0}, {msg.KeyEntry, rootKey, second}}
	if got := w.keyOps()[2:]; !slices.Equal(got, want) || stats.Retries != 1 {
		t.Errorf("key commands %v, want %v; %d retries", got, want, stats.Retries)
	}
}

// A fault that ends without a page, here at its deadline, leaves no child.
func TestFaultWithoutAPageLeavesNoChild(t *testing.T) {
	s := quick(8)
	s.Fault.Update, s.Fault.Deadline = 20*us, us
	w := newWorld(t, implicitly(s, inGiBs(1, 4)))
	w.reach(0, 0, 0)
	w.at(10*us, func(now clocked.Time) { w.kernel.Migrate(now, 0) }) // between walk and update
	if stats := w.atRest(2, 1); stats.TryAgain != 1 {
		t.Errorf("%d given back at the deadline", stats.TryAgain)
	}
}

// A prefetch makes the child as a fault does; the accesses that follow raise none.
func TestPrefetchMakesTheChild(t *testing.T) {
	w := newWorld(t, implicitly(quick(16), inGiBs(2, 4)))
	w.at(us, func(now clocked.Time) {
		for region := range 2 {
			if err := w.kernel.Advise(now, 0, region, AdvisePrefetchWrite, w.kernel.regions[region].VA, 4*4096); err != nil {
				t.Error(err)
			}
		}
	})
	a, b := w.reach(500*us, 0, 0, 1, 2, 3), w.reach(500*us, 1, 0, 1, 2, 3)
	w.atRest(2, 2)
	if a.faults+b.faults != 0 {
		t.Errorf("%d faults", a.faults+b.faults)
	}
}

// Registration of an implicit region maps no page, though all are present: the
// first access of each faults.
func TestRegistrationMapsNothing(t *testing.T) {
	s := quick(8)
	s.Pager.Initial = "resident"
	w := newWorld(t, implicitly(s, inGiBs(1, 4)))
	if w.kernel.Stats.RegistrationTime != s.Registration.Base {
		t.Errorf("registration takes %v, want %v", w.kernel.Stats.RegistrationTime, s.Registration.Base)
	}
	q := w.reach(0, 0, 0, 1, 2, 3)
	if stats := w.atRest(1, 1); q.faults != 4 || stats.Initial != 4 {
		t.Errorf("%d faults, %d pages present at first", q.faults, stats.Initial)
	}
}

// An address that no memory is at makes no child; the fault fails.
func TestNoChildWithoutMemory(t *testing.T) {
	regions := inGiBs(2, 4)
	regions[1].VA += 1 << 30 // the GiB between has no entries: those behind the first are the third's
	w := newWorld(t, implicitly(quick(8), regions))
	for _, va := range []model.VA{0x1000, 1<<30 + 0xF000, 1<<30 + 0x14000, 2<<30 + 0x10000, 5 << 30} {
		q := w.reach(0, 0, 0)
		q.script[0].va = va
	}
	if stats := w.atRest(0, 0); stats.Failed != 5 {
		t.Errorf("%d of 5 faults failed", stats.Failed)
	}
}

// PRE-5, scenario A5: the root ends against a fault, a prefetch, an invalidation
// and two of one page: nothing of it is left, and later accesses by its key bring
// nothing in.
func TestRootEndsAgainstItsUsers(t *testing.T) {
	for name, use := range map[string]func(w *world, now clocked.Time){
		"nothing": func(*world, clocked.Time) {},
		"fault":   func(w *world, now clocked.Time) { w.reach(now, 0, 3) },
		"prefetch": func(w *world, now clocked.Time) {
			if err := w.kernel.Advise(now, 0, 1, AdvisePrefetchWrite, w.kernel.regions[1].VA, 4*4096); err != nil {
				t.Error(err)
			}
		},
		"invalidation": func(w *world, now clocked.Time) { w.kernel.Migrate(now, 0) },
		"two invalidations": func(w *world, now clocked.Time) {
			w.kernel.Migrate(now, 0)
			w.at(now+10*us, func(now clocked.Time) { w.kernel.Protect(now, 0) })
		},
	} {
		for _, after := range []clocked.Time{1, us, 5 * us, 20 * us} {
			s := quick(16)
			s.Fault.Driver, s.Notifier.Checks = 3*us, 3*us
			w := newWorld(t, implicitly(s, inGiBs(2, 4)))
			w.nics[0].command = 4 * us
			w.reach(0, 0, 0, 1)
			w.at(200*us, func(now clocked.Time) { use(w, now) })
			w.at(max(w.engine.Now(), 200*us)+after, func(now clocked.Time) {
				if err := w.kernel.DeregisterRoot(now, 0); err != nil {
					t.Error(err)
				}
				if err := w.kernel.DeregisterRoot(now, 0); !errors.Is(err, ErrNone) {
					t.Errorf("again: %v", err)
				}
			})
			q := w.reach(900*us, 0, 2)
			s2 := w.run()
			attached, wrong := w.kernel.CheckChildren(0, nil)
			if attached+wrong != 0 || s2.ChildrenMade != s2.ChildrenDestroyed || s2.ChildrenMade == 0 || w.nics[0].keys.Len() != 0 {
				t.Errorf("%s, %v later: %d attached, %d wrong, %d made, %d destroyed, %d keys left", name, after, attached, wrong,
					s2.ChildrenMade, s2.ChildrenDestroyed, w.nics[0].keys.Len())
			}
			if q.failures != 1 {
				t.Errorf("%s, %v later: an access by the dead key ended %d times with an error", name, after, q.failures)
			}
		}
	}
}

// A child is being made, or ended, on an adapter that does not answer: nothing
// waits for it, and no user is left.
func TestChildrenOfADeadAdapter(t *testing.T) {
	for at := 199 * us; at < 206*us; at += us / 4 {
		s := quick(16)
		s.Notifier.Timeout, s.Notifier.Disable = 300*us, 10*us
		w := newWorld(t, implicitly(s, inGiBs(2, 4)))
		w.reach(0, 0, 0)
		w.reach(200*us, 1, 0)
		w.at(at, func(now clocked.Time) {
			w.nics[0].silent = true
			w.kernel.Migrate(now, 0)
		})
		stats := w.run()
		_, wrong := w.kernel.CheckChildren(0, nil)
		if wrong > 0 || w.kernel.orders.used > 0 || stats.DeadAdapters != 1 {
			t.Errorf("silent at %v: %d wrong, %d commands open, %d dead", at, wrong, w.kernel.orders.used, stats.DeadAdapters)
		}
	}
}
