package workload

import (
	"fmt"

	"rnicmmu/model"
)

// Memory is the layout of all memory that the accesses fall in: the pattern's
// regions, then the aggressor's.
func (s *SyntheticSpec) Memory() ([]Region, error) {
	regions, err := Layout(s.WorkingSet, s.Regions, s.Page)
	if err != nil || s.AggressorFraction == 0 {
		return regions, err
	}
	theirs, err := s.aggressorLayout()
	for _, r := range theirs {
		regions = append(regions, Region{VA: r.VA + s.aggressorShift(), Len: r.Len, Aggressor: true})
	}
	return regions, err
}

// aggressorLayout is the aggressor's memory, as if it began at BaseVA.
func (s *SyntheticSpec) aggressorLayout() ([]Region, error) {
	regions, err := Layout(s.AggressorWorkingSet, s.AggressorRegions, s.Page)
	if err != nil {
		return nil, fmt.Errorf("aggressor_working_set and aggressor_regions: %w", err)
	}
	return regions, nil
}

// aggressorShift is how far it lies behind BaseVA: at the first multiple of 2 GiB
// behind the working set, so that no page of any size is shared.
func (s *SyntheticSpec) aggressorShift() model.VA {
	span := model.Shift2G.Bytes()
	return model.VA((s.WorkingSet + span - 1) / span * span)
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
	case bytes > 1<<46 || uint64(BaseVA+s.aggressorShift())+bytes > 1<<47:
		return fmt.Errorf("aggressor_working_set of %d bytes: must end with the working_set of %d bytes before it under 128TiB", bytes, s.WorkingSet)
	}
	regions, err := s.aggressorLayout()
	if err == nil && newSlots(uint64(s.AccessBytes), regions).count == 0 {
		err = fmt.Errorf("aggressor_working_set of %d bytes in %d aggressor_regions holds no access of %d bytes", bytes, s.AggressorRegions, s.AccessBytes)
	}
	return err
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
	regions, _ := s.aggressorLayout() // validated
	return aggressor{
		share: threshold(s.AggressorFraction), tenants: s.Tenants, qp: 1,
		turns: stream(s.Seed, "aggressor turn"), draws: stream(s.Seed, "aggressor address"), ops: stream(s.Seed, "aggressor operation"),
		slots: newSlots(uint64(s.AccessBytes), regions), shift: s.aggressorShift(),
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
