package tpt

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
)

const (
	quiet = 10 * clocked.Microsecond // between requests that must not meet
	// applied is an idle unit's time from the doorbell of an invalidation to its
	// change: doorbell, fetch and back, firmware, next edge.
	applied = 3*cycle + readDelay + 200*clocked.Nanosecond + cycle
)

// identities are what the counters of one cache keep.
func identities(c CacheStats) bool {
	return c.Lookups == c.Hits+c.Misses && c.Misses == c.Walks+c.Merged && c.Evictions <= c.Fills
}

// Latencies of the three answers, from the request's sending: of the first level
// 1 + lookup_cycles, of the second l2_latency more, of the table l2_latency and a
// round trip a level more. The ledger has the second level's time as a miss's.
func TestSecondLevelLatency(t *testing.T) {
	for _, l2 := range []int{1, 16, 100} {
		sp := spec()
		sp.MTT.Entries, sp.MTT.L2Entries, sp.MTT.L2Latency, sp.MTT.Levels = 2, 8, l2, 2
		s := newSandwich(t, sp).mapAll()
		for i, page := range []uint64{0, 1, 2, 0, 0} { // 2 evicts 0 from the first level
			s.read(clocked.Time(i)*quiet, 0, page)
		}
		s.run()
		const hit, trip = 5 * cycle, readDelay + 2*cycle
		second := clocked.Time(l2) * cycle
		for i, want := range []clocked.Time{hit + trip + second + 2*trip, hit + second + 2*trip, hit + second + 2*trip, hit + second, hit} {
			ledger := s.requests[i].Ledger
			if got := s.answers[i].at - clocked.Time(i)*quiet; got != want || ledger.Sum() != want {
				t.Errorf("l2_latency %d, request %d: %v, ledger %v, want %v", l2, i, got, ledger.Sum(), want)
			}
			if i > 0 && ledger.Causes[measure.CauseMTTMiss] != want-hit {
				t.Errorf("l2_latency %d, request %d: %v of the miss in the ledger, want %v", l2, i, ledger.Causes[measure.CauseMTTMiss], want-hit)
			}
		}
		st := &s.unit.Stats
		first := CacheStats{Lookups: 5, Hits: 1, Misses: 4, Walks: 4, Fills: 4, Evictions: 2}
		if st.MTT != first || st.MTT2 != (CacheStats{Lookups: 4, Hits: 1, Misses: 3, Walks: 3, Fills: 3}) {
			t.Errorf("first %+v, second %+v", st.MTT, st.MTT2)
		}
	}
}

// The same of the protection table, with a region for each page.
func TestSecondLevelOfKeys(t *testing.T) {
	sp := spec()
	sp.MPT.Entries, sp.MPT.L2Entries, sp.MPT.L2Latency = 1, 4, 20
	s := newSandwich(t, sp).mapAll()
	other, err := s.unit.Keys().Register(key.Region{PD: 1, Base: s.base, Length: pages << 12, PageShift: model.Shift4K, Rights: key.RemoteRead})
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range []key.Key{s.key, other, s.key, s.key} {
		s.read(clocked.Time(i)*quiet, 0, 3).Key = uint32(k)
	}
	s.run()
	const hit, trip, second = 5 * cycle, readDelay + 2*cycle, 20 * cycle
	for i, want := range []clocked.Time{hit + second + 2*trip, hit + second + trip, hit + second, hit} {
		if got := s.answers[i].at - clocked.Time(i)*quiet; got != want {
			t.Errorf("request %d: %v, want %v", i, got, want)
		}
	}
	if st := &s.unit.Stats; st.MPT2 != (CacheStats{Lookups: 3, Hits: 1, Misses: 2, Walks: 2, Fills: 2}) || !identities(st.MPT) {
		t.Errorf("first %+v, second %+v", st.MPT, st.MPT2)
	}
}

// An absent entry is not cached in the second level either: a line that holds it
// beside a present one is read again for it.
func TestAbsentEntryMissesBothLevels(t *testing.T) {
	sp := spec()
	sp.MTT.LineEntries, sp.MTT.L2Entries, sp.MTT.L2Latency = 2, 32, 10
	s := newSandwich(t, sp).present(0, 0)
	s.read(0, 0, 0)
	s.read(quiet, 0, 1)
	s.run()
	if st := &s.unit.Stats; st.MTT2.Misses != 2 || s.reads != 3 || s.answers[1].msg.Outcome != msg.OutcomeAbsent {
		t.Errorf("second %+v, %d reads, %v", st.MTT2, s.reads, outcomeNames[s.answers[1].msg.Outcome])
	}
}

// Under ATC a translation without the right to store is none for a store.
func TestStoreMissesBothLevels(t *testing.T) {
	sp := spec()
	sp.PageRequests, sp.MTT.L2Entries, sp.MTT.L2Latency = 8, 32, 10
	s := newSandwichIn(t, sp, ATC).mapAll()
	s.read(0, 0, 5)
	w := s.read(quiet, 0, 5)
	w.Op, w.Write = model.OpWrite, true
	s.run()
	if st := &s.unit.Stats; st.MTT2.Misses != 2 || st.TranslationRequests != 2 || s.answers[1].msg.Outcome != msg.OutcomeOK ||
		w.Ledger.Causes[measure.CauseMTTMiss] != 10*cycle || w.Ledger.Causes[measure.CauseATS] != readDelay+2*cycle {
		t.Errorf("second %+v, %d requests, %v", st.MTT2, st.TranslationRequests, outcomeNames[s.answers[1].msg.Outcome])
	}
}

// Requests for one line meet at its look-up in the second level: one look-up,
// one walk, and none is asked twice.
func TestSecondLevelMerges(t *testing.T) {
	sp := spec()
	sp.MTT.L2Entries, sp.MTT.L2Latency = 16, 40
	s := newSandwich(t, sp).mapAll()
	s.read(0, 0, 9)
	for i := range clocked.Time(8) {
		s.read(quiet+i*cycle, 0, 3)
	}
	s.run()
	st := &s.unit.Stats
	if st.MTT.Misses != 9 || st.MTT.Merged != 7 || st.MTT2.Lookups != 2 || s.reads != 3 {
		t.Errorf("first %+v, second %+v, %d reads", st.MTT, st.MTT2, s.reads)
	}
}

// INV-1, INV-3: an invalidation drops what both levels hold, also while a
// look-up in the second is under way: the page is absent from then on.
func TestInvalidationDropsBothLevels(t *testing.T) {
	for _, behind := range []clocked.Time{-50 * cycle, quiet} {
		sp := spec()
		sp.MTT.Entries, sp.MTT.L2Entries, sp.MTT.L2Latency = 1, 16, 100
		s := newSandwich(t, sp).mapAll()
		s.read(0, 0, 3)
		s.read(quiet, 0, 4) // 3 is in the second level only
		s.command(3*quiet, &msg.Command{Op: msg.CmdInvalidate, Entry: 3, Count: 1, Posts: 1})
		s.read(3*quiet+applied+behind, 0, 3)
		s.run()
		if len(s.acks) != 1 || s.answers[2].msg.Outcome != msg.OutcomeAbsent || len(s.events) != 1 {
			t.Errorf("request %v behind: %v, %d events", behind, outcomeNames[s.answers[2].msg.Outcome], len(s.events))
		}
	}
}

// What the second level evicts leaves the first, and comes from the table again.
func TestSecondLevelIsInclusive(t *testing.T) {
	sp := spec()
	sp.MTT.Entries, sp.MTT.L2Entries, sp.MTT.L2Ways, sp.MTT.L2Latency = 4, 4, 1, 10 // sets of one way
	s := newSandwich(t, sp).mapAll()
	for i, page := range []uint64{0, 4, 0} { // one set of the second level
		s.read(clocked.Time(i)*quiet, 0, page)
	}
	s.run()
	if st := &s.unit.Stats; st.MTT.Hits != 0 || st.MTT.Evictions != 2 || st.MTT2.Evictions != 2 || st.MTT2.Walks != 3 {
		t.Errorf("first %+v, second %+v", st.MTT, st.MTT2)
	}
}

func TestLevelErrors(t *testing.T) {
	for want, change := range map[string]func(*Spec){
		"tpt.mtt.l2_entries: 8, but a second level holds":       func(s *Spec) { s.MTT.L2Entries = 8 },
		"tpt.mpt.l2_entries: 8, but a second level holds":       func(s *Spec) { s.MPT.L2Entries = 8 },
		"set tpt.mtt.index to entry":                            func(s *Spec) { s.MTT.L2Entries, s.MTT.Index = 16, "page" },
		"tpt.mtt: second level: 24 lines in 2 ways":             func(s *Spec) { s.MTT.L2Entries, s.MTT.L2Ways = 24, 2 },
		"tpt.partition: tenant, with tpt.tenants 1":             func(s *Spec) { s.Partition, s.Tenants = "tenant", 1 },
		"tpt.mpt: 16 ways do not divide among 3 tenants":        func(s *Spec) { s.Partition, s.Tenants = "tenant", 3 },
		"tpt.mtt: second level: 1 ways do not divide among 2 t": func(s *Spec) { s.Partition, s.Tenants, s.MTT.L2Entries, s.MTT.L2Ways = "tenant", 2, 16, 1 },
	} {
		sp := spec()
		change(&sp)
		if err := sp.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	sp := spec()
	sp.Tenants, sp.MTT.L2Ways = 3, 7 // neither is used
	if err := sp.Check(); err != nil {
		t.Error(err)
	}
}

// deepen draws second levels, a prefetcher and a partition for the random rig.
func deepen(t *rapid.T, sp *Spec) {
	pick := func(name string, of ...int) int { return rapid.SampledFrom(of).Draw(t, name) }
	sp.MPT.L2Entries, sp.MPT.L2Latency = pick("l2_keys", 0, 2), pick("l2_key_latency", 1, 30)
	if sp.MTT.Index == "entry" {
		sp.MTT.L2Entries, sp.MTT.L2Latency = pick("l2_entries", 0, 8, 16), pick("l2_latency", 1, 30)
		sp.MTT.L2Ways = pick("l2_ways", 0, 2)
	}
	sp.MTT.Prefetch = rapid.SampledFrom([]string{"none", "next_line", "stride", "qp_window"}).Draw(t, "prefetch")
	sp.MTT.PrefetchDegree = pick("prefetch_degree", 1, 3)
	if sp.MTT.Ways != 1 && rapid.Bool().Draw(t, "partition") {
		sp.Partition, sp.Tenants, sp.MPT.Entries = "tenant", 2, 2
	}
}

// checkLevels holds the caches against the tables and against each other: what
// is cached is what the table holds (INV-3), and the second level has all that
// the first has.
func (r *rig) checkLevels(now clocked.Time) {
	u := r.unit
	for slot, line := range u.mtt.All() {
		for j, w := range u.mtt.at(slot) {
			if e := line*uint64(u.mtt.line) + uint64(j); u.config.Mode == Table && w != u.table.Get(e) {
				r.fail(now, "entry %d is cached as %#x, the table has %#x", e, w, u.table.Get(e))
			}
		}
		if u.mtt.second == nil {
			continue
		}
		at, hit := u.mtt.second.Peek(line, line)
		if !hit || u.mtt.at(slot)[0] != u.mtt.at2(at)[0] {
			r.fail(now, "line %d is in the first level, in the second %v", line, hit)
		}
	}
	s := &u.Stats
	for _, c := range []CacheStats{s.MPT, s.MTT, s.MPT2, s.MTT2} {
		if !identities(c) {
			r.fail(now, "counters %+v", c)
		}
	}
	if u.mtt.second != nil && s.MTT2.Lookups != s.MTT.Walks || u.mpt.second != nil && s.MPT2.Lookups != s.MPT.Walks {
		r.fail(now, "second levels: %+v", *s)
	}
	if p := &s.Prefetch; p.Useful+p.Late+p.Dropped > p.Issued || u.prefetcher == prefetchNone && p.Issued > 0 || u.prefetching != 0 {
		r.fail(now, "prefetches %+v, %d under way", *p, u.prefetching)
	}
	var sum TenantStats
	for _, x := range s.Tenants {
		sum.MTTHits += x.MTTHits
		sum.MTTMisses += x.MTTMisses
		sum.MPTHits += x.MPTHits
		sum.MPTMisses += x.MPTMisses
	}
	if all := (TenantStats{s.MPT.Hits, s.MPT.Misses, s.MTT.Hits, s.MTT.Misses}); u.tenants > 0 && sum != all {
		r.fail(now, "tenants %+v, all %+v", sum, all)
	}
}

// Second levels, prefetches and partitions allocate nothing in steady state.
func TestNoAllocationsWithLevels(t *testing.T) {
	for _, p := range []string{"next_line", "stride", "qp_window"} {
		sp := spec()
		sp.MPT.L2Entries, sp.MPT.L2Latency, sp.MTT.L2Entries, sp.MTT.L2Latency = 32, 5, 32, 10
		sp.MTT.Prefetch, sp.MTT.PrefetchDegree, sp.Partition, sp.Tenants = p, 2, "tenant", 4
		l := newLoad(t, sp, Table, 32, pages)
		at := 100 * clocked.Microsecond
		_ = l.engine.RunUntil(at)
		before := l.done
		n := testing.AllocsPerRun(10, func() {
			at += 10 * clocked.Microsecond
			_ = l.engine.RunUntil(at)
		})
		if n != 0 || l.done-before < 100 || l.unit.Stats.MTT2.Lookups == 0 {
			t.Errorf("%s: %v allocations, %d requests", p, n, l.done-before)
		}
	}
}

// present makes pages first … last present.
func (s *sandwich) present(first, last uint64) *sandwich {
	for i := first; i <= last; i++ {
		s.unit.Table().Set(i, mtt.Entry{PA: frame(i), Read: true, Write: true, Present: true}.Encode())
	}
	return s
}
