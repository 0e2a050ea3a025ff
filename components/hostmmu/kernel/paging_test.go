package kernel

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
)

// pressured draws a host short of memory with every pager feature in play.
func pressured(rt *rapid.T) Spec {
	s := steps(quick(rapid.IntRange(2, 12).Draw(rt, "frames")))
	p := &s.Pager
	p.Policy = rapid.SampledFrom([]string{"clock", "lru"}).Draw(rt, "policy")
	p.Initial = rapid.SampledFrom([]string{"zero", "swapped", "resident"}).Draw(rt, "initial")
	p.Snapshot = rapid.Bool().Draw(rt, "snapshot")
	p.ReadFaultsWrite = rapid.Bool().Draw(rt, "read faults write")
	p.Readahead = rapid.IntRange(0, 3).Draw(rt, "readahead")
	p.Batch = rapid.IntRange(1, 3).Draw(rt, "batch")
	p.Grace = clocked.Time(rapid.IntRange(0, 20).Draw(rt, "grace")) * us
	p.Parallel = rapid.IntRange(1, 4).Draw(rt, "parallel")
	p.Swap.QueueDepth = rapid.IntRange(1, 4).Draw(rt, "depth")
	s.Fault.Contexts = rapid.IntRange(1, 6).Draw(rt, "contexts")
	s.Fault.Workers = rapid.IntRange(1, 4).Draw(rt, "workers")
	s.Notifier.Order = rapid.SampledFrom([]string{"parallel", "serial"}).Draw(rt, "order")
	if rapid.Bool().Draw(rt, "watermarks") {
		p.Low, p.High = 0.2, 0.4
	}
	return s
}

// script draws accesses of a QP to a region's pages.
func script(rt *rapid.T, pages uint32) (list []access) {
	for range rapid.IntRange(1, 25).Draw(rt, "accesses") {
		p := rapid.Uint32Range(0, pages-1).Draw(rt, "page")
		list = append(list, access{entry: uint64(p), page: p, write: rapid.Bool().Draw(rt, "write")})
	}
	return list
}

// Content survives arbitrary paging on two adapters, with a CPU user and
// migration, and however instants are ordered the results are the same: no
// stale access, no lost write, frames conserved, every fault answered.
func TestContentSurvivesPaging(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const pageCount = 16
		s := pressured(rt)
		if rapid.Bool().Draw(rt, "cpu") {
			s.CPU = CPU{WorkingSet: 6 * 4096, Threads: 2, Think: 3 * us, Writes: 0.5, Shared: 0.4, Pattern: "uniform"}
		}
		if rapid.Bool().Draw(rt, "migration") {
			s.Pager.MigrateInterval = 11 * us
		}
		regions := append(oneRegion(pageCount), Region{VA: 0x10000, Length: pageCount * 4096, Adapter: 1, Writable: true})
		var scripts [2][][]access
		for a := range scripts {
			for range rapid.IntRange(1, 4).Draw(rt, "QPs") {
				scripts[a] = append(scripts[a], script(rt, pageCount))
			}
		}
		first := ""
		for shuffle := range uint64(3) {
			w := newWorld(t, setting{spec: s, regions: regions, adapters: 2, shuffle: shuffle, jitter: 5 * us})
			for a := range scripts {
				for _, list := range scripts[a] {
					w.nics[a].qps = append(w.nics[a].qps, &qp{script: list})
				}
			}
			w.ticked = func(now clocked.Time) {
				if now > 3000*us || w.accessed() {
					w.kernel.Stop()
				}
			}
			stats := w.run()
			result := fmt.Sprint(stats, w.engine.Now(), w.records)
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

// accessed tells whether every QP has done its script.
func (w *world) accessed() bool {
	for _, n := range w.nics {
		for _, q := range n.qps {
			if q.at < len(q.script) {
				return false
			}
		}
	}
	return true
}

// FLT-10, INV-7: with two frames and many QPs, no frame is ever free for long; all progress.
func TestProgressWithoutFreeFrames(t *testing.T) {
	w := newWorld(t, setting{spec: steps(quick(2)), regions: oneRegion(32)})
	for i := range uint32(16) {
		w.touch(true, i, i+16, i, i+16)
	}
	stats := w.run()
	if stats.DirectReclaims == 0 || stats.SwappedOut == 0 {
		t.Errorf("%+v", stats)
	}
}

// FLT-10: a QP whose fault is served does not come back for a second. Its frame
// serves others meanwhile, which are done long before; when it comes it faults
// again, and goes on.
func TestProgressBesideAQPThatSleeps(t *testing.T) {
	w := newWorld(t, setting{spec: steps(quick(2)), regions: oneRegion(32)})
	sleeper := w.touch(true, 0)
	for i := range uint32(4) {
		w.touch(true, pages(8*i+1, 8*i+8)...)
	}
	w.ticked = func(clocked.Time) {
		if sleeper.faults == 1 && sleeper.again == 0 {
			sleeper.again = clocked.Second
			w.engine.Wake(w.id, sleeper.again)
		}
	}
	w.run()
	for i, q := range w.nics[0].qps[1:] {
		if q.done > 100*clocked.Millisecond {
			t.Errorf("QP %d waited for the one that sleeps: done at %v", i+1, q.done)
		}
	}
	if sleeper.faults != 2 || sleeper.done < clocked.Second {
		t.Errorf("%d faults, done at %v", sleeper.faults, sleeper.done)
	}
}

// The CPU user's stalls are measured: alone with enough frames it faults once
// a page, and waits for the fault each time.
func TestCPUUser(t *testing.T) {
	s := steps(quick(16))
	s.CPU = CPU{WorkingSet: 8 * 4096, Threads: 1, Think: us, Writes: 1, Pattern: "sequential"}
	w := newWorld(t, setting{spec: s, regions: oneRegion(1)})
	var latencies []clocked.Time
	w.kernel.config.OnCPUAccess = func(d clocked.Time) { latencies = append(latencies, d) }
	w.ticked = func(clocked.Time) {
		if w.kernel.Stats.CPUAccesses == 19 {
			w.kernel.Stop()
		}
	}
	stats := w.run()
	wantCount(t, "accesses", stats.CPUAccesses, 20)
	wantCount(t, "faults", stats.CPUFaults, 8)
	wantCount(t, "minor", stats.CPUMinor, 8)
	fault := 2*hop + pageTime + us // zero-fill, then software
	wantTime(t, "stall", stats.CPUStall, 8*fault)
	wantTime(t, "first access", latencies[0], fault+2*hop+pageTime)
	wantTime(t, "a later one", latencies[8], 2*hop+pageTime)
}

// Under the same pressure the CPU user suffers from pinning: frames that are
// pinned are not his.
func TestPinningIsNotFree(t *testing.T) {
	faults := map[string]uint64{}
	for _, scheme := range []string{Pinned, ODP} {
		s := steps(quick(16))
		s.CPU = CPU{WorkingSet: 12 * 4096, Threads: 1, Think: us, Writes: 1, Pattern: "sequential"}
		w := newWorld(t, setting{spec: s, regions: oneRegion(10), scheme: scheme})
		w.touch(true, 0, 1)
		w.ticked = func(clocked.Time) {
			if w.kernel.Stats.CPUAccesses >= 100 {
				w.kernel.Stop()
			}
		}
		faults[scheme] = w.run().CPUFaults
	}
	// 12 pages cycle through 6 frames that are left; under odp 14 pages fit in 16.
	if faults[ODP] != 12 || faults[Pinned] < 50 {
		t.Errorf("faults %v; want 12 under odp, most accesses under pinned", faults)
	}
}

func TestMigrationKeepsPages(t *testing.T) {
	s := steps(quick(8))
	s.Pager.MigrateInterval = 5 * us
	w := newWorld(t, setting{spec: s, regions: oneRegion(4)})
	for range 3 {
		w.touch(true, 0, 1, 2, 3, 0, 1, 2, 3)
	}
	w.ticked = func(clocked.Time) {
		if w.accessed() {
			w.kernel.Stop()
		}
	}
	stats := w.run()
	if stats.Migrations == 0 {
		t.Error("nothing migrated")
	}
	wantCount(t, "evictions", stats.Evictions, 0)
	wantCount(t, "filled", stats.FilledPages, 4)
}

// OVR-2: faults for two pages each: where all frames could be held by faults that
// wait for their second page, only the eldest holds, so that all progress.
func TestFaultOfSeveralPages(t *testing.T) {
	for _, frames := range []int{2, 4, 16} {
		s := steps(quick(frames))
		s.Pager.Grace = 50 * us
		w := newWorld(t, setting{spec: s, regions: oneRegion(16)})
		for i := range uint64(4) {
			q := &qp{}
			for n := range uint64(8) {
				e := (n*2 + i*4) % 16
				q.script = append(q.script, access{entry: e, page: uint32(e), write: true, span: 2})
			}
			w.nics[0].qps = append(w.nics[0].qps, q)
		}
		stats := w.run()
		if frames == 16 {
			wantCount(t, "filled", stats.FilledPages, 16)
			// Each pair once; the other QP finds it there, or on its way.
			wantCount(t, "events not coalesced", stats.Events-stats.Coalesced, 8)
		}
	}
}
