package kernel

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
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

// FRW-3 behind an IOMMU: after the key and the table the pages leave the DMA
// domain and the IOTLB, and only behind the fence they are unpinned. Both
// changes take the DMA mapping's time on top, and the flush its own.
func TestRegisterBehindIOMMU(t *testing.T) {
	const n = 10 // pages: 3 chunks of 4 entries
	for _, c := range []AdapterConfig{behind(Pinned), scheme(IOMMU)} {
		s := registering(16)
		s.DMA = DMA{Map: 1490 * ns, Unmap: 280 * ns}
		w := newWorld(t, setting{spec: s, regions: dynamicRegions(1, n), configs: []AdapterConfig{c}})
		w.logging = true
		w.ask(us, register(0))
		q := w.by(250*us, key.Make(1, 0), model.OpWrite, 3)
		w.at(290*us, func(clocked.Time) {
			if m := w.kernel.Stats.DMAMaps; m != n || w.blocked != 0 || q.at != 1 {
				t.Errorf("%s: %d pages in the DMA domain, %d accesses blocked, want %d, 0", label(c), m, w.blocked, n)
			}
		})
		w.ask(300*us, deregister(0))
		w.ticked = func(clocked.Time) {
			if w.kernel.Stats.UnpinnedPages > 0 && !slices.Contains(w.log, "fence") {
				t.Errorf("%s: unpinned before the fence", label(c))
			}
		}
		stats := w.run()
		fault, flush := hop+pageTime+hop+us, hop+2*300*ns+hop // IOTLB and fence, executed in turn
		wantTime(t, "register", stats.RegisterTime, 10*us+n*(fault+460*ns+1490*ns)+3*command+command)
		wantTime(t, "deregister", stats.DeregisterTime, 10*us+command+command+n*280*ns+flush+n*100*ns)
		want := []string{"key 0: 0+0", "invalidate 0: 0+10", "iotlb 0: 0x10000+0xa000", "fence"}
		if got := w.log[len(w.log)-len(want):]; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", label(c), got, want)
		}
		wantCount(t, "out of the DMA domain", stats.DMAUnmaps, n)
	}
}

// Two regions of one page behind an IOMMU: it leaves the DMA domain with the
// second.
func TestDomainIsShared(t *testing.T) {
	regions := append(dynamicRegions(1, 1), dynamicRegions(1, 1)...)
	regions[1].Adapter = 1
	w := newWorld(t, setting{spec: registering(8), regions: regions, configs: []AdapterConfig{behind(Pinned), behind(Pinned)}})
	w.ask(us, register(0))
	w.ask(100*us, register(1))
	w.ask(200*us, deregister(0))
	w.at(300*us, func(clocked.Time) {
		if w.kernel.pages[0].flags&pageDMA == 0 || w.kernel.Stats.DMAMaps != 1 {
			t.Errorf("flags %b, mapped %d times", w.kernel.pages[0].flags, w.kernel.Stats.DMAMaps)
		}
	})
	w.ask(310*us, deregister(1))
	wantCount(t, "out of the DMA domain", w.run().DMAUnmaps, 1)
}

// PRE-5: a fault, a prefetch, an invalidation of the region or the suspension
// that it ends with, that takes longer than the key's invalidation: the
// deregistration ends when it has, and nothing is left in the table.
func TestDeregisterWaitsForUsers(t *testing.T) {
	type user struct {
		scheme string
		use    func(w *world)
	}
	for name, u := range map[string]user{
		"fault": {ODP, func(w *world) { w.by(200*us, key.Make(1, 0), model.OpWrite, 3) }},
		"prefetch": {ODP, func(w *world) {
			w.at(200*us, func(now clocked.Time) {
				if err := w.kernel.Advise(now, 0, 0, AdvisePrefetchWrite|AdviseFlush, 0x10000, 4*4096); err != nil {
					t.Error(err)
				}
			})
		}},
		"invalidation": {ODP, func(w *world) {
			w.by(90*us, key.Make(1, 0), model.OpWrite, 3)
			w.at(200*us, func(now clocked.Time) { w.kernel.Migrate(now, 3) })
		}},
		"suspension": {Suspend, func(w *world) {
			w.by(90*us, key.Make(1, 0), model.OpWrite, 3)
			w.kernel.spec.Notifier.Checks, w.kernel.spec.Notifier.TLBFlush = 0, 70*us
			w.at(200*us, func(now clocked.Time) { w.kernel.Migrate(now, 3) })
		}},
	} {
		s := registering(8)
		s.Pager.Initial, s.Registration.Base, s.Notifier.Checks = "swapped", 0, 80*us
		w := newWorld(t, setting{spec: s, regions: dynamicRegions(1, 4), scheme: u.scheme})
		w.ask(us, register(0))
		u.use(w)
		w.ask(201*us, deregister(0))
		ended := clocked.Time(0)
		w.ticked = func(now clocked.Time) {
			if k := w.kernel; k.Stats.Deregistrations == 1 && ended == 0 {
				ended = now
				for _, v := range k.evictions.items {
					if v.live && (v.phase <= evictCommands || u.scheme == Suspend) {
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

// Where the adapter walks the process's page table a registration is a key, and
// a deregistration its end: nothing is pinned, mapped or cleared. Groups of page
// requests are answered by success while the region is registered.
func TestRegisterWithoutTable(t *testing.T) {
	for _, c := range []AdapterConfig{scheme(SVA), process()} {
		w := newWorld(t, setting{spec: registering(8), regions: dynamicRegions(1, 4), configs: []AdapterConfig{c}})
		w.ask(us, register(0))
		during := w.by(100*us, key.Make(1, 0), model.OpWrite, 2)
		w.ask(200*us, deregister(0))
		after := w.by(300*us, key.Make(1, 0), model.OpWrite, 2)
		stats := w.run()
		wantTime(t, label(c)+": register", stats.RegisterTime, 10*us+command)
		wantTime(t, label(c)+": deregister", stats.DeregisterTime, 10*us+command)
		if during.refused+during.failures != 0 || after.refused != 1 || stats.FilledPages != 1 || w.zaps+w.fills > 0 || stats.PinnedPages > 0 {
			t.Errorf("%s: refused %d, then %d; %d pages in; %d zaps, %d fills, %d pins", label(c), during.refused, after.refused, stats.FilledPages, w.zaps, w.fills, stats.PinnedPages)
		}
		if want := c.Scheme == SVA; w.keys[0].region.OnDemand() != want {
			t.Errorf("%s: on demand %v, want %v", label(c), !want, want)
		}
	}
}

// An adapter that does not answer a change any more: its pages are unpinned when
// its root port is closed and not before, and later registrations are refused.
func TestDeregisterFromDeadAdapter(t *testing.T) {
	s := registering(8)
	s.Notifier.Timeout, s.Notifier.Disable = 50*us, 10*us
	w := newWorld(t, setting{spec: s, regions: dynamicRegions(2, 3), scheme: Pinned})
	w.ask(us, register(0))
	w.at(100*us, func(clocked.Time) { w.nics[0].silent = true })
	w.ask(110*us, register(1)) // its first command times out
	w.ask(120*us, deregister(0))
	w.ticked = func(now clocked.Time) {
		if w.kernel.Stats.UnpinnedPages > 0 && w.kernel.adapters[0].state != adapterDead {
			t.Errorf("%v: unpinned while the adapter is on the bus", now)
		}
	}
	w.ask(400*us, register(0))
	w.run()
	expectAnswer(t, w, 1, msg.DeregisterRegion, false)
	if a := expectAnswer(t, w, 2, msg.RegisterRegion, true); a.Region != 1 || !errors.Is(a.Err, ErrGone) {
		t.Errorf("%+v", a)
	}
	if a := expectAnswer(t, w, 3, msg.RegisterRegion, true); !errors.Is(a.Err, ErrGone) {
		t.Errorf("%+v", a)
	}
	if w.kernel.PinnedFrames() != 0 || w.kernel.mappedPages(0)+w.kernel.mappedPages(1) != 0 {
		t.Errorf("%d frames stay pinned", w.kernel.PinnedFrames())
	}
}
