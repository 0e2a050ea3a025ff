package kernel

import (
	"errors"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// FRW-3, FRW-6: a region with a window is registered for the window's sake: its
// own key gives peers no right. A binding gives the next key of the window to
// one QP; an invalidation, the kernel's or a peer's, takes it back, and the
// memory stays registered. While the window is bound the region cannot go.
func TestRegionWindow(t *testing.T) {
	regions := dynamicRegions(1, 4)
	regions[0].Window = key.Make(2, 0)
	w := newWorld(t, setting{spec: registering(10), regions: regions, scheme: Pinned})
	table, _ := key.NewTable(8)
	if err := table.RegisterAs(key.Make(2, 0), key.Region{PD: domain, Kind: key.Window2B}); err != nil {
		t.Fatal(err)
	}
	w.nics[0].keys = table
	check := func(k key.Key, qp uint32) key.Verdict {
		return key.Check(table.Lookup(k), k, domain, qp, model.OpWrite, 0x10000, 4*4096)
	}
	expect := func(i int, op msg.RegistrationOp, failed bool, k key.Key) {
		t.Helper()
		if a := expectAnswer(t, w, i, op, failed); !failed && a.Key != k {
			t.Errorf("answer %d: key %v, want %v", i, a.Key, k)
		}
	}
	w.ask(us, register(0))
	w.ask(200*us, msg.Registration{Op: msg.FastRegister, QP: 7})
	w.ask(300*us, deregister(0))
	w.ask(400*us, msg.Registration{Op: msg.LocalInvalidate})
	w.ask(500*us, msg.Registration{Op: msg.FastRegister, QP: 9})
	w.run()
	expect(1, msg.FastRegister, false, key.Make(2, 1))
	expect(2, msg.DeregisterRegion, true, 0)
	expect(4, msg.FastRegister, false, key.Make(2, 2))
	if base, other := check(key.Make(1, 0), 9), check(key.Make(2, 2), 7); base != key.NoRight || other != key.WrongPD || !check(key.Make(2, 2), 9).Granted() || check(key.Make(2, 1), 7).Granted() {
		t.Errorf("region %v, another QP %v, QP %v, old key %v", base, other, check(key.Make(2, 2), 9), check(key.Make(2, 1), 7))
	}
	if err := table.Invalidate(key.Make(2, 2)); err != nil { // by a peer
		t.Fatal(err)
	}
	now := w.engine.Now()
	w.ask(now+us, msg.Registration{Op: msg.RemoteInvalidate})
	w.at(now+1500*ns, func(clocked.Time) {
		if s := w.kernel.registrar.regions[0].state; s != regionFree {
			t.Errorf("state %d after a peer's invalidation, want %d", s, regionFree)
		}
	})
	w.ask(now+2*us, msg.Registration{Op: msg.AdviseRegion, Advice: uint8(AdvisePrefetch)})
	w.ask(now+3*us, deregister(0))
	s := w.run()
	expect(5, msg.RemoteInvalidate, false, key.Make(2, 2))
	if a := expectAnswer(t, w, 6, msg.AdviseRegion, true); !errors.Is(a.Err, ErrNotOnDemand) {
		t.Errorf("advice on pinned memory: %v", a.Err)
	}
	expect(7, msg.DeregisterRegion, false, key.Make(2, 2))
	if s.FastRegistrations != 2 || s.LocalInvalidations != 1 || s.RemoteInvalidations != 1 || s.UnpinnedPages != 4 || table.Lookup(key.Make(1, 0)) != nil {
		t.Errorf("%+v", s.RegistrarStats)
	}
}

// PRE-1: advice on a registration brings all of its pages in, and is answered
// before that.
func TestAdviseRegion(t *testing.T) {
	w := newWorld(t, setting{spec: registering(16), regions: dynamicRegions(1, 8), scheme: ODP})
	w.ask(us, register(0))
	w.ask(200*us, msg.Registration{Op: msg.AdviseRegion, Advice: uint8(AdvisePrefetchWrite)})
	q := w.by(900*us, key.Make(1, 0), model.OpWrite, 5)
	w.at(202*us, func(clocked.Time) { expectAnswer(t, w, 1, msg.AdviseRegion, false) })
	s := w.run()
	wantCount(t, "faults", s.Events, 0)
	wantCount(t, "pages filled", s.FilledPages, 8)
	if q.refused != 0 {
		t.Error("refused")
	}
}
