package kernel

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	content "rnicmmu/model/frame"
	"rnicmmu/model/key"
)

// A fork makes a region read-only; a store then is copied to another frame,
// after the invalidation and before the new entry, and the child has the old
// frame until it exits. Pages not stored to are the process's own after that.
func TestFork(t *testing.T) {
	w := resident(t, 8, 4, func(s *Spec) { s.Pager.ReadFaultsWrite = false })
	w.touch(true, 0, 1, 2, 3)
	read := w.then(30*us, false, 1)
	w.at(10*us, func(now clocked.Time) {
		if !w.kernel.Fork(now, 0, 4) || w.kernel.Fork(now, 0, 4) {
			t.Error("one child at a time")
		}
	})
	old, _, _ := w.kernel.Locate(1)
	q := w.then(80*us, true, 1)
	w.at(200*us, func(clocked.Time) {
		frame, _, _ := w.kernel.Locate(1)
		free, here, _ := w.kernel.Frames()
		if frame == old || w.kernel.Held() != 1 || here != 4 || free != 3 {
			t.Errorf("frame %d was %d; %d held, %d resident, %d free; want another, 1, 4, 3", frame, old, w.kernel.Held(), here, free)
		}
		if owner := w.oracle.Owner(content.ID(old)); owner != content.NoPage {
			t.Errorf("the child's frame is page %d's", owner)
		}
	})
	late := w.then(1200*us, true, 2) // the child has exited at 1010 us
	stats := w.run()
	w.wantRecords(measure.TriggerProtect, measure.TriggerCOW)
	if w.records[0].Pages != 4 || w.records[1].Pages != 1 {
		t.Errorf("pages %d, %d; want 4, 1", w.records[0].Pages, w.records[1].Pages)
	}
	fault := eventToResume + 1*us + roundTrip + (hop + pageTime + hop) // CPU fault, invalidation, copy
	wantTime(t, "the read of a shared page", read.service[0], eventToResume)
	wantTime(t, "the store that copies", q.service[0], fault)
	wantTime(t, "the store after the exit", late.service[0], eventToResume+1*us)
	wantCount(t, "copied", stats.Copied, 1)
	wantCount(t, "shared", stats.Shared, 4)
	wantCount(t, "exits", stats.Exits, 1)
	if free, _, _ := w.kernel.Frames(); free != 4 || w.kernel.Held() != 0 {
		t.Errorf("%d free, %d held after the exit; want 4, 0", free, w.kernel.Held())
	}
}

// With no frame to copy to, a store to a shared page waits until the child has
// exited, and then copies nothing.
func TestForkWithoutFrames(t *testing.T) {
	w := resident(t, 2, 2, func(s *Spec) { s.Pager.Grace = clocked.Second })
	w.at(10*us, func(now clocked.Time) { w.kernel.Fork(now, 0, 2) })
	w.kernel.frames[0].until, w.kernel.frames[1].until = clocked.Second, clocked.Second // no victims
	q := w.then(50*us, true, 0)
	stats := w.run()
	wantCount(t, "copied", stats.Copied, 0)
	wantCount(t, "evictions", stats.Evictions, 0)
	if q.done < 1010*us {
		t.Errorf("the store ended at %v, before the child exited", q.done)
	}
}

// CopyOnWrite forks for its page alone when there is no child.
func TestCopyOnWrite(t *testing.T) {
	w := resident(t, 8, 4, nil)
	w.touch(true, 3)
	w.at(10*us, func(now clocked.Time) {
		if !w.kernel.CopyOnWrite(now, 3) || w.kernel.CopyOnWrite(now, 2) {
			t.Error("page 3 is copied; page 2 is not shared with the child")
		}
	})
	w.then(100*us, true, 3)
	stats := w.run()
	w.wantRecords(measure.TriggerCOW)
	wantCount(t, "exits", stats.Exits, 1)
	if !w.pte(3).Writable {
		t.Error("a copied page is storable")
	}
}

// A store that copies a shared page away waits for a load of the CPU that still
// reads the old frame.
func TestCopyWaitsForCPU(t *testing.T) {
	s := steps(quick(8))
	s.Events.Lifetime, s.Fault.Minor = clocked.Millisecond, 0
	s.CPU = CPU{WorkingSet: 4096, Threads: 2, Think: ns, Writes: 0, Shared: 1, Pattern: "uniform"}
	w := newWorld(t, setting{spec: s, regions: oneRegion(1)})
	w.at(30*us, func(now clocked.Time) { w.kernel.Fork(now, 0, 1) })
	w.then(60*us+50*ns, true, 0)
	stalled := false
	w.ticked = func(now clocked.Time) {
		stalled = stalled || w.kernel.child.stalled > 0
		if w.kernel.pages[0].state == pageEvicting && w.kernel.Stats.Copied > 0 && w.kernel.accessedByCPU(0) {
			t.Errorf("%v: the page leaves its frame under a load", now)
		}
		if now > 200*us {
			w.kernel.Stop()
		}
	}
	wantCount(t, "copied", w.run().Copied, 1)
	if !stalled {
		t.Error("the store never met a load")
	}
}

// A registration pins no frame that a child shares, though its peers only read:
// a store after it stays in the pinned frame.
func TestPinBreaksSharing(t *testing.T) {
	regions := dynamicRegions(1, 1)
	regions[0].Writable, regions[0].MPT.Rights = false, key.RemoteRead
	s := registering(8)
	s.Events.Lifetime = clocked.Millisecond
	w := newWorld(t, setting{spec: s, regions: regions, scheme: Pinned})
	w.at(us, func(now clocked.Time) { // the page comes in, and is shared
		w.kernel.ensure(now, 0, true, byCPU)
		w.kernel.nudge(now)
	})
	w.at(50*us, func(now clocked.Time) {
		if !w.kernel.Fork(now, 0, 1) {
			t.Error("not shared")
		}
	})
	w.ask(100*us, msg.Registration{Op: msg.RegisterRegion})
	pinned := noFrame
	w.at(200*us, func(now clocked.Time) {
		pinned, _, _ = w.kernel.Locate(0)
		if w.kernel.child.live != true || w.kernel.Stats.Copied != 1 || !w.kernel.ensure(now, 0, true, byCPU) {
			t.Errorf("%d pages copied by the pin; want 1, with a child", w.kernel.Stats.Copied)
		}
	})
	w.run()
	if f, _, _ := w.kernel.Locate(0); f != pinned || w.nics[0].table[0].pa>>12 != model.PA(f) {
		t.Errorf("frame %d was %d, entry %+v", f, pinned, w.nics[0].table[0])
	}
}
