package measure

import (
	"math/rand/v2"
	"strings"
	"testing"

	"rnicmmu/clocked"
)

func TestFiguresAreTheRowsWithoutWarmup(t *testing.T) {
	accesses, invalidations := sampleRun(1, 5000)
	r := New()
	r.Hazard(7)
	s := feed(r, accesses, invalidations)
	var want Summary
	for i := range accesses {
		a := &accesses[i]
		switch {
		case a.Warmup:
			want.Accesses.Warmup++
		case a.Status != StatusOK:
			want.Accesses.Failed++
			want.Accesses.FailedBy[a.Status]++
			want.Accesses.FailedLatencyPS.Total += a.Complete - a.Issue
		default:
			want.Accesses.Completed++
			want.Accesses.LatencyPS.Total += a.Complete - a.Issue
			for c, ps := range a.Ledger.Causes {
				want.Accesses.CausePS[c] += ps
			}
		}
	}
	for i := range invalidations {
		v := &invalidations[i]
		if v.Warmup {
			continue
		}
		want.Invalidations.Pages += uint64(v.Pages)
		if v.TimedOut {
			want.Invalidations.TimedOut++
		} else {
			want.Invalidations.Acknowledged++
			want.Invalidations.RoundTripPS.Total += v.Acknowledged - v.Notified
		}
	}
	acc, inv := s.Accesses, s.Invalidations
	if acc.Warmup != want.Accesses.Warmup || acc.Failed != want.Accesses.Failed ||
		acc.FailedBy != want.Accesses.FailedBy ||
		acc.Completed != want.Accesses.Completed || acc.CausePS != want.Accesses.CausePS ||
		acc.LatencyPS.Total != want.Accesses.LatencyPS.Total ||
		acc.FailedLatencyPS.Total != want.Accesses.FailedLatencyPS.Total {
		t.Errorf("accesses %+v, want %+v", acc, want.Accesses)
	}
	if inv.Pages != want.Invalidations.Pages || inv.TimedOut != want.Invalidations.TimedOut ||
		inv.Acknowledged != want.Invalidations.Acknowledged || inv.HazardPS.Max != 7 ||
		inv.RoundTripPS.Total != want.Invalidations.RoundTripPS.Total {
		t.Errorf("invalidations %+v, want %+v", inv, want.Invalidations)
	}
	if len(s.Violations) != 0 {
		t.Errorf("violations %+v", s.Violations)
	}
}

func TestHashIgnoresOrderWithinAnInstant(t *testing.T) {
	accesses, invalidations := sampleRun(2, 4000)
	want := feed(New(), accesses, invalidations).ResultHash
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 1))
		a := shuffleInstants(random, accesses, func(a *Access) clocked.Time { return a.Complete })
		v := shuffleInstants(random, invalidations, func(v *Invalidation) clocked.Time { return v.Done })
		if got := feed(New(), a, v).ResultHash; got != want {
			t.Errorf("seed %d: hash %s, want %s", seed, got, want)
		}
	}
}

// Whatever integer changes, in a row or in the summary, changes the hash; what
// the machine adds does not.
func TestHashCoversEveryInteger(t *testing.T) {
	accesses, invalidations := sampleRun(3, 40)
	run := func(change func(*Access, *Invalidation), summary func(*Summary)) string {
		a := append([]Access(nil), accesses...)
		v := append([]Invalidation(nil), invalidations...)
		change(&a[17], &v[5])
		r := New()
		for i := range a {
			r.Access(accesses[i].Complete, &a[i])
		}
		for i := range v {
			r.Invalidation(invalidations[i].Done, &v[i])
		}
		var s Summary
		summary(&s)
		r.Finish(&s)
		return s.ResultHash
	}
	noRow, noSummary := func(*Access, *Invalidation) {}, func(*Summary) {}
	base := run(noRow, noSummary)
	if len(base) != 16 || strings.Trim(base, "0123456789abcdef") != "" {
		t.Fatalf("hash %q is not 16 hexadecimal digits", base)
	}
	if run(noRow, func(s *Summary) { s.WallS = 3; s.PCIe.Up.Utilisation = 0.5 }) != base {
		t.Error("wall time or utilisation changes the hash")
	}
	seen := map[string]int{base: -1}
	for i, hash := range []string{
		run(func(a *Access, _ *Invalidation) { a.Warmup = !a.Warmup }, noSummary),
		run(func(a *Access, _ *Invalidation) { a.QP++ }, noSummary),
		run(func(a *Access, _ *Invalidation) { a.Key++ }, noSummary),
		run(func(a *Access, _ *Invalidation) { a.Len++ }, noSummary),
		run(func(a *Access, _ *Invalidation) { a.VA++ }, noSummary),
		run(func(a *Access, _ *Invalidation) { a.Op ^= 1 }, noSummary),
		run(func(a *Access, _ *Invalidation) { a.Status ^= 1 }, noSummary),
		run(func(a *Access, _ *Invalidation) { a.Counts.TLPs++ }, noSummary),
		run(func(a *Access, _ *Invalidation) { a.Counts.PCIeBytes++ }, noSummary),
		run(func(a *Access, _ *Invalidation) { a.Issue--; a.Ledger.Causes[CauseFault]++ }, noSummary),
		run(func(_ *Access, v *Invalidation) { v.Marked++ }, noSummary),
		run(func(_ *Access, v *Invalidation) { v.Trigger ^= 1 }, noSummary),
		run(func(_ *Access, v *Invalidation) { v.TimedOut = !v.TimedOut }, noSummary),
		run(noRow, func(s *Summary) { s.SimulatedPS++ }),
		run(noRow, func(s *Summary) { s.TPT.MTT.Hits++ }),
		run(func(a *Access, _ *Invalidation) { a.Status ^= 2 }, noSummary),
		run(noRow, func(s *Summary) { s.Transport.RNRNaks.NoReceive++ }),
		run(noRow, func(s *Summary) { s.Advertise.Peers = make([]AdvertiseStats, 1) }),
	} {
		if before, ok := seen[hash]; ok {
			t.Errorf("change %d gives the hash of change %d", i, before)
		}
		seen[hash] = i
	}
}

func TestAnAccessWhoseCausesDoNotSumIsNamed(t *testing.T) {
	accesses, _ := sampleRun(4, 300)
	accesses[7].Warmup = true // out of the totals: the row itself must be checked
	accesses[7].Ledger.Causes[CausePost]++
	s := feed(New(), accesses, nil)
	if len(s.Violations) != 1 || s.Violations[0].Rule != RuleCauses ||
		s.Violations[0].TimePS != accesses[7].Complete || !strings.HasPrefix(s.Violations[0].What, "access 7:") {
		t.Errorf("violations %+v", s.Violations)
	}
}

func TestRowsOutOfOrderAreAViolation(t *testing.T) {
	r := New()
	a := Access{Warmup: true}
	r.Access(20, &a)
	r.Access(10, &a)
	var s Summary
	r.Finish(&s)
	if len(s.Violations) != 1 || s.Violations[0].Rule != RuleOrder {
		t.Errorf("violations %+v", s.Violations)
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	accesses, invalidations := sampleRun(5, 2000)
	r := New()
	now := clocked.Time(0)
	pass := func() {
		for i := range accesses {
			now += clocked.Time(i % 2)
			r.Access(now, &accesses[i])
		}
		for i := range invalidations {
			r.Invalidation(now+clocked.Time(i), &invalidations[i])
		}
		now += clocked.Time(len(invalidations))
	}
	pass()
	if n := testing.AllocsPerRun(5, pass); n != 0 {
		t.Errorf("%v allocations in 2000 accesses", n)
	}
}

func benchmarkRecorder(b *testing.B, r *Recorder) {
	accesses, _ := sampleRun(6, 512)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		r.Access(clocked.Time(i/2), &accesses[i%len(accesses)])
	}
	var s Summary
	r.Finish(&s)
}

func BenchmarkRecorderWithoutFiles(b *testing.B) { benchmarkRecorder(b, New()) }

func BenchmarkRecorderWithFiles(b *testing.B) {
	r, err := Create(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	benchmarkRecorder(b, r)
	if err := r.Write(&Summary{}, Manifest{}, nil); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
