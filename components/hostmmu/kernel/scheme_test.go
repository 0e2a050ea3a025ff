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
	last := clocked.Time(0) // the one without copies answers by the fence, behind all others
	for _, r := range w.records {
		last = max(last, r.Acknowledged)
	}
	for _, r := range w.records {
		c := configs[r.Adapter]
		if tlb := c.Scheme != ODP || c.IOMMU; (r.IOTLB > 0) != tlb || (r.DevTLB > 0) != (c.Scheme == SVA) {
			t.Errorf("adapter %d, %s: IOTLB at %v, devTLB at %v", r.Adapter, label(c), r.IOTLB, r.DevTLB)
		}
		if r.Others != last {
			t.Errorf("adapter %d: the last one's answer at %v, want %v", r.Adapter, r.Others, last)
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
	wantTime(t, "checks", r.Checked-r.Notified, 2700*ns)
	wantTime(t, "flushed", r.IOTLB-r.Checked, hop+command)
	wantTime(t, "sent", r.Sent-r.IOTLB, command)
	wantTime(t, "acknowledged", r.Acknowledged-r.Sent, us)
	wantTime(t, "fence", r.Others-r.Acknowledged, hop)
	wantTime(t, "done", r.Done-r.Others, 1700*ns)
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

func TestRefusedScheme(t *testing.T) {
	_, err := New(clocked.NewEngine(), "kernel", quick(4), Config{Adapters: []AdapterConfig{scheme("paged")}})
	const want = `scheme: "paged": pinned, odp, sva, iommu or suspend is due`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
