package kernel

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// impatient is steps with time-outs of microseconds.
func impatient(frames int) Spec {
	s := steps(quick(frames))
	s.Notifier.Timeout, s.Notifier.Disable = 50*us, 10*us
	return s
}

// deaf makes two adapters share pages, has both use page 0, and silences the
// first. What is touched next by the second evicts.
func deaf(t *testing.T, s Spec, configs ...AdapterConfig) *world {
	w := newWorld(t, setting{spec: s, regions: shared(2, 16), configs: configs})
	w.iommu.timeout = 50 * us
	w.on(0, true, 0)
	w.on(1, true, 0)
	w.run()
	w.nics[0].silent = true
	w.logging = true
	return w
}

// ATS-8: an adapter that does not answer delays the others by one time-out and
// the time until its root port is closed, no more, and its frames are free only
// then. Later invalidations pass it over.
func TestDeadAdapter(t *testing.T) {
	for _, c := range []AdapterConfig{scheme(ODP), scheme(Suspend), scheme(SVA)} {
		w := deaf(t, impatient(4), c, scheme(c.Scheme))
		evicted := w.kernel.Stats.Evictions
		w.on(1, true, pages(1, 16)...)
		stats := w.run()
		if stats.Evictions-evicted < 8 {
			t.Errorf("%s: %d evictions behind the time-out", c.Scheme, stats.Evictions-evicted)
		}
		wantCount(t, c.Scheme+" timed out", stats.InvalidationsTimedOut, 1)
		wantCount(t, c.Scheme+" dead", stats.DeadAdapters, 1)
		for i, r := range w.records {
			if (r.Adapter == 0) != (i == 0) || r.TimedOut != (i == 0) {
				t.Errorf("%s: record %d: %+v", c.Scheme, i, r)
			}
		}
		dead, other := w.records[0], w.records[1]
		if c.Scheme == SVA {
			// The time-out runs from the devTLB's command, the first of two; the fence comes behind both.
			wantTime(t, "sva done", dead.Done-dead.Sent, 50*us+hop+10*us+1700*ns)
		} else {
			wantTime(t, c.Scheme+" done", dead.Done-dead.Sent, 50*us+10*us+500*ns+1700*ns)
		}
		if other.Done != dead.Done || other.TimedOut || other.Acknowledged-other.Sent > 2*us {
			t.Errorf("%s: the other adapter's record: %+v", c.Scheme, other)
		}
		if other.Others != dead.Others || dead.Others-dead.Sent < 60*us || dead.Others >= dead.Done {
			t.Errorf("%s: the dead adapter is waited for until %v: %+v", c.Scheme, dead.Others, dead)
		}
		if !w.nics[0].cut {
			t.Errorf("%s: the root port was never told", c.Scheme)
		}
	}
}

// ATS-8: no frame of a page that a dead adapter may reach is free before its
// root port is closed.
func TestFramesWaitForTheRootPort(t *testing.T) {
	for _, c := range []AdapterConfig{scheme(ODP), scheme(SVA)} {
		w := deaf(t, impatient(4), c, scheme(c.Scheme))
		freed := w.kernel.Stats.Evictions
		w.ticked = func(now clocked.Time) {
			if w.kernel.Stats.Evictions > freed && !w.nics[0].cut {
				t.Fatalf("%v: a page left before the root port was told", now)
			}
			if k := w.kernel; k.adapters[0].state == adapterStopping && k.pages[0].state != pageEvicting {
				t.Fatalf("%v: page 0 is in state %d while the root port drains", now, k.pages[0].state)
			}
		}
		w.on(1, true, pages(1, 8)...)
		w.run()
	}
}

// A completion that comes after the time-out is nobody's.
func TestLateCompletion(t *testing.T) {
	w := deaf(t, impatient(4), scheme(ODP), scheme(ODP))
	w.on(1, true, pages(1, 6)...)
	before := w.run()
	if len(w.nics[0].ignored) != 1 {
		t.Fatalf("%d commands ignored", len(w.nics[0].ignored))
	}
	late := w.nics[0].ignored[0]
	late.Record.Received, late.Record.Marked = 1, 1 // the adapter writes what it has a pointer to
	w.out = append(w.out, msg.Inbox{Kind: msg.KindCQE, Body: late})
	w.on(1, true, pages(6, 12)...)
	after := w.run()
	wantCount(t, "acknowledged", after.InvalidationsAcknowledged-before.InvalidationsAcknowledged, after.InvalidationsIssued-before.InvalidationsIssued)
	for _, r := range w.records {
		if r.Received == 1 {
			t.Errorf("the late adapter wrote to record %+v", r)
		}
	}
}

// A6: the faults of an adapter that is gone end without an answer, and their
// contexts, workers and pages serve others.
func TestFaultsOfADeadAdapterEnd(t *testing.T) {
	s := impatient(8)
	s.Fault.Contexts, s.Fault.Workers = 2, 2
	w := newWorld(t, setting{spec: s, regions: shared(2, 16), configs: []AdapterConfig{scheme(ODP), scheme(ODP)}})
	n := w.nics[0]
	n.silent = true // faults, but executes nothing
	for p := range uint32(5) {
		w.on(0, true, p)
	}
	w.on(1, true, pages(0, 12)...)
	stats := w.run()
	wantCount(t, "gone", stats.Gone, 5)
	wantCount(t, "dead", stats.DeadAdapters, 1)
	for p, pg := range w.kernel.pages {
		if pg.holds > 0 {
			t.Errorf("page %d is held %d times", p, pg.holds)
		}
	}
	for _, q := range n.qps {
		if q.resumes > 0 {
			t.Error("a dead adapter was answered")
		}
	}
}

// B5: page requests of an adapter that left the bus while they were in the ring
// are taken off it and not answered.
func TestPageRequestsOfADeadAdapter(t *testing.T) {
	w := newWorld(t, setting{spec: impatient(8), regions: shared(2, 4), configs: []AdapterConfig{scheme(SVA), scheme(SVA)}})
	q := &qp{faulting: true, script: []access{{}}, at: 1}
	w.nics[0].qps = append(w.nics[0].qps, q)
	w.askPages(0, q, want(0, false, false), want(1, true, true))
	w.kernel.disable(0, 0)
	w.on(1, true, 2, 3)
	stats := w.run()
	wantCount(t, "gone", stats.Gone, 1)
	wantCount(t, "places in use", uint64(w.iommu.ring), 0)
	wantCount(t, "responses", uint64(len(w.iommu.code)), stats.Resumed)
	wantCount(t, "filled", stats.FilledPages, 2)
}

// ATS-10: of two invalidations under way when one adapter stops answering each
// is told by its own fence what came of what it asked: the adapter's record
// times out, the others' do not, and both pages leave.
func TestEveryFenceIsTold(t *testing.T) {
	w := newWorld(t, setting{spec: impatient(4), regions: shared(2, 8), configs: []AdapterConfig{scheme(SVA), scheme(SVA)}})
	w.iommu.timeout = 50 * us
	w.on(1, true, 0, 1)
	w.run()
	w.nics[0].silent = true
	w.move(t, 0)
	w.move(t, 1)
	stats := w.run()
	wantCount(t, "migrations", stats.Migrations, 2)
	wantCount(t, "timed out", stats.InvalidationsTimedOut, 2)
	wantCount(t, "acknowledged", stats.InvalidationsAcknowledged, 2)
	for _, r := range w.records {
		if r.TimedOut != (r.Adapter == 0) || r.Done == 0 {
			t.Errorf("record %+v", r)
		}
	}
	if a, b := w.records[0].Done, w.records[2].Done; b-a > us {
		t.Errorf("done at %v and at %v: the second waited for a time-out of its own", a, b)
	}
}

// INV-10: what one adapter does not answer holds up nobody's commands but its
// own.
func TestCommandsOfOthersGoOn(t *testing.T) {
	s := impatient(32)
	s.Notifier.Timeout = clocked.Second
	w := newWorld(t, setting{spec: s, regions: shared(2, 16), configs: []AdapterConfig{scheme(ODP), scheme(ODP)}})
	w.nics[0].silent = true
	w.on(0, true, 0)
	q := w.on(1, true, pages(0, 16)...)
	w.run()
	if q.done == 0 || q.done > clocked.Millisecond {
		t.Errorf("the other adapter is done at %v", q.done)
	}
}
