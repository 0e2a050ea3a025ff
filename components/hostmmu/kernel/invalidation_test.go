package kernel

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	content "rnicmmu/model/frame"
	"rnicmmu/model/key"
)

// INV-6: a fault for a page waits until its invalidation is over, and the
// invalidation does not wait for the fault.
func TestFaultWaitsForInvalidation(t *testing.T) {
	s := steps(quick(4))
	s.Pager.ReadFaultsWrite = false
	w := newWorld(t, setting{spec: s, regions: shared(2, 2), configs: []AdapterConfig{scheme(ODP), scheme(ODP)}})
	w.on(0, false, 0)
	w.run()
	w.nics[0].command = 100 * us // of the invalidation
	w.move(t, 0)
	q := w.on(1, true, 0) // faults while the page moves
	waited := false
	w.ticked = func(clocked.Time) {
		for _, j := range w.kernel.jobs.items {
			waited = waited || j.live && j.waits == 0
		}
	}
	w.run()
	if !waited || q.done < w.records[0].Done {
		t.Errorf("waited %v; access at %v, invalidation done at %v", waited, q.done, w.records[0].Done)
	}
}

// INV-5, SUS-2: invalidations of neighbours that overlap in time, of one region
// suspended as a whole: each has its own acknowledgement, and none is lost.
func TestOverlappingInvalidations(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := steps(quick(12))
		s.Suspend.Unit = rapid.SampledFrom([]string{"page", "region"}).Draw(rt, "unit")
		c := rapid.SampledFrom(everyScheme).Draw(rt, "scheme")
		w := newWorld(rt, setting{spec: s, regions: shared(1, 6), configs: []AdapterConfig{c}, jitter: 5 * us})
		w.touch(true, pages(0, 6)...)
		w.run()
		moves := rapid.SliceOfNDistinct(rapid.Uint32Range(0, 5), 1, 6, rapid.ID).Draw(rt, "pages")
		for _, p := range moves {
			w.move(rt, p)
			if w.kernel.Migrate(w.engine.Now(), p) {
				rt.Fatalf("page %d moves twice at once", p)
			}
		}
		stats := w.run()
		wantCount(rt, "acknowledged", stats.InvalidationsAcknowledged, uint64(len(moves)))
		wantCount(rt, "records", uint64(len(w.records)), uint64(len(moves)))
		w.touch(true, pages(0, 6)...)
		w.run()
	})
}

// INV-9: commands of an entry take effect in the order in which the kernel
// changed its mind, also when several are out at once: fills and zaps take
// turns, and the last one is right.
func TestCommandsOfAnEntryTakeTurns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const pageCount = 8
		s := pressured(rt)
		s.Command.Outstanding = rapid.IntRange(1, 8).Draw(rt, "outstanding")
		s.Pager.MigrateInterval = 7 * us
		c := rapid.SampledFrom([]AdapterConfig{scheme(ODP), scheme(Suspend)}).Draw(rt, "scheme")
		s.Pager.Grace += 100 * us
		w := newWorld(rt, setting{spec: s, regions: shared(1, pageCount), configs: []AdapterConfig{c}, jitter: 20 * us})
		for range 3 {
			w.nics[0].qps = append(w.nics[0].qps, &qp{script: script(rt, pageCount)})
		}
		w.ticked = func(now clocked.Time) {
			if now > clocked.Millisecond || w.accessed() {
				w.kernel.Stop()
			}
		}
		w.run()
		for p := range uint32(pageCount) {
			pg, e := &w.kernel.pages[p], w.nics[0].table[p]
			if mapped := pg.mapped != 0; e.present != mapped || mapped && (pg.state != pageResident || e.pa != msg.FramePA(pg.frame, 12)) {
				rt.Errorf("page %d, in frame %d, mapped %v: entry %+v", p, pg.frame, mapped, e)
			}
		}
	})
}

// INV-11: an invalidation covers all of the pages asked for: of a large host
// page every entry, also at a region's ends.
func TestInvalidationCoversLargePages(t *testing.T) {
	s := steps(quick(2))
	s.Page, s.Memory = "2MiB", 4<<20
	regions := []Region{{VA: 0x2FF000, Length: 0x602000, FirstEntry: 100, Writable: true}}
	w := newWorld(t, setting{spec: s, regions: regions})
	var covered [][2]uint64
	w.nics[0].zapped = func(_ clocked.Time, c *msg.Command) {
		if c.Op == msg.CmdInvalidate {
			covered = append(covered, [2]uint64{c.Entry, c.Entry + uint64(c.Count)})
		}
	}
	// Host pages 1 to 4 of 2 MiB: entries 100-356, 357-868, 869-1380 and 1381 on.
	q := &qp{}
	for i, e := range []uint64{100, 357, 869, 1381} {
		q.script = append(q.script, access{entry: e, page: uint32(i), write: true})
	}
	w.nics[0].qps = []*qp{q}
	w.run()
	if len(covered) != 2 || covered[0] != [2]uint64{100, 357} || covered[1] != [2]uint64{357, 869} {
		t.Errorf("covered %v, want the first and the second page", covered)
	}
}

// A15: DMA by a mapping that the IOMMU still caches, at the moment before its
// flush, reaches the frame while it is still the page's: the frame is given away
// only behind the fence.
func TestFrameIsHeldUntilTheFlush(t *testing.T) {
	w := newWorld(t, setting{spec: steps(quick(2)), regions: shared(1, 4), configs: []AdapterConfig{behind(ODP)}})
	late := 0
	w.iommu.before = func(now clocked.Time, c *msg.IOMMUCommand) {
		e, cached := w.iommu.tlb[iotlbKey{0, c.First}]
		if c.Op == msg.IOTLBInvalidate && cached {
			late++
			_, page := w.kernel.find(c.First)
			f := content.ID(e.pa >> 12)
			if owner := w.oracle.Owner(f); owner != content.Page(page) {
				t.Errorf("%v: frame %d is page %d's, and the IOTLB has it for page %d", now, f, owner, page)
			}
			w.transfer(now, &qp{}, access{page: page, write: true}, e.pa)
		}
	}
	w.touch(true, 0, 1, 2, 3, 0, 1, 2, 3)
	if w.run(); late == 0 {
		t.Error("no DMA came late")
	}
}

// OVR-2: a fault for more pages than memory has frames gets as many as fit, and
// the adapter faults again for the others.
func TestFaultLargerThanMemory(t *testing.T) {
	s := steps(quick(3))
	w := newWorld(t, setting{spec: s, regions: oneRegion(8)})
	w.out = append(w.out, msg.Inbox{Kind: msg.KindEQE, Body: &msg.Event{Count: 8, Write: true}}, msg.Inbox{Kind: msg.KindMSI})
	w.nics[0].qps = []*qp{{faulting: true, faults: 1}}
	stats := w.run()
	wantCount(t, "resumed", stats.Resumed, 1)
	wantCount(t, "filled", stats.FilledPages, 3)
}

// FLT-7: read-ahead stays within the region, takes free frames only, and a
// fault is answered though none of its neighbours could be read.
func TestReadaheadIsOnlyAHint(t *testing.T) {
	for frames, want := range map[int]uint64{16: 2, 2: 1} {
		s := quick(frames)
		s.Pager.Initial, s.Pager.Readahead = "swapped", 8
		regions := []Region{
			{VA: 0x10000, Length: 8 * 4096, Writable: true, Key: key.Make(1, 0)},
			{VA: 0x18000, Length: 8 * 4096, FirstPage: 8, FirstEntry: 8, Writable: true, Key: key.Make(2, 0)},
		}
		w := newWorld(t, setting{spec: s, regions: regions})
		w.touch(true, 5) // of pages 0 to 7; the next region is its neighbour
		stats := w.run()
		wantCount(t, "read ahead", stats.ReadaheadPages, want)
		for p := range uint32(16) {
			if present := w.kernel.pages[p].frame != noFrame; present && (p < 5 || p > 7) {
				t.Errorf("%d frames: page %d was read", frames, p)
			}
		}
	}
}

// E10: asking for the same pages' invalidation without end, while the adapter
// does not answer, queues one command a page at most.
func TestInvalidationsDoNotPileUp(t *testing.T) {
	const pageCount = 64
	w := newWorld(t, setting{spec: quick(2 * pageCount), regions: oneRegion(pageCount)})
	w.touch(true, pages(0, pageCount)...)
	w.run()
	w.nics[0].command = clocked.Millisecond
	asked := uint64(0)
	for range 1000 {
		for p := range uint32(pageCount) {
			if w.kernel.Migrate(w.engine.Now(), p) {
				asked++
			}
		}
	}
	w.engine.Wake(w.kernel.ID(), w.engine.Now()+ns)
	stats := w.run()
	wantCount(t, "invalidations", asked, pageCount)
	wantCount(t, "commands", stats.InvalidationsIssued, pageCount)
}

// E6: who is told of an invalidation's end asks for another one at once: both
// are done.
func TestInvalidationWithinInvalidation(t *testing.T) {
	w := newWorld(t, setting{spec: steps(quick(8)), regions: oneRegion(2)})
	w.touch(true, 0, 1)
	w.run()
	w.kernel.config.OnInvalidation = func(r *measure.Invalidation) {
		w.records = append(w.records, *r)
		if len(w.records) == 1 {
			w.move(t, 1)
		}
	}
	w.move(t, 0)
	stats := w.run()
	wantCount(t, "acknowledged", stats.InvalidationsAcknowledged, 2)
	wantCount(t, "migrations", stats.Migrations, 2)
}

// A14, INV-7: with no frame free, invalidations of 512 entries a work request
// finish and make room: 4 pages of 2 MiB are 4 work requests.
func TestInvalidationWithoutMemory(t *testing.T) {
	s := steps(quick(2))
	s.Page, s.Memory, s.Command.Chunk, s.Pager.Batch = "2MiB", 8<<21, 512, 4
	s.Pager.Initial = "resident"
	regions := []Region{{VA: 0, Length: 12 << 21, Writable: true}}
	w := newWorld(t, setting{spec: s, regions: regions})
	var posts []uint32
	w.nics[0].zapped = func(_ clocked.Time, c *msg.Command) {
		if c.Op == msg.CmdInvalidate {
			posts = append(posts, c.Posts)
			if free, _, _ := w.kernel.Frames(); free != 0 {
				t.Errorf("%d frames free", free)
			}
		}
	}
	w.nics[0].qps = []*qp{{script: []access{{entry: 9 << 9, page: 9, write: true}}}}
	w.run()
	if !slices.Equal(posts, []uint32{4}) {
		t.Errorf("work requests %v, want one command of 4", posts)
	}
}
