package kernel

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

func scheme(name string) AdapterConfig { return AdapterConfig{Shift: model.Shift4K, Scheme: name} }

// behind is a scheme whose adapter's DMA passes an IOMMU.
func behind(name string) AdapterConfig {
	return AdapterConfig{Shift: model.Shift4K, Scheme: name, IOMMU: true}
}

// process is scheme iommu by the process's page table.
func process() AdapterConfig {
	return AdapterConfig{Shift: model.Shift4K, Scheme: IOMMU, Process: true}
}

// shared is a writable region of so many pages on each of the adapters.
func shared(adapters, pages int) (list []Region) {
	for a := range adapters {
		list = append(list, Region{VA: 0x10000, Length: uint64(pages) * 4096, Adapter: a, Writable: true})
	}
	return list
}

// on adds a QP to an adapter.
func (w *world) on(adapter int, write bool, pages ...uint32) *qp {
	q := w.touch(write, pages...)
	n := w.nics[0]
	n.qps = n.qps[:len(n.qps)-1]
	w.nics[adapter].qps = append(w.nics[adapter].qps, q)
	return q
}

// everyScheme lists adapters whose pages come and go, one a kind.
var everyScheme = []AdapterConfig{scheme(ODP), behind(ODP), scheme(SVA), process(), scheme(Suspend), behind(Suspend)}

func label(c AdapterConfig) string {
	return fmt.Sprintf("%s, process %v, IOMMU %v", c.Scheme, c.Process, c.IOMMU)
}

// INV-2, INV-7: however the adapters live with paging, alone or mixed, and with
// no frame free for long, no access reaches a frame that is another page's, and
// all progress. Content survives, frames are conserved, every fault and group is
// answered, and the order of instants changes nothing.
func TestSchemesSurvivePaging(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const pageCount = 12
		s := pressured(rt)
		s.Pager.Grace += 100 * us // longer than an access waits for a suspension or comes again
		s.DMA = DMA{Map: 100 * ns, Unmap: 50 * ns}
		s.Suspend.Unit = rapid.SampledFrom([]string{"page", "region"}).Draw(rt, "unit")
		s.Pager.FlushOnClear = rapid.Bool().Draw(rt, "flush on clear")
		if rapid.Bool().Draw(rt, "migration") {
			s.Pager.MigrateInterval = 11 * us
		}
		if rapid.Bool().Draw(rt, "cpu") {
			s.CPU = CPU{WorkingSet: 3 * 4096, Threads: 1, Think: 3 * us, Writes: 0.5, Shared: 0.5, Pattern: "uniform"}
		}
		configs := rapid.SliceOfN(rapid.SampledFrom(everyScheme), 1, 3).Draw(rt, "adapters")
		config := Config{FlushTime: 30 * us, FlushCount: rapid.SampledFrom([]int{0, 1, 3}).Draw(rt, "flush count")}
		noDirty := rapid.Bool().Draw(rt, "no dirty bits")
		scripts := make([][][]access, len(configs))
		for a := range scripts {
			for range rapid.IntRange(1, 3).Draw(rt, "QPs") {
				scripts[a] = append(scripts[a], script(rt, pageCount))
			}
		}
		first := ""
		for shuffle := range uint64(2) {
			w := newWorld(rt, setting{spec: s, regions: shared(len(configs), pageCount), configs: configs, config: config, shuffle: shuffle, jitter: 5 * us})
			w.iommu.noDirty, w.limit = noDirty, 100*clocked.Millisecond
			for a := range scripts {
				for _, list := range scripts[a] {
					w.nics[a].qps = append(w.nics[a].qps, &qp{script: list})
				}
			}
			w.ticked = func(now clocked.Time) {
				if now > 1000*us || w.accessed() {
					w.kernel.Stop()
				}
			}
			stats := w.run()
			if w.iommu.ring != 0 || w.iommu.strange > 0 {
				rt.Errorf("%d places of the ring in use, %d responses to nobody", w.iommu.ring, w.iommu.strange)
			}
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

// ATS-1, INV-2: for one page on adapters of every scheme: tables first, then
// the IOTLB, then the adapters' caches, then the fence, and only then may the
// frame be another page's.
func TestOrderOfAnInvalidation(t *testing.T) {
	configs := []AdapterConfig{scheme(ODP), scheme(SVA), behind(ODP), scheme(SVA), process()}
	w := newWorld(t, setting{spec: steps(quick(4)), regions: shared(len(configs), 8), configs: configs})
	for a := range configs {
		w.on(a, true, 0)
	}
	w.run()
	w.logging = true
	w.touch(true, 1, 2, 3, 4)
	stats := w.run()
	const want = `invalidate 0: 0+1, invalidate 2: 0+1, iotlb 0: 0x10000+0x1000, iotlb 1: 0x10000+0x1000, ` +
		`devtlb 1: 0x10000+0x1000, devtlb 3: 0x10000+0x1000, completion 1, completion 3, fence`
	got := strings.Join(slices.DeleteFunc(w.log, func(s string) bool {
		return strings.HasPrefix(s, "fill") || strings.HasPrefix(s, "resume")
	}), ", ")
	if got != want {
		t.Errorf("order:\n%s\nwant\n%s", got, want)
	}
	wantCount(t, "records", stats.InvalidationsIssued, 5)
	for _, r := range w.records {
		c := configs[r.Adapter]
		if tlb := c.Scheme != ODP || c.IOMMU; (r.IOTLB > 0) != tlb || (r.DevTLB > 0) != (c.Scheme == SVA) {
			t.Errorf("adapter %d, %s: IOTLB at %v, devTLB at %v", r.Adapter, label(c), r.IOTLB, r.DevTLB)
		}
		if r.Sent < r.Notified || r.Acknowledged <= r.Sent || r.Done < r.Acknowledged || r.IOTLB > r.Done || r.DevTLB > r.Done {
			t.Errorf("adapter %d: %+v", r.Adapter, r)
		}
	}
}

// B8: an adapter that asks for a translation during an invalidation gets the
// new state or none: at the first command that reaches the IOMMU the page table
// has no entry any more.
func TestPageTableIsClearedFirst(t *testing.T) {
	w := newWorld(t, setting{spec: steps(quick(2)), regions: shared(1, 4), configs: []AdapterConfig{scheme(SVA)}})
	w.touch(true, 0, 1, 2, 3, 0)
	looks := 0
	w.ticked = func(now clocked.Time) {
		for _, c := range w.iommu.queue {
			if c.Op == msg.IOTLBInvalidate && c.Record != nil {
				looks++
				if walk := w.kernel.table.Lookup(c.First); walk.Present() {
					t.Fatalf("%v: the page at %#x is flushed while the page table maps it", now, uint64(c.First))
				}
			}
		}
	}
	if stats := w.run(); looks == 0 || stats.Evictions != 3 {
		t.Errorf("%d looks, %d evictions; want 3 evictions", looks, stats.Evictions)
	}
}

// An unloaded invalidation under sva takes its checks, the IOTLB's flush, the
// round trip to the adapter, the fence, and the TLB shootdown.
func TestUnloadedSVAInvalidation(t *testing.T) {
	w := newWorld(t, setting{spec: steps(quick(2)), regions: shared(1, 3), configs: []AdapterConfig{scheme(SVA)}})
	w.touch(true, 0, 1, 2)
	w.run()
	r := w.records[0]
	const command = 300 * ns
	wantTime(t, "flushed", r.IOTLB-r.Notified, 2700*ns+hop+command)
	wantTime(t, "sent", r.Sent-r.IOTLB, command)
	wantTime(t, "acknowledged", r.Acknowledged-r.Sent, us)
	wantTime(t, "done", r.Done-r.Acknowledged, hop+1700*ns)
}

// INV-8: what an adapter could have stored to is written out; what it could
// only read is dropped. Under sva the page table's dirty bit says so.
func TestDirtyByScheme(t *testing.T) {
	for _, c := range everyScheme {
		for _, write := range []bool{true, false} {
			s := quick(2)
			s.Pager.Initial, s.Pager.ReadFaultsWrite = "swapped", false
			w := newWorld(t, setting{spec: s, regions: shared(1, 6), configs: []AdapterConfig{c}})
			w.touch(write, pages(0, 6)...)
			stats := w.run()
			want := uint64(0)
			if write {
				want = 4
			}
			wantCount(t, label(c)+" swap-outs", stats.SwappedOut, want)
			wantCount(t, label(c)+" evictions", stats.Evictions, 4)
		}
	}
}

// INV-8: a store that needed no fault, by an entry that registration or a move
// made, is written out too; and what the frame held before does not count.
func TestDirtyWithoutAFault(t *testing.T) {
	for _, c := range everyScheme {
		s := quick(4)
		s.Pager.Initial, s.Pager.ReadFaultsWrite = "resident", false
		w := newWorld(t, setting{spec: s, regions: shared(1, 12), configs: []AdapterConfig{c}})
		w.touch(true, pages(0, 4)...)
		before := w.run()
		w.touch(false, pages(4, 8)...)
		after := w.run()
		wantCount(t, label(c)+" faults", before.Events+before.Absent, 0)
		wantCount(t, label(c)+" swap-outs of stored pages", after.SwappedOut, 4)
		w.touch(false, pages(8, 12)...)
		wantCount(t, label(c)+" swap-outs of pages that were read", w.run().SwappedOut, 4)
		w.touch(false, pages(0, 4)...) // checks the content
		w.run()
	}
}

// E5: a page that was written out and comes back is dirty again when an adapter
// stores again.
func TestDirtyAgain(t *testing.T) {
	for _, c := range everyScheme {
		w := newWorld(t, setting{spec: quick(2), regions: shared(1, 4), configs: []AdapterConfig{c}})
		w.touch(true, 0, 1, 2, 3, 0, 1, 2, 3)
		stats := w.run()
		wantCount(t, label(c)+" swap-outs", stats.SwappedOut, stats.Evictions)
		wantCount(t, label(c)+" that held nothing new", stats.ExtraSwapOuts, 0)
	}
}

// F17: a store that lands just before the acknowledgement is in what goes to
// swap.
func TestLateStoreIsSwappedOut(t *testing.T) {
	w := newWorld(t, setting{spec: steps(quick(2)), regions: oneRegion(3)})
	late := 0
	w.nics[0].zapped = func(now clocked.Time, c *msg.Command) {
		if c.Op == msg.CmdInvalidate {
			late++
			p := uint32(c.Entry)
			w.transfer(now, &qp{}, access{page: p, write: true}, w.nics[0].table[p].pa)
		}
	}
	w.touch(true, 0, 1, 2, 0, 1, 2, 0, 1, 2) // each page is seen with its content again
	if w.run(); late == 0 {
		t.Error("no store came late")
	}
}

// F24: a page moves there and back: two migrations, the adapter acknowledges
// each before the content is copied, and it reaches the page where it is.
func TestMigrationThereAndBack(t *testing.T) {
	for _, c := range everyScheme {
		w := newWorld(t, setting{spec: steps(quick(2)), regions: shared(1, 1), configs: []AdapterConfig{c}})
		w.touch(true, 0)
		w.run()
		home := w.kernel.pages[0].frame
		for range 2 {
			w.move(t, 0)
			w.run()
			w.touch(true, 0)
			w.run()
		}
		s := w.kernel.Stats
		wantCount(t, label(c)+" migrations", s.Migrations, 2)
		wantCount(t, label(c)+" acknowledged", s.InvalidationsAcknowledged, 2)
		if w.kernel.pages[0].frame != home {
			t.Errorf("%s: in frame %d, want %d", label(c), w.kernel.pages[0].frame, home)
		}
		for _, r := range w.records {
			if r.Trigger != measure.TriggerMigrate || r.Acknowledged == 0 || r.Done < r.Acknowledged {
				t.Errorf("%s: %+v", label(c), r)
			}
		}
	}
}

// move starts a migration between the kernel's ticks.
func (w *world) move(t tester, p uint32) {
	t.Helper()
	now := w.engine.Now()
	if !w.kernel.Migrate(now, p) {
		t.Fatalf("page %d does not move; %v", p, w.kernel.Waits())
	}
	w.engine.Wake(w.kernel.ID(), now+ns)
}

// E3: DMA mappings and unmappings of a page take turns, whoever asks: at the
// end as many are mapped as are in the DMA domain.
func TestDMAMappingsBalance(t *testing.T) {
	for _, flush := range []int{0, 2} {
		configs := []AdapterConfig{behind(ODP), behind(Suspend)}
		w := newWorld(t, setting{spec: steps(quick(3)), regions: shared(2, 8), configs: configs, config: Config{FlushCount: flush, FlushTime: 10 * us}})
		w.on(0, true, 0, 1, 2, 3, 4, 5, 6, 7)
		w.on(1, true, 7, 6, 5, 4, 3, 2, 1, 0)
		s := w.run()
		mapped := uint64(0)
		for range w.kernel.dma.Range(0, 1<<40) {
			mapped++
		}
		if s.DMAUnmaps == 0 || s.DMAMaps != s.DMAUnmaps+mapped {
			t.Errorf("flush count %d: %d mapped, %d unmapped, %d in the domain", flush, s.DMAMaps, s.DMAUnmaps, mapped)
		}
	}
}

// Strict unmapping flushes the IOTLB before the frame is free; deferred
// unmapping gathers pages and says which of them are not flushed yet.
func TestDeferredUnmapping(t *testing.T) {
	s := steps(quick(2))
	w := newWorld(t, setting{spec: s, regions: shared(1, 16), configs: []AdapterConfig{behind(ODP)},
		config: Config{FlushCount: 4, FlushTime: clocked.Second}})
	w.touch(true, pages(0, 16)...)
	most := 0
	w.ticked = func(now clocked.Time) {
		stale := 0
		for p := range uint32(16) {
			if w.kernel.DeferredStale(p) {
				stale++
			}
		}
		most = max(most, stale)
	}
	stats := w.run()
	wantCount(t, "evictions", stats.Evictions, 14)
	wantCount(t, "flushes", stats.LazyFlushes, 14/4+1) // the last two by the timer
	if most < 2 || most > 5 {
		t.Errorf("%d pages at most waited for a flush; want up to 4, and what left while one was under way", most)
	}
	if now := w.engine.Now(); now < clocked.Second {
		t.Errorf("at rest at %v: the last flush comes after 1 s", now)
	}
	for p := range uint32(16) {
		if w.kernel.DeferredStale(p) {
			t.Errorf("page %d is not flushed at the end", p)
		}
	}
}

// A page that comes back before its flush is flushed before it is mapped: the
// adapter does not reach the old frame.
func TestDeferredPageComesBack(t *testing.T) {
	w := newWorld(t, setting{spec: steps(quick(2)), regions: shared(1, 4), configs: []AdapterConfig{behind(ODP)},
		config: Config{FlushCount: 100, FlushTime: clocked.Second}})
	w.touch(true, 0, 1, 2, 3, 0, 1, 2, 3) // run checks for stale accesses
	stats := w.run()
	if stats.LazyFlushes < 2 || w.engine.Now() > 2*clocked.Second {
		t.Errorf("%d flushes", stats.LazyFlushes)
	}
}

// Under iommu registration pins and maps: entries hold IOVAs, and the closed
// form of the cost has a term for the mappings.
func TestRegistrationUnderIOMMU(t *testing.T) {
	s := quick(8)
	s.DMA.Map = 1490 * ns
	w := newWorld(t, setting{spec: s, regions: oneRegion(4), configs: []AdapterConfig{scheme(IOMMU)}})
	if e := w.nics[0].table[1]; e.pa != 0x11000 || !e.write {
		t.Errorf("entry 1: %+v; want IOVA 0x11000", e)
	}
	w.touch(true, 0, 1, 2, 3)
	stats := w.run()
	wantCount(t, "events", stats.Events, 0)
	wantTime(t, "registration", stats.RegistrationTime, 10*us+4*(460+1490)*ns)
	if _, dma := w.kernel.Tables(); dma == nil {
		t.Error("no DMA domain")
	}
}

// What one adapter pins stays for all; what none pins pages.
func TestPinnedForAll(t *testing.T) {
	configs := []AdapterConfig{scheme(SVA), scheme(Pinned)}
	regions := []Region{
		{VA: 0x10000, Length: 8 * 4096, Writable: true},
		{VA: 0x12000, Length: 2 * 4096, Adapter: 1, FirstPage: 2, Writable: true},
	}
	w := newWorld(t, setting{spec: quick(4), regions: regions, configs: configs})
	w.touch(true, pages(0, 8)...)
	stats := w.run()
	wantCount(t, "groups", stats.Events, 6)
	for _, p := range []uint32{2, 3} {
		if pg := w.kernel.pages[p]; pg.state != pageResident || pg.flags&pagePinned == 0 {
			t.Errorf("page %d: %+v", p, pg)
		}
	}
	// Two frames are left for the six other pages, and they are not taken away.
	if _, err := New(clocked.NewEngine(), "kernel", quick(4), Config{Adapters: configs}); err != nil {
		t.Fatal(err)
	}
	k, _ := New(clocked.NewEngine(), "kernel", quick(3), Config{Adapters: configs})
	if _, err := k.Register(regions); err == nil {
		t.Error("two pages pinned in three frames leave one for those that page")
	}
}

func TestRefusedScheme(t *testing.T) {
	_, err := New(clocked.NewEngine(), "kernel", quick(4), Config{Adapters: []AdapterConfig{scheme("paged")}})
	const want = `scheme: "paged": pinned, odp, sva, iommu or suspend is due`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
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

var _ = ats.ResponseSuccess
