package kernel

import (
	"fmt"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// FRW-3, scenarios D5 and D7: writes go on while a region is deregistered.
// Until the key's invalidation is complete its pages stay pinned and mapped;
// later writes are refused, and none meets a frame that was given up, though
// another process page takes the frames at once.
func TestDeregisterUnderFire(t *testing.T) {
	s := registering(10)
	s.CPU = CPU{WorkingSet: 12 * 4096, Threads: 2, Think: 100 * ns, Writes: 1, Pattern: "sequential"}
	w := newWorld(t, setting{spec: s, regions: dynamicRegions(1, 4), scheme: Pinned})
	w.ask(us, register(0))
	q := &qp{}
	for i := range 400 {
		p := uint32(i % 4)
		q.script = append(q.script, access{entry: uint64(p), page: p, write: true, key: key.Make(1, 0), op: model.OpWrite,
			va: 0x10000 + model.VA(p)<<12, at: 100*us + clocked.Time(i)*100*ns})
	}
	w.nics[0].qps = []*qp{q}
	w.ask(110*us, deregister(0))
	w.ticked = func(now clocked.Time) {
		dead := len(w.keys) == 2 // executed by the adapter
		if w.kernel.Stats.UnpinnedPages > 0 && !dead {
			t.Errorf("%v: unpinned before the key is dead", now)
		}
		if now > 400*us {
			w.kernel.Stop()
		}
	}
	stats := w.run()
	if q.refused == 0 || q.refused == 400 || stats.Evictions == 0 {
		t.Errorf("%d of 400 refused, %d evictions", q.refused, stats.Evictions)
	}
}

// PRE-5: a fault, a prefetch or an invalidation of the region that takes longer
// than the key's invalidation: the deregistration ends when it has, and nothing
// is left in the table.
func TestDeregisterWaitsForUsers(t *testing.T) {
	for name, use := range map[string]func(w *world){
		"fault": func(w *world) { w.by(200*us, key.Make(1, 0), model.OpWrite, 3) },
		"prefetch": func(w *world) {
			w.at(200*us, func(now clocked.Time) {
				if err := w.kernel.Advise(now, 0, 0, AdvisePrefetchWrite|AdviseFlush, 0x10000, 4*4096); err != nil {
					t.Error(err)
				}
			})
		},
		"invalidation": func(w *world) {
			w.by(90*us, key.Make(1, 0), model.OpWrite, 3)
			w.at(200*us, func(now clocked.Time) { w.kernel.Migrate(now, 3) })
		},
	} {
		s := registering(8)
		s.Pager.Initial, s.Registration.Base, s.Notifier.Checks = "swapped", 0, 80*us
		w := newWorld(t, setting{spec: s, regions: dynamicRegions(1, 4)})
		w.ask(us, register(0))
		use(w)
		w.ask(201*us, deregister(0))
		ended := clocked.Time(0)
		w.ticked = func(now clocked.Time) {
			if k := w.kernel; k.Stats.Deregistrations == 1 && ended == 0 {
				ended = now
				for _, v := range k.evictions.items {
					if v.phase <= evictCommands {
						t.Errorf("%s: an invalidation waits for the adapter at the end", name)
					}
				}
				if k.jobs.used+k.prefetches.used > 0 {
					t.Errorf("%s: %d faults, %d prefetches at the end", name, k.jobs.used, k.prefetches.used)
				}
			}
		}
		w.run()
		if ended < 260*us {
			t.Errorf("%s: ended at %v", name, ended)
		}
		for p := range 4 {
			if w.nics[0].table[p].present || w.kernel.pages[p].mapped != 0 {
				t.Errorf("%s: page %d is mapped", name, p)
			}
		}
	}
}

// A region that nobody has touched has nothing to clear and, without DMA
// unmapping, costs the call and the key.
func TestDeregisterUntouched(t *testing.T) {
	s := registering(8)
	s.Notifier.Unmap = 0
	w := newWorld(t, setting{spec: s, regions: dynamicRegions(1, 4)})
	w.ask(us, register(0))
	w.ask(100*us, deregister(0))
	wantTime(t, "deregister", w.run().DeregisterTime, 10*us+command)
	wantCount(t, "invalidations", uint64(w.zaps), 0)
}

// A5: two invalidations of a page in a row, then a deregistration: it ends.
func TestDeregisterAfterInvalidations(t *testing.T) {
	s := registering(8)
	s.Pager.Initial = "resident"
	w := newWorld(t, setting{spec: s, regions: dynamicRegions(1, 1)})
	w.nics[0].command = 10 * us
	w.ask(us, register(0))
	w.at(200*us, func(now clocked.Time) { w.kernel.Migrate(now, 0) })
	w.at(201*us, func(now clocked.Time) { w.kernel.Protect(now, 0) }) // refused while it moves
	w.at(230*us, func(now clocked.Time) {
		if !w.kernel.Protect(now, 0) {
			t.Error("refused")
		}
	})
	w.ask(300*us, deregister(0))
	wantCount(t, "deregistrations", w.run().Deregistrations, 1)
	wantCount(t, "in use", uint64(w.kernel.registrar.quiet+w.kernel.registrar.changing), 0)
}

// E3: an eviction and a deregistration of the same page in either order.
func TestEvictionMeetsDeregistration(t *testing.T) {
	for lead := clocked.Time(-30); lead <= 30; lead += 2 {
		s := registering(8)
		s.Pager.Initial = "resident"
		w := newWorld(t, setting{spec: s, regions: dynamicRegions(1, 2)})
		w.ask(us, register(0))
		w.by(100*us, key.Make(1, 0), model.OpWrite, 1)
		evict := func() {
			w.at(200*us, func(now clocked.Time) {
				w.kernel.invalidate(now, 1, 1, measure.TriggerEvict)
				w.kernel.nudge(now)
			})
		}
		if lead <= 0 {
			w.ask(200*us+lead*us, deregister(0))
			if lead < 0 {
				evict()
			}
		} else {
			evict()
			w.ask(200*us+lead*us, deregister(0))
		}
		stats := w.run()
		if lead != 0 {
			wantCount(t, fmt.Sprintf("lead %d: swapped out", lead), stats.SwappedOut, 1) // with the peer's store
		}
		for p := range 2 {
			if w.kernel.pages[p].mapped != 0 || w.nics[0].table[p].present {
				t.Errorf("lead %d: page %d is mapped", lead, p)
			}
		}
	}
}
