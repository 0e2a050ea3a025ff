package measure

import (
	"testing"
)

// sound holds every identity with counters that are all different.
func sound() Summary {
	var s Summary
	s.TPT.MPT = MPTStats{CacheStats{Lookups: 100, Hits: 70, Misses: 30, Merged: 10, Replays: 12}, 20, L2Stats{Lookups: 20, Hits: 13, Misses: 7, Walks: 7}}
	s.TPT.MTT = MTTStats{CacheStats: CacheStats{Lookups: 200, Hits: 150, Misses: 50, Merged: 8, Replays: 9}, Walks: 42,
		L2: L2Stats{Lookups: 41, Hits: 15, Misses: 26, Walks: 26}}
	s.IOMMU.IOTLB = IOTLBStats{Lookups: 60, Hits: 35, Misses: 25}
	s.Accesses = AccessSummary{Issued: 90, Completed: 85, Failed: 5}
	s.Accesses.LatencyPS.Total = 1234
	s.Accesses.CausePS[CauseNetwork], s.Accesses.CausePS[CauseFault] = 1000, 234
	s.Faults = FaultSummary{Raised: 17, Resumed: 11, Failed: 4, QPGone: 2}
	s.Invalidations = InvalidationSummary{Issued: 13, Acknowledged: 12, TimedOut: 1, StaleDeferred: 3}
	return s
}

func TestCheckFindsEachBrokenIdentity(t *testing.T) {
	for _, c := range []struct {
		name, rule string
		broken     func(*Summary)
	}{
		{"nothing", "", func(*Summary) {}},
		{"deferred staleness is allowed", "", func(s *Summary) { s.Invalidations.StaleDeferred++ }},
		{"replays stand apart", "", func(s *Summary) { s.TPT.MTT.Replays++ }},
		{"mpt hit", RuleMPTLookups, func(s *Summary) { s.TPT.MPT.Hits++ }},
		{"mpt walk", RuleMPTMisses, func(s *Summary) { s.TPT.MPT.Walks-- }},
		{"mpt second level's hit", RuleMPTL2Lookups, func(s *Summary) { s.TPT.MPT.L2.Hits++ }},
		{"mpt second level's walk", RuleMPTL2Misses, func(s *Summary) { s.TPT.MPT.L2.Walks++ }},
		{"mtt second level's lookup", RuleMTTL2Lookups, func(s *Summary) { s.TPT.MTT.L2.Lookups-- }},
		{"mtt second level's walk", RuleMTTL2Misses, func(s *Summary) { s.TPT.MTT.L2.Walks-- }},
		{"mtt lookup", RuleMTTLookups, func(s *Summary) { s.TPT.MTT.Lookups++ }},
		{"mtt merge", RuleMTTMisses, func(s *Summary) { s.TPT.MTT.Merged++ }},
		{"iotlb miss", RuleIOTLBLookups, func(s *Summary) { s.IOMMU.IOTLB.Misses++ }},
		{"access lost", RuleAccesses, func(s *Summary) { s.Accesses.Completed-- }},
		{"fault lost", RuleFaults, func(s *Summary) { s.Faults.Resumed-- }},
		{"fault twice", RuleFaults, func(s *Summary) { s.Faults.QPGone++ }},
		{"invalidation lost", RuleInvalidations, func(s *Summary) { s.Invalidations.Acknowledged-- }},
		{"stale DMA", RuleStaleDMA, func(s *Summary) { s.Invalidations.StaleDMA++ }},
		{"time lost", RuleCauses, func(s *Summary) { s.Accesses.CausePS[CauseMSHR]-- }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sound()
			s.SimulatedPS = 77
			c.broken(&s)
			got := Check(&s)
			if c.rule == "" {
				if len(got) != 0 {
					t.Fatalf("violations in a sound summary: %+v", got)
				}
				return
			}
			if len(got) != 1 || got[0].Rule != c.rule || got[0].TimePS != 77 || got[0].What == "" {
				t.Fatalf("want one violation of %s, got %+v", c.rule, got)
			}
		})
	}
}

func TestInterruptExcusesWorkInFlightOnly(t *testing.T) {
	s := sound()
	s.Interrupted = true
	s.Accesses.Issued++
	s.Faults.Raised++
	s.Invalidations.Issued++
	if got := Check(&s); len(got) != 0 {
		t.Errorf("work in flight: %+v", got)
	}
	s.Accesses.Completed += 2
	if got := Check(&s); len(got) != 1 || got[0].Rule != RuleAccesses {
		t.Errorf("more finished than issued: %+v", got)
	}
}
