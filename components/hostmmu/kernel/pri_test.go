package kernel

import (
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

// want is a page request for a page of the region at 0x10000.
func want(page int, write, last bool) ats.PageRequest {
	return ats.PageRequest{PASID: PASID, VA: model.VA(0x10000 + page*4096), Read: true, Write: write, Last: last}
}

// asking has an adapter under sva send one group and wait for its response.
func asking(t *testing.T, s Spec, regions []Region, requests ...ats.PageRequest) (*world, *qp) {
	w := newWorld(t, setting{spec: s, regions: regions, configs: []AdapterConfig{scheme(SVA)}})
	q := &qp{faulting: true, faults: 1, script: []access{{}}, at: 1}
	w.nics[0].qps = append(w.nics[0].qps, q)
	w.askPages(0, q, requests...)
	return w, q
}

// An unloaded page request takes the sum of its steps, from the ring to the
// response.
func TestUnloadedPageRequest(t *testing.T) {
	const transfer = 4096 * 8 * clocked.Second / 32e9
	const moved = hop + pageTime + hop
	for initial, want := range map[string]clocked.Time{
		"zero":     moved + 1*us,
		"swapped":  60*us + transfer + moved + 2*us,
		"resident": 0,
	} {
		s := steps(quick(8))
		s.Pager.Initial = initial
		w := newWorld(t, setting{spec: s, regions: shared(1, 4), configs: []AdapterConfig{scheme(SVA)}})
		if initial == "resident" { // there, but not for stores
			if _, err := w.kernel.table.Protect(0x12000, false); err != nil {
				t.Fatal(err)
			}
			want = 1 * us
		}
		q := w.touch(true, 2)
		stats := w.run()
		behind := 200 * ns
		if initial == "resident" {
			behind = 300 * ns // the flush of the IOTLB, which takes longer than software
		}
		// The IOMMU sees the request a nanosecond after the access.
		wantTime(t, initial, q.service[0], ns+hop+1*us+3*us+want+behind+hop+300*ns)
		wantCount(t, initial+" groups", stats.Events, 1)
		wantCount(t, initial+" answered", stats.Resumed, 1)
	}
}

// ATS-5: a group gets one response, whatever comes of it, when its last request
// is there; parts get none, and a stop marker gets none.
func TestOneResponseForAGroup(t *testing.T) {
	readOnly := []Region{{VA: 0x10000, Length: 8 * 4096}}
	wrongPASID := want(0, false, true)
	wrongPASID.PASID = 2
	for name, c := range map[string]struct {
		regions  []Region
		requests []ats.PageRequest
		codes    []ats.ResponseCode
		filled   uint64
	}{
		"three pages":           {shared(1, 8), []ats.PageRequest{want(0, true, false), want(5, false, false), want(7, true, true)}, []ats.ResponseCode{ats.ResponseSuccess}, 3},
		"the same page twice":   {shared(1, 8), []ats.PageRequest{want(3, false, false), want(3, true, true)}, []ats.ResponseCode{ats.ResponseSuccess}, 1},
		"no right":              {readOnly, []ats.PageRequest{want(1, true, true)}, []ats.ResponseCode{ats.ResponseInvalid}, 0},
		"no region":             {shared(1, 8), []ats.PageRequest{want(8, false, true)}, []ats.ResponseCode{ats.ResponseInvalid}, 0},
		"no such address":       {shared(1, 8), []ats.PageRequest{want(1<<50, false, true)}, []ats.ResponseCode{ats.ResponseInvalid}, 0},
		"another process":       {shared(1, 8), []ats.PageRequest{wrongPASID}, []ats.ResponseCode{ats.ResponseInvalid}, 0},
		"a bad page in between": {shared(1, 8), []ats.PageRequest{want(0, false, false), want(9, false, false), want(1, false, true)}, []ats.ResponseCode{ats.ResponseInvalid}, 1},
		"not whole":             {shared(1, 8), []ats.PageRequest{want(0, false, false)}, nil, 0},
		"a stop marker":         {shared(1, 8), []ats.PageRequest{{Last: true, PASID: PASID}}, nil, 0},
	} {
		w, q := asking(t, quick(8), c.regions, c.requests...)
		if c.codes == nil {
			q.faults = 0
		}
		stats := w.run()
		if !slices.Equal(w.iommu.code, c.codes) || w.iommu.strange > 0 {
			t.Errorf("%s: responses %v and %d to nobody, want %v", name, w.iommu.code, w.iommu.strange, c.codes)
		}
		wantCount(t, name+": pages filled", stats.FilledPages, c.filled)
		wantCount(t, name+": taken off the ring", stats.PageRequests, uint64(len(c.requests)))
		wantCount(t, name+": left in the ring", uint64(w.iommu.ring), 0)
	}
}

// More groups than contexts: the others wait in the ring, none is lost, and
// places are given back only as requests are taken.
func TestRingWaitsForContexts(t *testing.T) {
	s := steps(quick(128))
	s.Fault.Contexts, s.Fault.Workers = 4, 2
	w := newWorld(t, setting{spec: s, regions: shared(1, 100), configs: []AdapterConfig{scheme(SVA)}})
	for p := range uint32(100) {
		w.touch(true, p)
	}
	w.ticked = func(now clocked.Time) {
		if k := w.kernel; k.jobs.used > 4 || k.working > 2 {
			t.Fatalf("%v: %d contexts, %d workers in use", now, k.jobs.used, k.working)
		}
	}
	stats := w.run()
	wantCount(t, "answered", stats.Resumed, 100)
	if stats.Stalls == 0 || w.iommu.most < 90 || w.iommu.ring != 0 {
		t.Errorf("%d stalls; at most %d places of the ring in use, %d at the end", stats.Stalls, w.iommu.most, w.iommu.ring)
	}
}

// FLT-9: page requests of many queue pairs for one page: one CPU fault, a
// response each.
func TestPageRequestsCoalesce(t *testing.T) {
	w := newWorld(t, setting{spec: steps(quick(8)), regions: shared(1, 4), configs: []AdapterConfig{scheme(SVA)}})
	const n = 10
	for range n {
		w.touch(true, 1)
	}
	stats := w.run()
	wantCount(t, "CPU faults", stats.Minor, 1)
	wantCount(t, "filled", stats.FilledPages, 1)
	wantCount(t, "responses", uint64(len(w.iommu.code)), n)
}

// OVR-2: a group of more pages than memory has frames is served all the same,
// page by page.
func TestGroupLargerThanMemory(t *testing.T) {
	var requests []ats.PageRequest
	for p := range 8 {
		requests = append(requests, want(p, true, p == 7))
	}
	for _, grace := range []clocked.Time{0, 50 * us} {
		s := steps(quick(2))
		s.Pager.Grace = grace
		w, _ := asking(t, s, shared(1, 8), requests...)
		stats := w.run()
		wantCount(t, "filled", stats.FilledPages, 8)
		wantCount(t, "answered", stats.Resumed, 1)
	}
}

// OVR-1: a page that was asked for stays for the grace time behind its response.
func TestGraceOfPageRequests(t *testing.T) {
	s := steps(quick(2))
	s.Pager.Grace = 500 * us
	w := newWorld(t, setting{spec: s, regions: shared(1, 6), configs: []AdapterConfig{scheme(SVA)}})
	var answered []clocked.Time
	w.iommu.before = func(now clocked.Time, c *msg.IOMMUCommand) {
		if c.Op == msg.RespondPage {
			answered = append(answered, now)
		}
	}
	q := w.touch(true, pages(0, 6)...)
	w.run()
	if len(w.records) != 4 || q.faults != 6 {
		t.Fatalf("%d evictions, %d faults; want 4 and 6: a page was used before it left", len(w.records), q.faults)
	}
	for i, r := range w.records {
		// A command takes 300 ns and a hop from the kernel to its end.
		if gap := r.Notified - answered[i]; gap < 500*us-hop-300*ns {
			t.Errorf("page %d left %v after its response", i, gap)
		}
	}
}

// ATS-7: while every worker waits for a frame, invalidations and responses go
// on, and they all come to an end.
func TestNoCyclicWait(t *testing.T) {
	s := steps(quick(2))
	s.Fault.Workers = 2
	configs := []AdapterConfig{scheme(SVA), scheme(ODP)}
	w := newWorld(t, setting{spec: s, regions: shared(2, 32), configs: configs})
	for i := range uint32(8) {
		w.on(0, true, i, i+16, i, i+16)
		w.on(1, true, i+8, i+24, i, i+24)
	}
	stuck := false
	w.ticked = func(clocked.Time) {
		stuck = stuck || w.kernel.working == 2 && w.kernel.frameWaiters.Len() == 2
	}
	if stats := w.run(); !stuck || stats.Evictions == 0 {
		t.Errorf("workers were never all stuck; %d evictions", stats.Evictions)
	}
}

// A page that an untranslated request met absent is brought in once, however
// often the request comes again, and nothing is answered.
func TestAbsentUntranslated(t *testing.T) {
	s := steps(quick(8))
	s.Pager.Initial = "swapped"
	w := newWorld(t, setting{spec: s, regions: shared(1, 4), configs: []AdapterConfig{process()}})
	w.touch(true, 1)
	w.touch(false, 1)
	w.ticked = func(now clocked.Time) {
		if n := w.kernel.jobs.used; n > 2 {
			t.Fatalf("%v: %d jobs for a page that is asked for with two rights", now, n)
		}
	}
	stats := w.run()
	wantCount(t, "swapped in", stats.SwappedIn, 1)
	wantCount(t, "major", stats.Major, 1)
	wantCount(t, "responses", uint64(w.iommu.seen[msg.RespondPage]), 0)
	wantCount(t, "events", stats.Events, 0)
	if stats.Absent < 10 {
		t.Errorf("%d absent pages told, want one every 5 us of 60 us and more", stats.Absent)
	}
}

// A page that may be read and not stored to, for the IOTLB: the store asks,
// the page is made writable, and the IOTLB is flushed before the response.
func TestRightToStoreReachesTheIOTLB(t *testing.T) {
	for _, noDirty := range []bool{false, true} {
		for _, c := range []AdapterConfig{scheme(SVA), process()} {
			s := steps(quick(8))
			s.Pager.ReadFaultsWrite = false
			w := newWorld(t, setting{spec: s, regions: shared(1, 4), configs: []AdapterConfig{c}})
			w.iommu.noDirty = noDirty
			q := &qp{script: []access{{page: 1}, {page: 1, write: true}, {page: 1, write: true}}}
			w.nics[0].qps = []*qp{q}
			stats := w.run()
			if stats.UpgradeFlushes == 0 || stats.UpgradeFlushes > 2 {
				t.Errorf("%s: %d flushes", label(c), stats.UpgradeFlushes)
			}
			if c.Scheme == SVA && !noDirty {
				wantCount(t, "page requests: to read, and to store", stats.Events, 2)
			}
		}
	}
}

// The clock sees what adapters use: a page that a translation request walked
// to lately stays, and one that nobody asked for leaves. What an adapter's own
// cache answers sets no bit, unless clearing the bit flushes the cache.
func TestAccessedBitsOfWalks(t *testing.T) {
	for _, flush := range []bool{false, true} {
		s := quick(4)
		s.Pager.FlushOnClear = flush
		w := newWorld(t, setting{spec: s, regions: shared(1, 8), configs: []AdapterConfig{scheme(SVA)}})
		// Pages 0 to 3 fill memory, 4 turns the hand once over all: their bits are
		// clear, and 0 leaves. Page 1 is used before 5 needs a frame.
		q := w.touch(true, 0, 1, 2, 3, 4, 1, 5, 1)
		stats := w.run()
		faults := 7 // 1 looked idle and left, and was asked for once more
		if flush {
			faults = 6
			if stats.AccessFlushes == 0 {
				t.Error("no flush")
			}
		}
		if q.faults != faults {
			t.Errorf("flush on clear %v: %d faults, want %d", flush, q.faults, faults)
		}
	}
}
