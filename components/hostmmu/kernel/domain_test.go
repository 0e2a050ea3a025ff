package kernel

import (
	"testing"

	"rnicmmu/clocked"
)

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
		for p := range uint32(len(w.kernel.pages)) {
			if walk := w.kernel.dma.Lookup(w.kernel.vaOf(p)); walk.Present() {
				mapped++
			}
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
			if w.kernel.DeferredStale(p, noFrame) {
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
		if w.kernel.DeferredStale(p, noFrame) {
			t.Errorf("page %d is not flushed at the end", p)
		}
	}
}

// The window of each page, from its unmapping to the end of its flush: a
// strict one is the flush's own time and the fence's; the pages of a deferred
// flush by count have waited for those behind them, and the last of all for the
// flush time.
func TestWindow(t *testing.T) {
	const trip = 2*ns + 2*300*ns // the flush and its fence, there and back
	for _, count := range []int{0, 4} {
		var windows []clocked.Time
		w := newWorld(t, setting{spec: steps(quick(2)), regions: shared(1, 16), configs: []AdapterConfig{behind(ODP)},
			config: Config{FlushCount: count, FlushTime: clocked.Second, OnFlushed: func(d clocked.Time) { windows = append(windows, d) }}})
		w.touch(true, pages(0, 16)...)
		stats := w.run()
		wantCount(t, "windows", uint64(len(windows)), stats.DMAUnmaps)
		for i, d := range windows {
			switch {
			case count == 0 || i == 3 || i == 7 || i == 11: // the page that made the count
				wantTime(t, "window", d, trip)
			case i == 12:
				wantTime(t, "window of the first by time", d, clocked.Second+trip)
			case d <= trip || d >= clocked.Second:
				t.Errorf("window of page %d is %v", i, d)
			}
		}
	}
}

// Registrations let go have windows too.
func TestWindowOfDeregistration(t *testing.T) {
	for _, count := range []int{0, 8} {
		var windows []clocked.Time
		w := newWorld(t, setting{spec: registering(16), regions: dynamicRegions(1, 4), configs: []AdapterConfig{scheme(IOMMU)},
			config: Config{FlushCount: count, FlushTime: clocked.Millisecond, OnFlushed: func(d clocked.Time) { windows = append(windows, d) }}})
		w.ask(us, register(0))
		w.ask(clocked.Millisecond, deregister(0))
		w.run()
		want := clocked.Time(602 * ns)
		if count > 0 {
			want += clocked.Millisecond
		}
		if len(windows) != 4 || windows[0] != want || windows[3] != want {
			t.Errorf("flush count %d: %v, want 4 of %v", count, windows, want)
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
