package kernel

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// command is the trip of a command to an adapter and back.
const command = hop + us + hop

// registering is a Spec in which every step of a registration takes time.
func registering(frames int) Spec {
	s := steps(quick(frames))
	s.Registration = Registration{Base: 10 * us, Page: 460 * ns, Unpin: 100 * ns}
	s.Command.Chunk = 4
	return s
}

func register(region int) msg.Registration {
	return msg.Registration{Op: msg.RegisterRegion, Region: region, Cookie: uint64(region) + 100}
}

func deregister(region int) msg.Registration {
	return msg.Registration{Op: msg.DeregisterRegion, Region: region}
}

// by adds a QP that accesses a page by a key at an instant.
func (w *world) by(at clocked.Time, k key.Key, op model.Op, p uint32) *qp {
	r := w.kernel.segmentOf(p)
	q := &qp{script: []access{{entry: uint64(p), page: p, write: op != model.OpRead, at: at, key: k, op: op,
		va: r.va + model.VA(p-r.first)<<model.Shift4K}}}
	w.nics[0].qps = append(w.nics[0].qps, q)
	return q
}

// A pinned registration takes the call, a CPU fault and the pin of each page
// that is absent, the table in chunks, and the key; a deregistration the call,
// the key, the table, DMA unmapping and the pins. Before and after, no frame is
// used and no page mapped.
func TestRegisterTime(t *testing.T) {
	const n = 10 // pages: 3 chunks of 4 entries
	w := newWorld(t, setting{spec: registering(16), regions: dynamicRegions(1, n), scheme: Pinned})
	if free, _, _ := w.kernel.Frames(); free != 16 || w.kernel.Stats.RegistrationTime != 0 || w.kernel.Advertised() != 0 {
		t.Errorf("%d free, %v of registration, %d B advertised before time 0", free, w.kernel.Stats.RegistrationTime, w.kernel.Advertised())
	}
	w.ask(us, register(0))
	w.at(200*us, func(clocked.Time) {
		a := expectAnswer(t, w, 0, msg.RegisterRegion, false)
		if a.Key != key.Make(1, 0) || a.Cookie != 100 {
			t.Errorf("answer %+v", a)
		}
		if w.kernel.PinnedFrames() != n || w.kernel.AdvertisedTo(0) != n*4096 || w.kernel.ResidentFor(0) != n*4096 {
			t.Errorf("%d pinned, %d B advertised, %d B resident", w.kernel.PinnedFrames(), w.kernel.AdvertisedTo(0), w.kernel.ResidentFor(0))
		}
		if _, ok := w.kernel.victim(w.engine.Now()); ok {
			t.Error("a pinned page is a victim")
		}
	})
	q := w.by(250*us, key.Make(1, 0), model.OpWrite, 3)
	w.ask(300*us, deregister(0))
	late := w.by(500*us, key.Make(1, 0), model.OpWrite, 3)
	stats := w.run()
	fault := hop + pageTime + hop + us
	wantTime(t, "register", stats.RegisterTime, 10*us+n*(fault+460*ns)+3*command+command)
	wantTime(t, "deregister", stats.DeregisterTime, 10*us+command+command+n*100*ns)
	wantCount(t, "faults of adapters", stats.Events, 0)
	wantCount(t, "pinned", stats.PinnedPages, n)
	wantCount(t, "unpinned", stats.UnpinnedPages, n)
	if q.refused != 0 || late.refused != 1 {
		t.Errorf("refused %d while registered, %d after; want 0, 1", q.refused, late.refused)
	}
	for p := range uint32(n) {
		if w.nics[0].table[p].present || w.kernel.pages[p].flags&pagePinned != 0 || w.kernel.pages[p].mapped != 0 {
			t.Errorf("page %d: entry %+v, page %+v", p, w.nics[0].table[p], w.kernel.pages[p])
		}
	}
	if w.kernel.PinnedFrames() != 0 || w.kernel.Advertised() != 0 || w.kernel.listed != n {
		t.Errorf("%d frames pinned, %d B advertised, %d pages evictable; want 0, 0, %d", w.kernel.PinnedFrames(), w.kernel.Advertised(), w.kernel.listed, n)
	}
}

// Pages that are present are pinned without a fault.
func TestRegisterPresentPages(t *testing.T) {
	s := registering(16)
	s.Pager.Initial, s.Command.Chunk = "resident", 512
	regions := dynamicRegions(1, 8)
	w := newWorld(t, setting{spec: s, regions: regions, scheme: Pinned})
	w.ask(us, register(0))
	wantTime(t, "register", w.run().RegisterTime, 10*us+8*460*ns+command+command)
}

// What cannot be backed is refused as a whole: nothing is pinned, and when
// frames are there again the same request succeeds.
func TestRegisterRefused(t *testing.T) {
	w := newWorld(t, setting{spec: registering(10), regions: dynamicRegions(2, 6), scheme: Pinned})
	w.ask(us, register(0))
	w.ask(200*us, register(1))
	w.at(400*us, func(clocked.Time) {
		expectAnswer(t, w, 0, msg.RegisterRegion, false)
		a := expectAnswer(t, w, 1, msg.RegisterRegion, true)
		var refused *Refused
		const want = "host.memory: 6 pages of 4KiB to pin, 4 of 10 frames can be: raise host.memory or use scheme odp"
		if !errors.As(a.Err, &refused) || a.Err.Error() != want {
			t.Errorf("error %q, want %q", a.Err, want)
		}
		if w.kernel.PinnedFrames() != 6 || w.kernel.resident != 6 {
			t.Errorf("%d pinned, %d resident after the refusal; want 6, 6", w.kernel.PinnedFrames(), w.kernel.resident)
		}
	})
	w.ask(401*us, deregister(0))
	w.ask(600*us, register(1))
	stats := w.run()
	expectAnswer(t, w, 3, msg.RegisterRegion, false)
	wantCount(t, "refused", stats.RegistrationsRefused, 1)
	wantCount(t, "registrations", stats.Registrations, 2)
	wantCount(t, "evicted for the second", stats.Evictions, 2) // 6 + 6 pages in 10 frames
}

// The adapter's refusal of a key ends a registration with its error, and lets
// its pages go.
func TestKeyRefused(t *testing.T) {
	regions := dynamicRegions(1, 4)
	regions[0].MPT.Rights = key.RemoteWrite // which needs LOCAL_WRITE
	w := newWorld(t, setting{spec: registering(8), regions: regions, scheme: Pinned})
	w.ask(us, register(0))
	w.run()
	if a := expectAnswer(t, w, 0, msg.RegisterRegion, true); !errors.Is(a.Err, key.ErrNeedLocal) {
		t.Errorf("%v", a.Err)
	}
	if w.kernel.PinnedFrames() != 0 || w.kernel.pages[0].flags&pagePinned != 0 || w.nics[0].table[0].present {
		t.Error("pages stay pinned or mapped")
	}
}

// Requests that the region's state forbids are answered with the reason, and
// change nothing.
func TestRequestsOutOfPlace(t *testing.T) {
	regions := append(dynamicRegions(1, 2), Region{VA: 0x900000, Length: 4096, FirstPage: 2, FirstEntry: 2})
	w := newWorld(t, setting{spec: registering(8), regions: regions, scheme: ODP})
	for i, c := range []struct {
		m    msg.Registration
		want error
	}{
		{register(7), ErrNoRegion},
		{register(1), ErrNotDynamic},
		{deregister(0), ErrNone},
		{msg.Registration{Op: msg.FastRegister}, ErrNone},
		{msg.Registration{Op: msg.RegionUnmapped}, nil}, // no request
		{msg.Registration{Op: msg.RemapRegion, Region: 1}, ErrNotDynamic},
		{register(0), nil},
		{register(0), ErrBusy},
	} {
		w.ask(clocked.Time(i+1)*us, c.m)
		w.at(clocked.Time(i+1)*us+100*ns, func(clocked.Time) {
			if n := len(w.answers); c.want != nil && (n == 0 || !errors.Is(w.answers[n-1].Err, c.want)) {
				t.Errorf("%+v: answers %+v", c.m, w.answers)
			}
		})
	}
	w.ask(100*us, register(0))
	stats := w.run()
	if last := w.answers[len(w.answers)-1]; !errors.Is(last.Err, ErrRegistered) {
		t.Errorf("%+v", last)
	}
	wantCount(t, "registrations", stats.Registrations, 1)
}

// A fault of a region that is not registered, whatever the adapter thought of
// its key, is resumed with an error and brings nothing in (KEY-1).
func TestFaultOfUnregisteredRegion(t *testing.T) {
	w := newWorld(t, setting{spec: registering(8), regions: dynamicRegions(1, 4)})
	before := w.touch(true, 1)
	w.ask(100*us, register(0))
	during := w.then(200*us, true, 2)
	w.ask(300*us, deregister(0))
	after := w.then(400*us, true, 3)
	stats := w.run()
	if before.failures != 1 || during.failures != 0 || after.failures != 1 || stats.FilledPages != 1 {
		t.Errorf("failures %d, %d, %d; %d pages came in; want 1 0 1, 1", before.failures, during.failures, after.failures, stats.FilledPages)
	}
}

// On demand nothing is pinned: the key alone, and with a snapshot the pages
// that are present.
func TestRegisterOnDemand(t *testing.T) {
	for _, snapshot := range []bool{false, true} {
		s := registering(16)
		s.Pager.Initial, s.Pager.Snapshot, s.Command.Chunk = "resident", snapshot, 512
		w := newWorld(t, setting{spec: s, regions: dynamicRegions(1, 8)})
		early := w.by(us, key.Make(1, 0), model.OpWrite, 2)
		w.ask(2*us, register(0))
		q := w.by(100*us, key.Make(1, 0), model.OpWrite, 2)
		stats := w.run()
		want := 10*us + command
		if snapshot {
			want += 3*us + 200*ns + command
		}
		wantTime(t, "register", stats.RegisterTime, want)
		if early.refused != 1 || q.refused != 0 || q.faults == 1 == snapshot || w.kernel.PinnedFrames() != 0 {
			t.Errorf("snapshot %v: refused %d, then %d; %d faults; %d pinned", snapshot, early.refused, q.refused, q.faults, w.kernel.PinnedFrames())
		}
	}
}

// Fast registration and local invalidation cost a command each and no system
// call; the pages stay pinned, and the key changes with each.
func TestFastRegistration(t *testing.T) {
	regions := dynamicRegions(1, 4)
	regions[0].MPT.FastReg = true
	w := newWorld(t, setting{spec: registering(8), regions: regions, scheme: Pinned})
	w.ask(us, register(0))
	sent := w.ask(100*us, msg.Registration{Op: msg.LocalInvalidate})
	w.at(sent+command+2*hop, func(clocked.Time) {
		expectAnswer(t, w, 1, msg.LocalInvalidate, false)
		if w.kernel.PinnedFrames() != 4 || w.kernel.AdvertisedTo(0) != 0 {
			t.Errorf("%d pinned, %d B advertised; want 4, 0", w.kernel.PinnedFrames(), w.kernel.AdvertisedTo(0))
		}
	})
	between := w.by(110*us, key.Make(1, 0), model.OpWrite, 0)
	w.ask(120*us, msg.Registration{Op: msg.LocalInvalidate}) // it is free already
	w.ask(130*us, msg.Registration{Op: msg.FastRegister})
	old, current := w.by(140*us, key.Make(1, 0), model.OpWrite, 0), w.by(140*us, key.Make(1, 1), model.OpWrite, 0)
	w.ask(150*us, deregister(0))
	w.ask(250*us, register(0))
	stats := w.run()
	expectAnswer(t, w, 2, msg.LocalInvalidate, true)
	if a := expectAnswer(t, w, 3, msg.FastRegister, false); a.Key != key.Make(1, 1) {
		t.Errorf("key %#x", uint32(a.Key))
	}
	if a := w.answers[5]; a.Key != key.Make(1, 2) || a.Err != nil {
		t.Errorf("registered anew: %+v", a)
	}
	if between.refused != 1 || old.refused != 1 || current.refused != 0 {
		t.Errorf("refused %d while free, %d by the old key, %d by the new; want 1 1 0", between.refused, old.refused, current.refused)
	}
	if stats.LocalInvalidations != 1 || stats.FastRegistrations != 1 {
		t.Errorf("%+v", stats.RegistrarStats)
	}
}

// D9: a region registered for READs refuses an atomic; registered anew with the
// right, it grants it.
func TestRegisterWithRights(t *testing.T) {
	w := newWorld(t, setting{spec: registering(8), regions: dynamicRegions(1, 2), scheme: Pinned})
	m := register(0)
	m.Rights = key.RemoteRead
	w.ask(us, m)
	atomic, read := w.by(100*us, key.Make(1, 0), model.OpFetchAdd, 0), w.by(100*us, key.Make(1, 0), model.OpRead, 0)
	w.ask(150*us, deregister(0))
	m.Rights = allRights
	w.ask(250*us, m)
	again := w.by(400*us, key.Make(1, 1), model.OpFetchAdd, 0)
	w.run()
	if atomic.refused != 1 || read.refused != 0 || again.refused != 0 {
		t.Errorf("refused %d, %d, %d; want 1, 0, 0", atomic.refused, read.refused, again.refused)
	}
}

// A dynamic region's frames need not follow each other, so that the adapter's
// pages cannot be larger than the host's.
func TestDynamicRegionOfLargePages(t *testing.T) {
	_, _, err := build(t, quick(64), []model.PageShift{model.Shift64K}, dynamicRegions(1, 32), Pinned)
	if err == nil || !strings.HasPrefix(err.Error(), "tpt.page: 65536 B exceed") {
		t.Errorf("error %v", err)
	}
}

// What registrations pin is not there for others: reserved memory is told apart
// by peer, and the static part of a host is as before.
func TestAdvertisedByPeer(t *testing.T) {
	regions := dynamicRegions(2, 4)
	regions[1].Adapter = 1
	w := newWorld(t, setting{spec: registering(16), regions: regions, scheme: Pinned, adapters: 2})
	w.ask(us, register(0))
	w.run()
	k := w.kernel
	for a, want := range [2][3]uint64{{4, 16, 4}, {0, 12, 0}} {
		got := [3]uint64{k.AdvertisedTo(a) >> 12, k.ReservedFor(a) >> 12, k.ResidentFor(a) >> 12}
		if got != want {
			t.Errorf("peer %d: pages advertised, reserved, resident %v, want %v", a, got, want)
		}
	}
	if k.Advertised() != 4*4096 {
		t.Errorf("%d B advertised", k.Advertised())
	}
}

// Registrations come and go at random over shared pages, on two adapters of any
// schemes, with remaps, events, a CPU user and pressure: content survives,
// frames are conserved, no access is stale but by design, every request is
// answered once, nothing stays in the DMA domain, and no order of an instant
// changes the result.
func TestRegistrationsSurviveAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := pressured(rt)
		s.Memory += 6 * 4096
		s.Registration = Registration{Base: 2 * us, Page: 300 * ns, Unpin: 100 * ns}
		s.Command.Chunk = rapid.IntRange(1, 8).Draw(rt, "chunk")
		s.CPU = CPU{WorkingSet: 4 * 4096, Threads: 1, Think: 3 * us, Writes: 0.5, Shared: 0.5, Pattern: "uniform"}
		s.Events = Events{Protect: 17 * us, Fork: 41 * us, Unmap: 29 * us, UnmapPages: 2, ProtectBy: "invalidate", Lifetime: 20 * us}
		s.Pager.Grace += 100 * us // longer than an access waits for a suspension or comes again
		s.DMA = DMA{Map: 100 * ns, Unmap: 50 * ns}
		s.Suspend.Unit = rapid.SampledFrom([]string{"page", "region"}).Draw(rt, "unit")
		any := append([]AdapterConfig{scheme(Pinned), behind(Pinned), scheme(IOMMU)}, everyScheme...)
		configs := rapid.SliceOfN(rapid.SampledFrom(any), 2, 2).Draw(rt, "adapters")
		pins := slices.ContainsFunc(configs, func(c AdapterConfig) bool { return (&adapter{config: c}).pins() })
		config := Config{FlushTime: 30 * us, FlushCount: rapid.SampledFrom([]int{0, 1, 3}).Draw(rt, "flush count")}
		regions := append(dynamicRegions(3, 4), dynamicRegions(2, 4)...)
		for i := 3; i < 5; i++ {
			regions[i].Adapter = 1
		}
		type step struct {
			after  clocked.Time
			op     int
			region int
		}
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{clocked.Time(rapid.IntRange(1, 40).Draw(rt, "after")) * us, rapid.IntRange(0, 5).Draw(rt, "op"), rapid.IntRange(0, 4).Draw(rt, "region")}
		}), 1, 25).Draw(rt, "steps")
		first := ""
		for shuffle := range uint64(2) {
			w := newWorld(t, setting{spec: s, regions: regions, configs: configs, config: config, shuffle: shuffle, jitter: 2 * us})
			at, asked := clocked.Time(0), 0
			for _, x := range steps {
				at += x.after
				switch x.op {
				case 0, 1, 2:
					w.ask(at, register(x.region))
					asked++
				case 3, 4:
					w.ask(at, deregister(x.region))
					asked++
				case 5:
					w.at(at, func(now clocked.Time) { w.kernel.Remap(now, x.region) })
				}
				w.peer(at+us, x.region)
			}
			at += 2 * clocked.Millisecond // swap reads of a pinned registration
			for i := range regions {
				at += 300 * us
				w.ask(at, deregister(i))
				asked++
			}
			w.ticked = func(now clocked.Time) {
				if now > at {
					w.kernel.Stop()
				}
			}
			stats := w.run()
			answered := 0
			for _, a := range w.answers {
				if a.Op != msg.RegionUnmapped {
					answered++
				}
			}
			if answered != asked || stats.Registrations != stats.Deregistrations {
				rt.Fatalf("%d requests, %d answers; %d registrations, %d deregistrations", asked, answered, stats.Registrations, stats.Deregistrations)
			}
			if w.kernel.Held() != 0 || w.kernel.PinnedFrames() != 0 || stats.PinnedPages != stats.UnpinnedPages || len(w.orphans) > 0 {
				rt.Fatalf("%d held, %d pinned; %d pins, %d unpins", w.kernel.Held(), w.kernel.PinnedFrames(), stats.PinnedPages, stats.UnpinnedPages)
			}
			if !pins && w.deferred > 0 {
				rt.Fatalf("%d stale accesses on demand", w.deferred)
			}
			for p := range w.kernel.pages {
				if pg := &w.kernel.pages[p]; pg.mapped != 0 || pg.state == pageResident && pg.flags&pageDMA != 0 {
					rt.Fatalf("page %d is mapped under %b, flags %b, and no region is registered", p, pg.mapped, pg.flags)
				}
			}
			result := fmt.Sprint(stats, w.engine.Now(), w.records, w.answers, w.deferred)
			if first == "" {
				first = result
			} else if result != first {
				rt.Fatalf("shuffle %d:\n%s\nwant\n%s", shuffle, result, first)
			}
			if t.Failed() {
				rt.FailNow()
			}
		}
	})
}

// peer adds a QP that writes a page of a region from an instant on, under
// whatever key is the region's in the adapter's table then.
func (w *world) peer(at clocked.Time, region int) {
	r := &w.kernel.regions[region]
	page := uint32(w.random()) % w.kernel.pagesOf(r)
	q := &qp{script: []access{{entry: r.FirstEntry + uint64(page), page: r.FirstPage + page, write: true, at: at,
		key: r.Key, op: model.OpWrite, va: r.VA + model.VA(page)<<12}}}
	w.nics[r.Adapter].qps = append(w.nics[r.Adapter].qps, q)
}
