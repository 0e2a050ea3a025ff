package measure

import (
	"fmt"

	"rnicmmu/clocked"
)

// Rules that Check and the Recorder assert; violations carry these names.
const (
	RuleMPTLookups    = "mpt_lookups"    // lookups = hits + misses
	RuleMPTMisses     = "mpt_misses"     // misses = walks + merged
	RuleMPTL2Lookups  = "mpt_l2_lookups" // lookups = hits + misses
	RuleMPTL2Misses   = "mpt_l2_misses"  // misses = walks
	RuleMTTLookups    = "mtt_lookups"    // lookups = hits + misses
	RuleMTTMisses     = "mtt_misses"     // misses = walks + merged
	RuleMTTL2Lookups  = "mtt_l2_lookups" // lookups = hits + misses
	RuleMTTL2Misses   = "mtt_l2_misses"  // misses = walks
	RuleIOTLBLookups  = "iotlb_lookups"  // lookups = hits + misses
	RuleAccesses      = "accesses"       // issued = completed + failed
	RuleFaults        = "faults"         // raised = resumed + failed + qp_gone
	RuleInvalidations = "invalidations"  // issued = acknowledged + timed_out
	RuleStaleDMA      = "stale_dma"      // stale_dma = 0
	RuleSteps         = "steps"          // sum of an invalidation's steps = its whole time, in total
	RuleCauses        = "causes"         // sum of causes = latency, for an access and in total
	RulePlaced        = "bytes_placed"   // each byte of a completed WRITE, SEND or READ is executed once
	RuleOrder         = "record_order"   // rows are reported in order of time
)

type identity struct {
	rule        string
	text        string
	left, right uint64
	open        bool // what is in flight at an interrupt is still missing on the right
}

func (s *Summary) identities() []identity {
	mpt, mtt, tlb := s.TPT.MPT, s.TPT.MTT, s.IOMMU.IOTLB
	f, inv, acc := s.Faults, s.Invalidations, s.Accesses
	return []identity{
		{RuleMPTLookups, "tpt.mpt: lookups = hits + misses", mpt.Lookups, mpt.Hits + mpt.Misses, false},
		{RuleMPTMisses, "tpt.mpt: misses = walks + merged", mpt.Misses, mpt.Walks + mpt.Merged, false},
		{RuleMPTL2Lookups, "tpt.mpt.l2: lookups = hits + misses", mpt.L2.Lookups, mpt.L2.Hits + mpt.L2.Misses, false},
		{RuleMPTL2Misses, "tpt.mpt.l2: misses = walks", mpt.L2.Misses, mpt.L2.Walks, false},
		{RuleMTTLookups, "tpt.mtt: lookups = hits + misses", mtt.Lookups, mtt.Hits + mtt.Misses, false},
		{RuleMTTMisses, "tpt.mtt: misses = walks + merged", mtt.Misses, mtt.Walks + mtt.Merged, false},
		{RuleMTTL2Lookups, "tpt.mtt.l2: lookups = hits + misses", mtt.L2.Lookups, mtt.L2.Hits + mtt.L2.Misses, false},
		{RuleMTTL2Misses, "tpt.mtt.l2: misses = walks", mtt.L2.Misses, mtt.L2.Walks, false},
		{RuleIOTLBLookups, "iommu.iotlb: lookups = hits + misses", tlb.Lookups, tlb.Hits + tlb.Misses, false},
		{RuleAccesses, "accesses: issued = completed + failed", acc.Issued, acc.Completed + acc.Failed, true},
		{RuleFaults, "faults: raised = resumed + failed + qp_gone", f.Raised, f.Resumed + f.Failed + f.QPGone, true},
		{RuleInvalidations, "invalidations: issued = acknowledged + timed_out", inv.Issued, inv.Acknowledged + inv.TimedOut, true},
		{RuleStaleDMA, "invalidations: stale_dma = 0", inv.StaleDMA, 0, false},
	}
}

// Check asserts the identities that hold in every run and returns what is
// broken, in a fixed order. In an interrupted summary work may still be in
// flight, so there issued and raised may exceed what has finished.
func Check(s *Summary) []Violation {
	var broken []Violation
	add := func(rule, format string, args ...any) {
		broken = append(broken, Violation{Rule: rule, TimePS: s.SimulatedPS, What: fmt.Sprintf(format, args...)})
	}
	for _, i := range s.identities() {
		if i.left == i.right || i.open && s.Interrupted && i.left > i.right {
			continue
		}
		add(i.rule, "%s does not hold: %d against %d", i.text, i.left, i.right)
	}
	var causes clocked.Time
	for _, t := range s.Accesses.CausePS {
		causes += t
	}
	if total := s.Accesses.LatencyPS.Total; causes != total {
		add(RuleCauses, "accesses: sum of causes = sum of latencies does not hold: %d against %d ps", causes, total)
	}
	var steps clocked.Time
	for _, t := range s.Invalidations.StepPS {
		steps += t
	}
	if whole := s.Invalidations.WholePS.Total; steps != whole {
		add(RuleSteps, "invalidations: sum of steps = whole time does not hold: %d against %d ps", steps, whole)
	}
	return broken
}
