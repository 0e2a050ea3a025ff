package workload

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

// The aggressor has its share of the accesses, on the QPs of every tenant but 0,
// uniform in memory of its own; the pattern beside it is the same as without it,
// on tenant 0's QPs in turn.
func TestAggressor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := defaultSpec()
		spec.Seed = rapid.Uint64().Draw(t, "seed")
		spec.Pattern = rapid.SampledFrom(Patterns).Draw(t, "pattern")
		spec.WorkingSet = rapid.Uint64Range(1<<16, 1<<33).Draw(t, "working set")
		spec.Regions = rapid.Uint32Range(1, 9).Draw(t, "regions")
		spec.QPs = rapid.Uint32Range(2, 40).Draw(t, "qps")
		spec.Tenants = rapid.Uint32Range(2, 16).Draw(t, "tenants")
		spec.AggressorWorkingSet = rapid.Uint64Range(64, 1<<30).Draw(t, "aggressor's working set")
		spec.AggressorRegions = uint32(min(rapid.Uint64Range(1, 9).Draw(t, "aggressor's regions"), (spec.AggressorWorkingSet+4095)/4096))
		spec.ReadFraction, spec.Accesses = 0.5, 4000
		alone, err := NewGenerator(spec)
		if err != nil {
			t.Fatal(err)
		}
		spec.AggressorFraction = rapid.Float64Range(0.01, 0.99).Draw(t, "share")
		g, err := NewGenerator(spec)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := NewGenerator(spec)
		all, _ := spec.Memory()
		own, before := all[spec.Regions], all[spec.Regions-1]
		for _, r := range all[spec.Regions+1:] {
			if r.VA != own.VA+model.VA(own.Len) || !r.Aggressor {
				t.Fatalf("%+v behind %+v", r, own)
			}
			own.Len += r.Len
		}
		if own.VA < before.VA+model.VA(before.Len) || uint64(own.VA)%model.Shift2G.Bytes() != 0 || own.Len != spec.AggressorWorkingSet ||
			!own.Aggressor || before.Aggressor || len(all) != int(spec.Regions+spec.AggressorRegions) {
			t.Fatalf("aggressor's memory %+v behind %+v, %d regions", own, before, len(all))
		}
		theirs, next := 0, uint32(0)
		used := make([]int, spec.QPs)
		var a, b, c Access
		for g.Next(&a) {
			if again.Next(&b); a != b {
				t.Fatalf("%+v, then %+v", a, b)
			}
			used[a.QP]++
			if a.QP%spec.Tenants != 0 {
				theirs++
				if a.VA < own.VA || uint64(a.VA-own.VA)+uint64(a.Len) > own.Len || uint64(a.VA-own.VA)%64 != 0 {
					t.Fatalf("aggressor's %+v is no slot of %+v", a, own)
				}
				continue
			}
			alone.Next(&c)
			if a.VA != c.VA || a.Len != c.Len || a.Op != c.Op || a.QP != next {
				t.Fatalf("victim's %+v on QP %d, without the aggressor %+v", a, next, c)
			}
			if next += spec.Tenants; next >= spec.QPs {
				next = 0
			}
		}
		n, p := float64(spec.Accesses), spec.AggressorFraction
		if off := math.Abs(float64(theirs) - n*p); off > 6*math.Sqrt(n*p*(1-p)) {
			t.Fatalf("%d of %g accesses are the aggressor's, want %g of them", theirs, n, p)
		}
		least, most := int(spec.Accesses), 0
		for qp, n := range used {
			if uint32(qp)%spec.Tenants != 0 {
				least, most = min(least, n), max(most, n)
			}
		}
		if most > least+1 {
			t.Fatalf("QPs of the aggressor have %d to %d accesses", least, most)
		}
	})
}

// Every page of the aggressor's memory is met as often, whatever the victim's
// pattern.
func TestAggressorIsUniform(t *testing.T) {
	const pages, draws = 64, 64_000
	var begin model.VA
	g := mustGenerator(t, func(s *SyntheticSpec) {
		begin = BaseVA + s.aggressorShift()
		s.AggressorRegions = 8
		s.Pattern, s.QPs, s.Tenants, s.AggressorFraction, s.AggressorWorkingSet = Sequential, 2, 2, 1, pages<<12
		s.Accesses = draws
	})
	counts := make([]int, pages)
	var a Access
	for g.Next(&a) {
		counts[(a.VA-begin)>>12]++
	}
	chiSquare(t, "pages of the aggressor", counts, func(int) float64 { return draws / pages })
}
