package kernel

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/model/pagetable"
)

// resident is a host with every page of one region present and mapped.
func resident(t *testing.T, frames, pageCount int, change func(*Spec)) *world {
	t.Helper()
	s := steps(quick(frames))
	s.Pager.Initial = "resident"
	s.Events.ProtectBy, s.Events.Lifetime = "invalidate", clocked.Millisecond
	if change != nil {
		change(&s)
	}
	return newWorld(t, setting{spec: s, regions: oneRegion(pageCount)})
}

// pte is the page-table entry of a page.
func (w *world) pte(p uint32) pagetable.Walk { return w.kernel.table.Lookup(w.kernel.vaOf(p)) }

// then adds an access of page p by a QP of its own, from an instant on.
func (w *world) then(at clocked.Time, write bool, p uint32) *qp {
	q := &qp{script: []access{{entry: uint64(p), page: p, write: write, at: at}}}
	w.nics[0].qps = append(w.nics[0].qps, q)
	return q
}

// roundTrip is the time from the notifier to the last page-table change.
const roundTrip = 2700*ns + hop + us + hop + 500*ns + 1700*ns

func (w *world) wantRecords(triggers ...measure.Trigger) {
	w.t.Helper()
	if len(w.records) != len(triggers) {
		w.t.Fatalf("%d invalidations, want %d: %+v", len(w.records), len(triggers), w.records)
	}
	for i, r := range w.records {
		if r.Trigger != triggers[i] || r.Pages == 0 {
			w.t.Errorf("invalidation %d: %v of %d pages, want %v", i, r.Trigger, r.Pages, triggers[i])
		}
	}
}

// FLT-8: a page that becomes read-only stays in its frame, is mapped without
// the right to store by a read, and faults when it is stored to. What was
// stored before is not lost by it: the page is dirty.
func TestProtect(t *testing.T) {
	for _, by := range []string{"invalidate", "protect"} {
		w := resident(t, 8, 4, func(s *Spec) { s.Events.ProtectBy, s.Pager.ReadFaultsWrite = by, false })
		w.touch(true, 2)
		w.at(10*us, func(now clocked.Time) {
			if !w.kernel.Protect(now, 2) || w.kernel.Protect(now, 2) {
				t.Error("a storable page is protected once")
			}
		})
		frame, _, _ := w.kernel.Locate(2)
		read, write := w.then(50*us, false, 2), w.then(100*us, true, 2)
		w.at(90*us, func(clocked.Time) {
			e := w.nics[0].table[2]
			if !e.present || e.write || w.pte(2).Writable {
				t.Errorf("%s: after a read: entry %+v, writable %v; want present, for reading only", by, e, w.pte(2).Writable)
			}
		})
		stats := w.run()
		w.wantRecords(measure.TriggerProtect)
		wantTime(t, "round trip", w.records[0].Done-w.records[0].Notified, roundTrip)
		wantCount(t, by+" faults of the read", uint64(read.faults), map[string]uint64{"invalidate": 1, "protect": 0}[by])
		wantCount(t, by+" faults of the write", uint64(write.faults), 1)
		wantCount(t, "protected", stats.Protected, 1)
		if f, _, _ := w.kernel.Locate(2); f != frame || !w.nics[0].table[2].write {
			t.Errorf("%s: frame %d, was %d; entry %+v", by, f, frame, w.nics[0].table[2])
		}
	}
}

// A protected page that was stored to goes to swap when it is evicted, though
// no adapter may store to it any more.
func TestProtectedPageIsDirty(t *testing.T) {
	w := resident(t, 2, 1, func(s *Spec) { s.Pager.ReadFaultsWrite = false })
	w.touch(true, 0)
	w.at(10*us, func(now clocked.Time) { w.kernel.Protect(now, 0) })
	w.at(50*us, func(now clocked.Time) { w.kernel.invalidate(now, 0, 1, measure.TriggerEvict); w.kernel.nudge(now) })
	wantCount(t, "swapped out", w.run().SwappedOut, 1)
}

// A right given back reaches an adapter that cached that there was none: its
// read-only entry is dropped, and one that is storable is let alone.
func TestUnprotect(t *testing.T) {
	w := resident(t, 8, 4, func(s *Spec) { s.Pager.ReadFaultsWrite = false })
	w.at(10*us, func(now clocked.Time) { w.kernel.Protect(now, 1) })
	w.then(30*us, false, 1)
	w.at(100*us, func(now clocked.Time) {
		if w.kernel.Unprotect(now, 2) || !w.kernel.Unprotect(now, 1) {
			t.Error("the read-only page alone is given its right")
		}
	})
	w.at(150*us, func(clocked.Time) {
		if w.nics[0].table[1].present || !w.pte(1).Writable {
			t.Errorf("entry %+v, writable %v; want absent, true", w.nics[0].table[1], w.pte(1).Writable)
		}
	})
	w.at(160*us, func(now clocked.Time) { w.kernel.Protect(now, 1) }) // nobody maps it now
	stats := w.run()
	w.wantRecords(measure.TriggerProtect, measure.TriggerProtect)
	wantCount(t, "unmapped", stats.UnmappedInvalidations, 1)
	wantCount(t, "given back", stats.Unprotected, 1)
}

// E7: unmapping pages 2 to 4 of 8 leaves the neighbours in the table; the pages
// fault and are zeros, whether they were in frames or in swap. Pinned pages
// refuse, and nothing changes.
func TestPartialUnmap(t *testing.T) {
	w := resident(t, 6, 8, nil) // pages 6 and 7 are in swap
	w.touch(true, 0, 1, 2, 3, 4, 5)
	w.at(20*us, func(now clocked.Time) {
		if !w.kernel.Unmap(now, 2, 3) || !w.kernel.Unmap(now, 7, 1) {
			t.Error("refused")
		}
	})
	q1, q3, q5, q7 := w.then(60*us, true, 1), w.then(60*us, true, 3), w.then(60*us, true, 5), w.then(60*us, false, 7)
	w.at(50*us, func(clocked.Time) {
		if free, _, _ := w.kernel.Frames(); free != 3 {
			t.Errorf("%d frames free, want 3", free)
		}
	})
	stats := w.run()
	w.wantRecords(measure.TriggerUnmap)
	if q1.faults != 0 || q3.faults != 1 || q5.faults != 0 || q7.faults != 1 {
		t.Errorf("faults %d %d %d %d, want 0 1 0 1", q1.faults, q3.faults, q5.faults, q7.faults)
	}
	wantCount(t, "unmapped", stats.Unmapped, 3)
	wantCount(t, "swapped in", stats.SwappedIn, 0)

	pinned := newWorld(t, setting{spec: quick(8), regions: oneRegion(8), scheme: Pinned})
	if pinned.kernel.Unmap(0, 2, 3) || pinned.kernel.Protect(0, 2) || pinned.kernel.Fork(0, 0, 8) || pinned.kernel.Migrate(0, 2) {
		t.Error("a pinned page was changed")
	}
	wantCount(t, "pinned: evictions", uint64(pinned.kernel.evictions.used), 0)
}

// E6: whoever is told of an invalidation unmaps another range from there: both
// are acknowledged.
func TestUnmapWithinNotice(t *testing.T) {
	w := resident(t, 8, 8, nil)
	tell := w.kernel.config.OnInvalidation
	w.kernel.config.OnInvalidation = func(r *measure.Invalidation) {
		tell(r)
		if len(w.records) == 1 && !w.kernel.Unmap(w.engine.Now(), 6, 1) {
			t.Error("refused")
		}
	}
	w.at(10*us, func(now clocked.Time) { w.kernel.Unmap(now, 1, 2) })
	w.run()
	w.wantRecords(measure.TriggerUnmap, measure.TriggerUnmap)
}

// A split leaf becomes 512 that map the same frame; a collapse copies the page
// to another frame under one leaf. Both are round trips, and the content stays.
func TestSplitAndCollapse(t *testing.T) {
	s := steps(quick(2))
	s.Page, s.Memory, s.Pager.Initial = "2MiB", 8<<20, "resident"
	regions := []Region{{VA: 0x400000, Length: 4 << 20, Writable: true}}
	w := newWorld(t, setting{spec: s, regions: regions})
	w.nics[0].qps = []*qp{{script: []access{{entry: 7, write: true}, {entry: 520, page: 1, write: true}}}}
	w.at(10*us, func(now clocked.Time) {
		if w.kernel.Collapse(now, 0) || !w.kernel.Split(now, 0) || w.kernel.Split(now, 0) {
			t.Error("a whole page is split, a split one is not")
		}
	})
	frame, _, _ := w.kernel.Locate(0)
	w.at(50*us, func(now clocked.Time) {
		for i := range model.VA(512) {
			l := w.kernel.table.Lookup(0x400000 + i<<12)
			if !l.Writable || l.Shift != model.Shift4K || l.Entry.PA() != model.PA(frame)<<21+model.PA(i)<<12 {
				t.Fatalf("leaf %d: %+v", i, l)
			}
		}
		if l := w.kernel.table.Lookup(0x600000); l.Shift != model.Shift2M {
			t.Errorf("the neighbour's leaf is of %v", l.Shift)
		}
		if !w.kernel.Protect(now, 0) {
			t.Error("a split page can be protected")
		}
	})
	w.at(100*us, func(now clocked.Time) {
		if l := w.kernel.table.Lookup(0x400000 + 511<<12); l.Writable {
			t.Error("the last leaf is storable after Protect")
		}
		w.kernel.Unprotect(now, 0)
	})
	w.at(150*us, func(now clocked.Time) {
		if !w.kernel.Collapse(now, 0) {
			t.Error("not collapsed")
		}
	})
	w.nics[0].qps = append(w.nics[0].qps, &qp{script: []access{{entry: 9, at: 200 * us}}})
	w.run()
	// Protect and Unprotect found nobody to tell.
	w.wantRecords(measure.TriggerSplit)
	l := w.kernel.table.Lookup(0x400000)
	if moved, _, _ := w.kernel.Locate(0); moved == frame || l.Shift != model.Shift2M || l.Entry.PA() != model.PA(moved)<<21 {
		t.Errorf("frame %d was %d, leaf %+v", moved, frame, l)
	}
	if small := resident(t, 4, 4, nil); small.kernel.Split(0, 1) {
		t.Error("a page of 4 KiB was split")
	}
}

// A split page is evicted and comes back whole.
func TestEvictionOfSplitPage(t *testing.T) {
	s := steps(quick(2))
	s.Page, s.Memory, s.Pager.Initial = "2MiB", 4<<20, "resident"
	w := newWorld(t, setting{spec: s, regions: []Region{{VA: 0x400000, Length: 6 << 20, Writable: true}}})
	w.nics[0].qps = []*qp{{script: []access{{entry: 0, write: true}, {entry: 1024, page: 2, write: true, at: 50 * us}, {entry: 0, write: true}}}}
	w.at(10*us, func(now clocked.Time) { w.kernel.Split(now, 0) })
	stats := w.run()
	if stats.Evictions == 0 || w.kernel.table.Lookup(0x400000).Shift != model.Shift2M {
		t.Errorf("%d evictions, leaf %v", stats.Evictions, w.kernel.table.Lookup(0x400000).Shift)
	}
}

// INV-2, INV-7, FLT-8: every kind of event at intervals, with paging, prefetch, adapters
// of every scheme, alone or mixed, and a CPU user: content survives, no access
// reaches a frame that is another page's or stores where the process may not,
// frames are conserved, every fault is answered, and no order of an instant
// changes the result.
func TestContentSurvivesEvents(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const pageCount = 16
		s := pressured(rt)
		s.Pager.Grace += 100 * us // longer than an access waits for a suspension or comes again
		s.DMA = DMA{Map: 100 * ns, Unmap: 50 * ns}
		s.Suspend.Unit = rapid.SampledFrom([]string{"page", "region"}).Draw(rt, "unit")
		s.Pager.FlushOnClear = rapid.Bool().Draw(rt, "flush on clear")
		configs := rapid.SliceOfN(rapid.SampledFrom(everyScheme), 1, 3).Draw(rt, "adapters")
		config := Config{FlushTime: 30 * us, FlushCount: rapid.SampledFrom([]int{0, 1, 3}).Draw(rt, "flush count")}
		noDirty := rapid.Bool().Draw(rt, "no dirty bits")
		interval := func(what string) clocked.Time {
			return clocked.Time(rapid.SampledFrom([]int{0, 7, 13, 31}).Draw(rt, what)) * us
		}
		s.Pager.MigrateInterval = interval("migrate")
		s.Events = Events{Protect: interval("protect"), COW: interval("cow"), Fork: interval("fork"), Unmap: interval("unmap"), UnmapPages: rapid.IntRange(1, 4).Draw(rt, "run"),
			ProtectBy: rapid.SampledFrom([]string{"invalidate", "protect"}).Draw(rt, "by"),
			Lifetime:  clocked.Time(rapid.IntRange(1, 60).Draw(rt, "lifetime")) * us}
		s.Prefetch = Prefetch{Advice: rapid.SampledFrom([]string{"none", "read", "write", "no_fault"}).Draw(rt, "advice"),
			Ahead: rapid.IntRange(0, 5).Draw(rt, "ahead")}
		shift := model.Shift4K
		if rapid.Bool().Draw(rt, "huge") {
			s.Page, s.Memory, shift = "2MiB", model.Bytes(uint64(s.Memory)<<9), model.Shift2M
			s.Events.Split, s.Events.Collapse = interval("split"), interval("collapse")
		}
		if rapid.Bool().Draw(rt, "cpu") {
			s.CPU = CPU{WorkingSet: 6 << shift, Threads: 2, Think: 3 * us, Writes: 0.5, Shared: 0.4, Pattern: "uniform"}
		}
		var regions []Region
		for a := range configs {
			regions = append(regions, Region{VA: 0x40000000, Length: pageCount << shift, Adapter: a, Writable: true, Key: key.Make(1, 0)})
		}
		scripts := make([][]access, len(configs))
		for a := range scripts {
			for _, x := range script(rt, pageCount) {
				x.entry <<= shift - model.Shift4K
				scripts[a] = append(scripts[a], x)
			}
		}
		first := ""
		for shuffle := range uint64(3) {
			w := newWorld(t, setting{spec: s, regions: regions, configs: configs, config: config, shuffle: shuffle, jitter: 5 * us})
			w.iommu.noDirty = noDirty
			for a := range scripts {
				w.nics[a].qps = append(w.nics[a].qps, &qp{script: scripts[a]})
			}
			w.ticked = func(now clocked.Time) {
				if now > 3000*us || w.accessed() {
					w.kernel.Stop()
				}
			}
			result := fmt.Sprint(w.run(), w.engine.Now(), w.records)
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

// What is under way is told, and is not idle.
func TestWaitsOfEvents(t *testing.T) {
	s := registering(8)
	s.Events.Lifetime = 50 * us
	w := newWorld(t, setting{spec: s, regions: append(dynamicRegions(1, 2), Region{VA: 0x900000, Length: 8192, FirstPage: 2, FirstEntry: 2, Writable: true})})
	w.ask(us, register(0))
	w.at(5*us, func(now clocked.Time) {
		if err := w.kernel.Advise(now, 0, 1, AdvisePrefetch, 0x900000, 8192); err != nil {
			t.Error(err)
		}
	})
	w.at(7*us, func(clocked.Time) {
		want := []string{
			"kernel: prefetch for region 1 has 2 pages to go",
			"kernel: registration of region 0 waits for the system call since 1001.001ns",
		}
		if got := w.kernel.Waits(); !slices.Equal(got, want) || w.kernel.Idle() {
			t.Errorf("idle %v, waits %q, want %q", w.kernel.Idle(), got, want)
		}
	})
	w.at(50*us, func(now clocked.Time) {
		w.kernel.Fork(now, 2, 2)
		want := []string{"kernel: a child shares pages 2-3 and has 0 frames"}
		if got := w.kernel.Waits(); !slices.Equal(got[:1], want) || w.kernel.Idle() {
			t.Errorf("idle %v, waits %q, want %q", w.kernel.Idle(), got, want)
		}
	})
	w.run()
}
