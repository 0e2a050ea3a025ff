package plots

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"rnicmmu/clocked"
	"rnicmmu/measure"
)

// writeRun writes a run folder of n accesses, and invalidations if asked for.
func writeRun(t testing.TB, dir string, n int, paging bool) measure.Summary {
	t.Helper()
	r, err := measure.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	var s measure.Summary
	for i := range n {
		a := sampleAccess(random, uint64(i), paging)
		a.Issue = clocked.Time(i) * 200_000
		a.Complete = a.Issue + a.Ledger.Sum()
		a.Ledger.Last = a.Complete
		r.Access(clocked.Time(i)*200_000, &a)
		s.Accesses.Issued++
	}
	for i := 0; paging && i < n/20; i++ {
		v := sampleInvalidation(random, uint64(i))
		r.Invalidation(clocked.Time(n)*200_000+clocked.Time(i), &v)
		s.Invalidations.Issued++
	}
	r.Finish(&s)
	s.SimulatedPS = clocked.Time(n) * 200_000
	config := []byte("seed: 3\n")
	m := measure.NewManifest("0.1.0", config, 3, "5f3c99aa01234567", time.Now())
	if err := r.Write(&s, m, config); err != nil {
		t.Fatal(err)
	}
	return s
}

func sampleAccess(random *rand.Rand, id uint64, paging bool) measure.Access {
	a := measure.Access{ID: id, Len: 64, Placed: 64}
	about := func(ps float64) clocked.Time { return clocked.Time(ps * math.Exp(0.15*random.NormFloat64())) }
	for c, ps := range map[measure.Cause]float64{
		measure.CausePost: 180e3, measure.CauseNetwork: 900e3, measure.CauseResponder: 40e3, measure.CauseTranslate: 12e3,
		measure.CauseDMAQueue: 30e3, measure.CausePCIe: 210e3, measure.CauseHostMemory: 90e3, measure.CauseCompletion: 150e3,
		measure.CauseQPC: 300,
	} {
		a.Ledger.Causes[c] = about(ps)
	}
	if random.Float64() < 0.3 {
		a.Ledger.Causes[measure.CauseMTTMiss] = about(640e3)
	}
	if paging && random.Float64() < 0.01 {
		a.Ledger.Causes[measure.CauseFault] = about(9e7)
		a.Ledger.Causes[measure.CauseRNRWait] = about(2e8)
	}
	return a
}

func sampleInvalidation(random *rand.Rand, id uint64) measure.Invalidation {
	now := clocked.Time(1_000_000_000)
	v := measure.Invalidation{ID: id, Pages: 1, Notified: now}
	for _, leg := range []struct {
		at *clocked.Time
		ps float64
	}{{&v.Sent, 300e3}, {&v.Received, 900e3}, {&v.Marked, 60e3}, {&v.Drained, 1.4e6}, {&v.Acknowledged, 1.1e6}, {&v.Done, 500e3}} {
		now += clocked.Time(leg.ps * (0.5 + random.Float64()))
		*leg.at = now
	}
	return v
}
