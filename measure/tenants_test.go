package measure

import (
	"slices"
	"strings"
	"testing"

	"rnicmmu/clocked"
)

// Each tenant has the completed accesses of its QPs, all others together are the
// aggressor, and everyone is counted once.
func TestTenantsAreTheRowsOfTheirQPs(t *testing.T) {
	accesses, invalidations := sampleRun(3, 5000)
	for _, n := range []uint32{2, 3, 16} {
		r := New()
		r.Share(int(n))
		s := feed(r, accesses, invalidations)
		latencies := make([][]clocked.Time, n)
		want := make([]TenantStats, n)
		for i := range accesses {
			a := &accesses[i]
			if a.Warmup || a.Status != StatusOK {
				continue
			}
			w := &want[a.QP%n]
			w.Completed++
			w.LatencyPS.Total += a.Complete - a.Issue
			w.MTT.Hits += uint64(a.Counts.MTTHits)
			w.MTT.Misses += uint64(a.Counts.MTTMisses)
			latencies[a.QP%n] = append(latencies[a.QP%n], a.Complete-a.Issue)
		}
		if len(s.Tenants) != int(n) || s.Victim != s.Tenants[0] {
			t.Fatalf("%d tenants: %d listed, victim %+v", n, len(s.Tenants), s.Victim)
		}
		var others TenantStats
		for i := range want {
			got := &s.Tenants[i]
			if got.Completed != want[i].Completed || got.LatencyPS.Total != want[i].LatencyPS.Total ||
				got.LatencyPS.Max != slices.Max(append(latencies[i], 0)) || got.MTT.Hits != want[i].MTT.Hits ||
				got.MTT.Misses != want[i].MTT.Misses || got.MTT.Lookups != got.MTT.Hits+got.MTT.Misses {
				t.Errorf("tenant %d of %d: %+v, want %+v", i, n, *got, want[i])
			}
			if i > 0 {
				others.Completed += want[i].Completed
				others.LatencyPS.Total += want[i].LatencyPS.Total
				others.MTT.Misses += want[i].MTT.Misses
			}
		}
		if a := &s.Aggressor; a.Completed != others.Completed || a.LatencyPS.Total != others.LatencyPS.Total || a.MTT.Misses != others.MTT.Misses {
			t.Errorf("%d tenants: aggressor %+v, want %+v", n, *a, others)
		}
		if s.Victim.Completed+s.Aggressor.Completed != s.Accesses.Completed {
			t.Errorf("%d tenants: %d and %d of %d completed", n, s.Victim.Completed, s.Aggressor.Completed, s.Accesses.Completed)
		}
	}
}

// One tenant is none: the summary does not tell it apart, and has no list.
func TestOneTenant(t *testing.T) {
	accesses, invalidations := sampleRun(3, 500)
	plain := feed(New(), accesses, invalidations)
	r := New()
	r.Share(1)
	s := feed(r, accesses, invalidations)
	text, err := s.JSON()
	if err != nil || strings.Contains(string(text), `"tenants"`) || s.Victim != (TenantStats{}) || s.Aggressor != (TenantStats{}) {
		t.Errorf("%v: %s", err, text)
	}
	if s.ResultHash != plain.ResultHash {
		t.Errorf("hash %s, want %s", s.ResultHash, plain.ResultHash)
	}
}
