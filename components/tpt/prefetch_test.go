package tpt

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/cache"
	"rnicmmu/model/key"
)

// reading is a unit with a prefetcher after reads of the pages, far apart.
func reading(t *testing.T, prefetch string, degree int, touched ...uint64) *sandwich {
	t.Helper()
	sp := spec()
	sp.MTT.Entries, sp.MTT.Prefetch, sp.MTT.PrefetchDegree = 32, prefetch, degree
	s := newSandwich(t, sp).mapAll()
	for i, p := range touched {
		s.read(clocked.Time(i)*quiet, 0, p)
	}
	return s
}

func wantCounts(t *testing.T, s *sandwich, what string, hits, misses uint64, p PrefetchStats) {
	t.Helper()
	s.run()
	st := &s.unit.Stats
	if st.MTT.Hits != hits || st.MTT.Misses != misses || st.Prefetch != p || !identities(st.MTT) {
		t.Errorf("%s: %+v, %+v; want %d hits, %d misses, %+v", what, st.MTT, st.Prefetch, hits, misses, p)
	}
	if !s.unit.Idle() || len(s.events) > 0 {
		t.Errorf("%s: idle %v, %d events", what, s.unit.Idle(), len(s.events))
	}
	for i, a := range s.answers {
		if want := frame(uint64(s.requests[i].Page)) + 64; a.msg.PA != want {
			t.Errorf("%s: answer %d is %#x, want %#x", what, i, a.msg.PA, want)
		}
	}
}

// What each prefetcher brings: the misses that are left, the lines it issues and
// those that were used.
func TestPrefetchers(t *testing.T) {
	for _, tc := range []struct {
		name, prefetch string
		degree         int
		pages          []uint64
		hits, misses   uint64
		want           PrefetchStats
	}{
		{"a line ahead halves the misses", "next_line", 1, []uint64{0, 1, 2, 3, 4, 5}, 3, 3, PrefetchStats{Issued: 3, Useful: 3}},
		{"three leave a quarter", "next_line", 3, []uint64{0, 1, 2, 3, 4, 5, 6, 7}, 6, 2, PrefetchStats{Issued: 6, Useful: 6}},
		{"what is cached is not read again", "next_line", 2, []uint64{2, 0}, 0, 2, PrefetchStats{Issued: 3}},
		{"a stride seen twice is followed", "stride", 2, []uint64{0, 3, 6, 9, 12, 15}, 2, 4, PrefetchStats{Issued: 4, Useful: 2}},
		{"look-ups of one page are no step", "stride", 1, []uint64{0, 3, 3, 6, 9, 12}, 2, 4, PrefetchStats{Issued: 2, Useful: 1}},
		{"useful once", "next_line", 1, []uint64{0, 1, 1}, 2, 1, PrefetchStats{Issued: 1, Useful: 1}},
		{"also downwards", "stride", 1, []uint64{40, 35, 30, 25}, 1, 3, PrefetchStats{Issued: 1, Useful: 1}},
		{"no stride, nothing", "stride", 2, []uint64{0, 3, 7, 20, 4}, 0, 5, PrefetchStats{}},
		{"the first page ends the access", "qp_window", 4, []uint64{0, 1, 2}, 0, 3, PrefetchStats{}},
		{"none", "none", 4, []uint64{0, 1, 2}, 0, 3, PrefetchStats{}},
	} {
		wantCounts(t, reading(t, tc.prefetch, tc.degree, tc.pages...), tc.name, tc.hits, tc.misses, tc.want)
	}
}

// A QP's window is the rest of its access: six pages from page 4 on are read
// ahead to page 9 and not beyond, also when later requests do not say it again.
func TestPrefetchWindow(t *testing.T) {
	for _, tc := range []struct {
		degree       int
		hits, misses uint64
		want         PrefetchStats
	}{{8, 5, 1, PrefetchStats{Issued: 5, Useful: 5}}, {2, 4, 2, PrefetchStats{Issued: 4, Useful: 4}}} {
		s := reading(t, "qp_window", tc.degree, 4, 5, 6, 7, 8, 9)
		for i, r := range s.requests {
			if r.CheckKey = i == 0; r.CheckKey {
				r.CheckLen = 6<<12 - 64
			} else {
				r.CheckVA, r.CheckLen = 0, 0
			}
		}
		wantCounts(t, s, "window", tc.hits, tc.misses, tc.want)
	}
}

// FLT-7, A13: nothing beyond the region is read or cached, though the table goes
// on there; an absent neighbour raises no fault.
func TestPrefetchStaysInTheRegion(t *testing.T) {
	s := reading(t, "next_line", 8)
	small, err := s.unit.Keys().Register(key.Region{PD: 1, Base: s.base, Length: 3 << 12, PageShift: model.Shift4K, Rights: key.RemoteRead})
	if err != nil {
		t.Fatal(err)
	}
	s.read(0, 0, 2).Key = uint32(small)
	s.read(quiet, 0, 1).Key = uint32(small)
	s.read(2*quiet, 0, pages-1)
	wantCounts(t, s, "small region", 0, 3, PrefetchStats{})
	s = reading(t, "next_line", 3)
	for i := range uint64(pages) {
		s.unit.Table().Set(i, 0)
	}
	s.present(0, 0).present(2, 2)
	s.read(0, 0, 0)
	s.read(quiet, 0, 2)
	wantCounts(t, s, "absent neighbours", 1, 1, PrefetchStats{Issued: 3, Useful: 1})
	if n := s.unit.Stats.MTT.Fills; n != 2 {
		t.Errorf("%d lines cached, want the two that are present", n)
	}
}

// A prefetch takes no register that a request needs: with one register there is
// none, and one that is under way is joined, late.
func TestPrefetchUsesFreeRegisters(t *testing.T) {
	s := reading(t, "next_line", 4)
	s.unit.walks = s.unit.walks[:1]
	s.read(0, 0, 0)
	wantCounts(t, s, "one register", 0, 1, PrefetchStats{})
	s = reading(t, "next_line", 4)
	s.unit.walks = s.unit.walks[:3]
	s.read(0, 0, 9)
	s.read(quiet, 0, 20)
	s.read(quiet+cycle, 0, 21)
	wantCounts(t, s, "three registers", 0, 3, PrefetchStats{Issued: 4, Late: 1})
	if st := &s.unit.Stats; st.MTT.Merged != 1 || s.answers[2].at-s.answers[1].at > 2*cycle {
		t.Errorf("%+v, answers %v and %v", st.MTT, s.answers[1].at, s.answers[2].at)
	}
}

// A register that requests wait for is theirs: of three that meet one key's miss
// the first walks and reads ahead, the others follow without.
func TestPrefetchLeavesRegistersToThoseWhoWait(t *testing.T) {
	s := reading(t, "next_line", 1)
	s.unit.walks = s.unit.walks[:2]
	for _, page := range []uint64{0, 20, 40} {
		s.read(0, 0, page)
	}
	wantCounts(t, s, "three at once", 0, 3, PrefetchStats{Issued: 1})
	if a := s.answers; a[1].at > a[0].at+readDelay+10*cycle || a[2].at > a[1].at+2*cycle {
		t.Errorf("answers at %v, %v, %v", a[0].at, a[1].at, a[2].at)
	}
}

// A line under way is not read twice, and a request that comes again after its
// fault reads nothing ahead.
func TestPrefetchAsksOnce(t *testing.T) {
	s := reading(t, "next_line", 3)
	s.read(0, 0, 60).CheckLen = 64
	s.read(quiet, 0, 3)
	s.read(quiet+cycle, 0, 2)
	wantCounts(t, s, "under way", 0, 3, PrefetchStats{Issued: 6})
	s = reading(t, "next_line", 3, 3)
	s.requests[0].Replay = true
	wantCounts(t, s, "replay", 0, 0, PrefetchStats{})
}

// Useful is what a prefetch brought, not what a request put in its place.
func TestPrefetchedLineReplaced(t *testing.T) {
	s := reading(t, "qp_window", 1, 0, 10, 20, 20)
	s.requests[0].CheckVA, s.requests[0].CheckLen = s.base, 2<<12
	s.unit.mtt.Cache, _ = cache.New(cache.Geometry{Entries: 2, Line: 1}) // 0 and 1; 10 evicts 0, 20 evicts 1
	wantCounts(t, s, "replaced", 1, 3, PrefetchStats{Issued: 1})
}

// PRE-2: an invalidation drops the prefetch of its line, and the page is absent
// for who asks then. A request that had joined it sees the new state too.
func TestInvalidationDropsPrefetch(t *testing.T) {
	for _, joined := range []bool{false, true} {
		s := reading(t, "next_line", 1)
		s.read(0, 0, 9)
		s.command(quiet, &msg.Command{Op: msg.CmdInvalidate, Entry: 21, Count: 1, Posts: 1})
		s.read(quiet+applied-100*cycle, 0, 20)
		if joined {
			s.read(quiet+applied-50*cycle, 0, 21)
		}
		s.read(2*quiet, 1, 21)
		s.run()
		want := PrefetchStats{Issued: 3, Dropped: 1} // pages 10, 21 and, last, 22
		if joined {
			want = PrefetchStats{Issued: 3, Late: 1}
		}
		st := &s.unit.Stats
		if st.Prefetch != want || len(s.acks) != 1 {
			t.Errorf("joined %v: %+v, want %+v", joined, st.Prefetch, want)
		}
		for _, a := range s.answers[2:] {
			if a.msg.Outcome != msg.OutcomeAbsent {
				t.Errorf("joined %v: %v, want absent", joined, a.msg.Outcome)
			}
		}
	}
}

// A prefetch that the second level answers fills the first.
func TestPrefetchFromSecondLevel(t *testing.T) {
	sp := spec()
	sp.MTT.Entries, sp.MTT.L2Entries, sp.MTT.L2Latency = 2, 32, 10
	sp.MTT.Prefetch, sp.MTT.PrefetchDegree = "next_line", 1
	s := newSandwich(t, sp).mapAll()
	for i, page := range []uint64{0, 10, 0, 1} {
		s.read(clocked.Time(i)*quiet, 0, page)
	}
	wantCounts(t, s, "second level", 1, 3, PrefetchStats{Issued: 3, Useful: 1})
	if st := &s.unit.Stats; st.MTT2.Lookups != 3 || st.MTT2.Hits != 1 || st.MTT2.Replays != 0 || s.reads != 1+4 {
		t.Errorf("second %+v, %d reads", st.MTT2, s.reads)
	}
}

// Under ATC a prefetch is a translation request like any other; where it fails,
// that is counted and nobody is told.
func TestPrefetchOfTranslations(t *testing.T) {
	sp := spec()
	sp.PageRequests, sp.MTT.Prefetch, sp.MTT.PrefetchDegree = 8, "next_line", 2
	s := newSandwichIn(t, sp, ATC).mapAll()
	s.space[2] = pte{status: msg.StatusUnsupported}
	s.read(0, 0, 0)
	s.read(quiet, 0, 1)
	wantCounts(t, s, "translations", 1, 1, PrefetchStats{Issued: 2, Useful: 1, Dropped: 1})
	if st := &s.unit.Stats; st.TranslationRequests != 3 || st.TranslationErrors != 1 {
		t.Errorf("%d requests, %d errors", st.TranslationRequests, st.TranslationErrors)
	}
}

// Where the set comes from the page number, a prefetch goes where the request
// will look.
func TestPrefetchFindsItsSet(t *testing.T) {
	sp := spec()
	sp.MTT.Ways, sp.MTT.Index, sp.MTT.Prefetch, sp.MTT.PrefetchDegree = 1, "page", "next_line", 1
	s := newSandwichAt(t, sp, baseVA+5<<12, Table).mapAll()
	s.read(0, 0, 0)
	s.read(quiet, 0, 1)
	wantCounts(t, s, "set", 1, 1, PrefetchStats{Issued: 1, Useful: 1})
}

// While a prefetch is under way the unit is not at rest, and says why.
func TestPrefetchIsWork(t *testing.T) {
	sp := spec()
	sp.MTT.Entries, sp.MTT.L2Entries, sp.MTT.L2Latency = 2, 32, 10
	sp.MTT.Prefetch, sp.MTT.PrefetchDegree = "qp_window", 1
	s := newSandwich(t, sp).mapAll()
	for i, page := range []uint64{0, 10, 20} {
		s.read(clocked.Time(i)*quiet, 0, page)
	}
	s.read(3*quiet, 0, 0).CheckLen = 1 << 12 // page 0 from the second level, page 1 from the table
	for _, x := range s.script {
		s.engine.Wake(1, x.at)
	}
	_ = s.engine.RunUntil(3*quiet + 100*cycle)
	if u := s.unit; len(s.answers) != 4 || u.inUse != 0 || u.prefetching != 1 || u.Idle() || len(u.Waits()) != 1 {
		t.Errorf("%d answers, %d under way, idle %v, waits %v", len(s.answers), u.prefetching, u.Idle(), u.Waits())
	}
}
