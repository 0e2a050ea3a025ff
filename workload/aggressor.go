package workload

import (
	"fmt"

	"rnicmmu/model"
)

// Memory is the layout of all memory that the accesses fall in: the pattern's
// regions, then the aggressor's.
func (s *SyntheticSpec) Memory() ([]Region, error) {
	regions, err := Layout(s.WorkingSet, s.Regions, s.Page)
	if err == nil && s.AggressorFraction > 0 {
		regions = append(regions, s.AggressorRegion())
	}
	return regions, err
}

// AggressorRegion is the aggressor's memory: one region, from the first multiple
// of 2 GiB behind the working set on, so that no page of any size is shared.
func (s *SyntheticSpec) AggressorRegion() Region {
	span := model.Shift2G.Bytes()
	behind := (s.WorkingSet + span - 1) / span * span
	return Region{VA: BaseVA + model.VA(behind), Len: s.AggressorWorkingSet}
}

func (s *SyntheticSpec) validateAggressor() error {
	f, bytes := s.AggressorFraction, s.AggressorWorkingSet
	switch {
	case !(f >= 0 && f <= 1):
		return fmt.Errorf("aggressor_fraction %g: must be 0 (none) to 1", f)
	case f == 0:
		return nil
	case s.Tenants < 2 || s.QPs < 2:
		return fmt.Errorf("aggressor_fraction %g, but all %d QPs are of tenant 0; need 2 or more tenants (tpt.tenants) and QPs", f, s.QPs)
	case bytes < uint64(s.AccessBytes):
		return fmt.Errorf("aggressor_working_set of %d bytes: holds no access of %d bytes", bytes, s.AccessBytes)
	case bytes > 1<<46 || uint64(s.AggressorRegion().VA)+bytes > 1<<47:
		return fmt.Errorf("aggressor_working_set of %d bytes: must end with the working_set of %d bytes before it under 128TiB", bytes, s.WorkingSet)
	}
	return nil
}

// aggressor is who makes the accesses that are not the pattern's. Its draws are
// its own, so that the pattern is the same beside it as without it.
type aggressor struct {
	share   uint64 // threshold of an access; 0: there is none
	tenants uint32
	victim  uint32 // next QP of tenant 0
	qp      uint32 // next QP of the others
	turns   rng
	draws   rng
	ops     rng
	slots   slots
	shift   model.VA // from where slots places them
}

func newAggressor(s *SyntheticSpec) aggressor {
	if s.AggressorFraction == 0 {
		return aggressor{}
	}
	r := s.AggressorRegion()
	return aggressor{
		share: threshold(s.AggressorFraction), tenants: s.Tenants, qp: 1,
		turns: stream(s.Seed, "aggressor turn"), draws: stream(s.Seed, "aggressor address"), ops: stream(s.Seed, "aggressor operation"),
		slots: newSlots(uint64(s.AccessBytes), []Region{{VA: BaseVA, Len: r.Len}}), shift: r.VA - BaseVA,
	}
}

// attacks draws who makes the next access.
func (g *aggressor) attacks() bool { return g.turns.chance() < g.share }

// aim is an access of the aggressor.
func (g *aggressor) aim(a *Access, qps uint32) {
	a.QP = g.qp
	if g.qp++; g.qp%g.tenants == 0 {
		g.qp++
	}
	if g.qp >= qps {
		g.qp = 1
	}
	a.VA = g.slots.va(g.draws.below(g.slots.count)) + g.shift
}

// yield puts an access of the pattern on the victim's QPs.
func (g *aggressor) yield(a *Access, qps uint32) {
	a.QP = g.victim
	if g.victim += g.tenants; g.victim >= qps {
		g.victim = 0
	}
}
