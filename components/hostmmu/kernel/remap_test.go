package kernel

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// E1: memory of a pinned region is mapped afresh while its registration lives:
// a write through it reaches the old frame and is stale by design, until the
// registration has gone and the frame is free. One that is told of it, and
// registers anew, reaches the new frame; so does one on demand.
func TestStaleRegistration(t *testing.T) {
	for _, scheme := range []string{Pinned, ODP} {
		w := newWorld(t, setting{spec: registering(12), regions: dynamicRegions(1, 4), scheme: scheme})
		w.ask(us, register(0))
		before := w.by(100*us, key.Make(1, 0), model.OpWrite, 1)
		w.ask(150*us, msg.Registration{Op: msg.RemapRegion, Cookie: 7})
		w.by(200*us, key.Make(1, 0), model.OpWrite, 1)
		w.by(210*us, key.Make(1, 0), model.OpRead, 1)
		w.at(250*us, func(clocked.Time) {
			held, deferred := 4, 2
			if scheme == ODP {
				held, deferred = 0, 0
			}
			if w.kernel.Held() != held || w.deferred != deferred || w.kernel.ReservedFor(0) != uint64(12-held)*4096 {
				t.Errorf("%s: %d frames held, %d accesses stale by design, %d B reserved; want %d, %d", scheme, w.kernel.Held(), w.deferred, w.kernel.ReservedFor(0), held, deferred)
			}
		})
		notice := expectAnswer(t, w, 1, msg.RegionUnmapped, false)
		if a := expectAnswer(t, w, 2, msg.RemapRegion, false); a.Cookie != 7 || a.Allocation != 1 {
			t.Errorf("%s: remapped: %+v", scheme, a)
		}
		w.ask(300*us, deregister(0))
		w.ask(500*us, register(0))
		w.by(700*us, key.Make(1, 1), model.OpWrite, 1)
		stale := w.deferred
		w.run()
		if w.deferred != stale || w.kernel.Held() != 0 || before.refused != 0 || w.oracle.CheckUnwritten(1) == 0 {
			t.Errorf("%s: %d more stale, %d held; the last write is lost: %v", scheme, w.deferred-stale, w.kernel.Held(), w.oracle.CheckUnwritten(1) == 0)
		}
		// E2: the number of the mapping tells a stale registration from a current one.
		if first, again := w.answers[0].Allocation, w.answers[4].Allocation; first != 0 || notice.Allocation != 1 || again != 1 {
			t.Errorf("%s: allocations %d, %d, %d; want 0, 1, 1", scheme, first, notice.Allocation, again)
		}
		if n := len(w.kernel.registrar.orphans) + len(w.orphans); n > 0 {
			t.Errorf("%d frames are still an old registration's", n)
		}
	}
}

// A deregistration asked for while the memory is being mapped afresh ends after
// that, so that a frame has left its page before it is freed.
func TestDeregisterDuringRemap(t *testing.T) {
	s := registering(8)
	s.Registration.Base, s.Notifier.TLBFlush = 0, 40*us
	w := newWorld(t, setting{spec: s, regions: dynamicRegions(1, 4), scheme: Pinned})
	w.ask(us, register(0))
	w.at(100*us, func(now clocked.Time) { w.kernel.Remap(now, 0) })
	w.ask(101*us, deregister(0))
	w.at(130*us, func(clocked.Time) {
		if n := len(w.answers); n != 2 || w.kernel.Stats.UnpinnedPages != 0 {
			t.Errorf("%d answers, %d pages unpinned in the middle of the remap", n, w.kernel.Stats.UnpinnedPages)
		}
	})
	w.run()
	if free, _, _ := w.kernel.Frames(); free != 8 || w.kernel.Held() != 0 {
		t.Errorf("%d free, %d held; want 8, 0", free, w.kernel.Held())
	}
}

// E10: a million unmappings of 64 regions, and nobody takes the notices: there
// are 64.
func TestNoticesAreMerged(t *testing.T) {
	w := newWorld(t, setting{spec: registering(8), regions: dynamicRegions(64, 1)})
	for i := range 64 {
		w.ask(clocked.Time(i+1)*us, register(i))
	}
	w.at(clocked.Millisecond, func(now clocked.Time) {
		for i := range 1_000_000 {
			if !w.kernel.Remap(now, i%64) {
				t.Fatal("refused")
			}
		}
		if n := w.kernel.registrar.out.Len(); n != 64 {
			t.Errorf("%d notices wait, want 64", n)
		}
	})
	w.answers = nil
	w.run()
	seen := map[int]bool{}
	for _, a := range w.answers {
		if a.Op != msg.RegionUnmapped || seen[a.Region] {
			t.Errorf("%+v", a)
		}
		seen[a.Region] = true
	}
	if len(seen) != 64 {
		t.Errorf("notices of %d regions", len(seen))
	}
}
