package kernel

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

func (w *world) advise(t *testing.T, at clocked.Time, advice Advice, va model.VA, length uint64) {
	t.Helper()
	w.at(at, func(now clocked.Time) {
		if err := w.kernel.Advise(now, 0, 0, advice, va, length); err != nil {
			t.Error(err)
		}
	})
}

// Errors are found before anything starts.
func TestAdviceRefused(t *testing.T) {
	regions := append(oneRegion(4), Region{VA: 0x90000, Length: 4096, FirstPage: 4, FirstEntry: 8}, Region{VA: 0x10000, Length: 4096, Adapter: 1})
	regions = append(regions, Region{VA: 0xA0000, Length: 4096, FirstPage: 5, FirstEntry: 16, Dynamic: true})
	w := newWorld(t, setting{spec: steps(quick(8)), regions: regions, adapters: 2})
	k := w.kernel
	for _, c := range []struct {
		region int
		advice Advice
		va     model.VA
		length uint64
		want   error
	}{
		{9, AdvisePrefetch, 0x10000, 1, ErrNoRegion},
		{-1, AdvisePrefetch, 0x10000, 1, ErrNoRegion},
		{2, AdvisePrefetch, 0x10000, 1, ErrNoRegion}, // another adapter's
		{3, AdvisePrefetch, 0xA0000, 1, ErrNoRegion}, // not yet registered
		{0, 3, 0x10000, 1, ErrAdvice},
		{1, AdvisePrefetchWrite, 0x90000, 1, ErrReadOnly},
		{0, AdvisePrefetch, 0xFFFF, 2, ErrOutside},
		{0, AdvisePrefetch, 0x13FFF, 2, ErrOutside},
		{0, AdvisePrefetch, 0x10001, ^uint64(0), ErrOutside},
	} {
		if err := k.Advise(0, 0, c.region, c.advice, c.va, c.length); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	pinned := newWorld(t, setting{spec: quick(8), regions: oneRegion(4), scheme: Pinned})
	if err := pinned.kernel.Advise(0, 0, 0, AdvisePrefetch, 0x10000, 1); !errors.Is(err, ErrNotOnDemand) {
		t.Errorf("pinned: %v", err)
	}
	wantCount(t, "started", w.run().Prefetches, 0)
}

// PRE-3: pages prefetched for reading are read without a fault, and fault when
// they are stored to; prefetched for writing they do neither. What is only
// mapped if present brings no page in.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		advice              Advice
		readFault, wrFault  int
		filled, minor, miss uint64
	}{
		{AdvisePrefetch, 0, 1, 3, 3, 0},
		{AdvisePrefetchWrite, 0, 0, 3, 3, 0},
		{AdvisePrefetchNoFault, 1, 1, 0, 0, 0},
		{AdvisePrefetch | AdviseFlush, 0, 1, 3, 3, 0},
	} {
		s := steps(quick(8))
		s.Pager.ReadFaultsWrite = false
		w := newWorld(t, setting{spec: s, regions: oneRegion(8)})
		var told []uint32
		w.kernel.config.OnPrefetched = func(_ int, filled, missed uint32) { told = append(told, filled, missed) }
		w.advise(t, us, c.advice, 0x10800, 0x2000) // pages 0, 1 and 2
		read, write := w.then(100*us, false, 1), w.then(200*us, true, 1)
		stats := w.run()
		name := fmt.Sprint("advice ", c.advice)
		if read.faults != c.readFault || write.faults != c.wrFault {
			t.Errorf("%s: faults of the read %d, of the write %d; want %d, %d", name, read.faults, write.faults, c.readFault, c.wrFault)
		}
		wantCount(t, name+" filled", stats.PrefetchedPages, c.filled)
		wantCount(t, name+" CPU faults", stats.PrefetchFaults, c.minor)
		wantCount(t, name+" missed", stats.PrefetchesMissed, c.miss)
		if len(told) != 2 || uint64(told[0]) != c.filled || uint64(told[1]) != c.miss {
			t.Errorf("%s: told %v", name, told)
		}
	}
}

// One prefetch of n present pages takes the driver's time, the update's with
// its pages, and one command.
func TestPrefetchTime(t *testing.T) {
	s := steps(quick(16))
	s.Pager.Initial, s.Pager.Snapshot, s.Fault.DriverPage = "resident", false, 50*ns
	w := newWorld(t, setting{spec: s, regions: oneRegion(8)})
	var end clocked.Time
	w.kernel.config.OnPrefetched = func(int, uint32, uint32) { end = w.engine.Now() }
	w.advise(t, 10*us, AdvisePrefetchNoFault, 0x10000, 8*4096)
	w.run()
	wantTime(t, "prefetch", end-10*us, 3*us+200*ns+7*50*ns+hop+us+hop)
	wantCount(t, "fills", uint64(w.fills), 1)
	for p := range 8 {
		if !w.nics[0].table[p].write {
			t.Errorf("page %d: what the process may store to is mapped so", p)
		}
	}
}

// PRE-2: a page that moves between the look at it and the table update is not
// filled by the prefetch that looked.
func TestPrefetchMeetsInvalidation(t *testing.T) {
	s := steps(quick(8))
	s.Fault.Update = 20 * us // the move is over when the table is to be written
	w := newWorld(t, setting{spec: s, regions: oneRegion(4)})
	w.advise(t, us, AdvisePrefetchWrite, 0x10000, 4096)
	w.at(7*us, func(now clocked.Time) {
		if w.kernel.prefetches.items[0].phase != prefetchUpdate || !w.kernel.Migrate(now, 0) {
			t.Error("the page is not between look and update, or stays")
		}
	})
	stats := w.run()
	wantCount(t, "migrations", stats.Migrations, 1)
	wantCount(t, "fills", uint64(w.fills), 0)
	wantCount(t, "missed", stats.PrefetchesMissed, 1)
}

// A read-only prefetch that is overtaken by a fault for writing leaves the
// fault's entry as it is.
func TestPrefetchTakesNoRight(t *testing.T) {
	s := steps(quick(8))
	s.Pager.Initial, s.Pager.Snapshot = "resident", false
	for _, lead := range []clocked.Time{1, 2, 3, 4, 5, 6, 7} { // of the fault
		w := newWorld(t, setting{spec: s, regions: oneRegion(1)})
		q := w.then(us, true, 0)
		w.advise(t, us+lead*300*ns, AdvisePrefetch, 0x10000, 1)
		w.run()
		if q.faults != 1 || !w.nics[0].table[0].write {
			t.Errorf("lead %d: %d faults, entry %+v", lead, q.faults, w.nics[0].table[0])
		}
	}
}

// A13: a fault on the last of three pages with eight to follow: only pages of
// the region come in, and the neighbours' entries stay empty. FLT-7: where
// there is no frame for the pages after it, the fault is served all the same.
func TestPrefetchStaysInRegion(t *testing.T) {
	for _, advice := range []string{"read", "write", "no_fault"} {
		for _, frames := range []int{16, 2} {
			s := steps(quick(frames))
			s.Prefetch = Prefetch{Advice: advice, Ahead: 8}
			regions := append(oneRegion(3), Region{VA: 0x13000, Length: 8 * 4096, FirstPage: 3, FirstEntry: 3, Writable: true})
			w := newWorld(t, setting{spec: s, regions: regions})
			last := w.then(us, true, 2)
			first := w.then(500*us, true, 0)
			stats := w.run()
			if last.faults != 1 || first.faults != 1 || last.failures+first.failures > 0 {
				t.Errorf("%s: faults %d, %d", advice, last.faults, first.faults)
			}
			for e := 3; e < 11; e++ {
				if w.nics[0].table[e].present || w.kernel.pages[e].state != pageAbsent {
					t.Errorf("%s: page %d, of the neighbour, came in", advice, e)
				}
			}
			want := uint64(0)
			if advice != "no_fault" && frames == 16 {
				want = 1 // page 1, after page 0; page 2 is there
			}
			wantCount(t, advice+" prefetched", stats.PrefetchedPages, want)
		}
	}
}

// A sequential pass faults once in ahead+1 pages.
func TestPrefetchAhead(t *testing.T) {
	const ahead, pageCount = 3, 16
	s := steps(quick(32))
	s.Prefetch = Prefetch{Advice: "write", Ahead: ahead}
	w := newWorld(t, setting{spec: s, regions: oneRegion(pageCount)})
	q := &qp{}
	for p := range uint32(pageCount) {
		q.script = append(q.script, access{entry: uint64(p), page: p, write: true, at: clocked.Time(p+1) * 100 * us})
	}
	w.nics[0].qps = []*qp{q}
	stats := w.run()
	wantCount(t, "faults", uint64(q.faults), pageCount/(ahead+1))
	wantCount(t, "prefetched", stats.PrefetchedPages, pageCount-pageCount/(ahead+1))
}

// PRE-1: whatever is prefetched, accesses end the same way and see the same
// content: the oracle agrees in run, and no access fails.
func TestPrefetchIsAHint(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const pageCount = 16
		s := pressured(rt)
		s.Prefetch = Prefetch{Advice: rapid.SampledFrom([]string{"none", "read", "write", "no_fault"}).Draw(rt, "advice"),
			Ahead: rapid.IntRange(0, 9).Draw(rt, "ahead")}
		w := newWorld(t, setting{spec: s, regions: oneRegion(pageCount), jitter: 3 * us})
		for range rapid.IntRange(1, 3).Draw(rt, "QPs") {
			w.nics[0].qps = append(w.nics[0].qps, &qp{script: script(rt, pageCount)})
		}
		at := clocked.Time(0)
		for range rapid.IntRange(0, 6).Draw(rt, "advices") {
			at += clocked.Time(rapid.IntRange(1, 100).Draw(rt, "after")) * us
			first := rapid.IntRange(0, pageCount-1).Draw(rt, "first")
			w.advise(t, at, Advice(rapid.IntRange(0, 2).Draw(rt, "kind")), 0x10000+model.VA(first)*4096,
				uint64(rapid.IntRange(0, pageCount-first).Draw(rt, "pages"))*4096)
		}
		w.run()
		for _, q := range w.nics[0].qps {
			if q.failures > 0 {
				rt.Fatalf("%d accesses failed", q.failures)
			}
		}
		if t.Failed() {
			rt.FailNow()
		}
	})
}

// A full queue drops what nobody waits for.
func TestPrefetchQueueIsBounded(t *testing.T) {
	s := steps(quick(8))
	s.Fault.Contexts = 2
	w := newWorld(t, setting{spec: s, regions: oneRegion(8)})
	w.at(us, func(now clocked.Time) {
		for range 3 {
			if err := w.kernel.Advise(now, 0, 0, AdvisePrefetch, 0x10000, 4096); err != nil {
				t.Error(err)
			}
		}
		if err := w.kernel.Advise(now, 0, 0, AdvisePrefetch|AdviseFlush, 0x11000, 4096); err != nil {
			t.Error(err)
		}
	})
	stats := w.run()
	wantCount(t, "started", stats.Prefetches, 3)
	wantCount(t, "dropped", stats.PrefetchesDropped, 1)
	wantCount(t, "filled", stats.PrefetchedPages, 2)
}

// A prefetch of many pages under several regions goes by runs under the same
// ones, and every entry maps its page.
func TestPrefetchAcrossSegments(t *testing.T) {
	regions := append(oneRegion(200), Region{VA: 0x20000, Length: 50 * 4096, Adapter: 1, FirstPage: 16, Writable: true})
	w := newWorld(t, setting{spec: steps(quick(256)), regions: regions, adapters: 2})
	w.advise(t, us, AdvisePrefetchWrite, 0x10000, 200*4096)
	w.nics[0].qps = []*qp{{}}
	for p := range uint32(200) {
		w.nics[0].qps[0].script = append(w.nics[0].qps[0].script, access{entry: uint64(p), page: p, write: true, at: clocked.Millisecond * 5})
	}
	w.at(4*clocked.Millisecond, func(now clocked.Time) {
		if w.kernel.prefetches.used > 0 {
			t.Error("not done")
		}
	})
	wantCount(t, "faults", w.run().Events, 0)
	for p := range uint32(200) {
		if w.nics[0].table[p].pa != msg.FramePA(w.kernel.pages[p].frame, model.Shift4K) {
			t.Fatalf("entry %d maps another frame", p)
		}
	}
}

// Where adapters walk the process's page table, prefetch makes pages present and
// writes no table: a request for one page brings those ahead of it too.
func TestPrefetchForWalkers(t *testing.T) {
	for _, c := range []AdapterConfig{scheme(SVA), process()} {
		s := steps(quick(16))
		s.Prefetch = Prefetch{Advice: "write", Ahead: 3}
		w := newWorld(t, setting{spec: s, regions: oneRegion(6), configs: []AdapterConfig{c}})
		w.touch(true, 0)
		for p := range uint32(4) {
			w.then(200*us+clocked.Time(p)*20*us, true, p)
		}
		stats := w.run()
		wantCount(t, label(c)+": CPU faults for accesses", stats.Minor, 1)
		wantCount(t, label(c)+": pages in", stats.FilledPages, 4)
		wantCount(t, label(c)+": for it", stats.PrefetchFaults, 3)
		wantCount(t, label(c)+": fills", uint64(w.fills), 0)
	}
}
