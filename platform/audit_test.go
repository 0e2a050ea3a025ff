package platform

import (
	"testing"

	"rnicmmu/measure"
)

// Semantics §9, identities 2 and 5–7 and 9: a run's counters agree, and a
// counter that is off by one is named by its rule.
func TestACounterThatIsOffByOneIsNamed(t *testing.T) {
	set := []string{"scheme=odp", "transport=rc", "workload.accesses=300", "workload.read_fraction=0.4", "workload.access_bytes=6KiB"}
	for _, c := range []struct {
		rule   string
		tamper func(*System, *node)
	}{
		{RuleRNR, func(_ *System, n *node) { n.responder.Stats.RNRSent++ }},
		{RuleRNR, func(_ *System, n *node) { n.requester.Stats.RNRReceived++ }},
		{RulePackets, func(_ *System, n *node) { n.requester.Stats.PacketsSent++ }},
		{RulePackets, func(_ *System, n *node) { n.requester.Stats.PacketsResent++ }},
		{RuleSegments, func(_ *System, n *node) { n.responder.Stats.TCP.Returned++ }},
		{RuleLostWrite, func(_ *System, n *node) { n.responder.Stats.BackupLost++ }},
		{RuleWalks, func(_ *System, n *node) { n.tpt.Stats.Walked.Begun++ }},
		{RuleFrames, func(s *System, _ *node) { s.kernel.Stats.FrameErrors++ }},
		{RulePageTable, func(s *System, _ *node) { s.kernel.Stats.TableErrors++ }},
	} {
		o := must(t, nil, set...)
		if o.sum.Transport.PacketsResent == 0 || o.sum.Transport.RNRNaks.Paging == 0 {
			t.Fatal("nothing was sent again: the run shows little")
		}
		c.tamper(o.sys, o.sys.nodes[0])
		o.sys.record = measure.New()
		o.sys.audit()
		var after measure.Summary
		o.sys.record.Finish(&after)
		if len(after.Violations) != 1 || after.Violations[0].Rule != c.rule {
			t.Errorf("%s: violations %+v", c.rule, after.Violations)
		}
	}
}

// The audit sees a page that is not where the pager believes it to be.
func TestAuditSeesLoss(t *testing.T) {
	o := must(t, nil, "workload.accesses=2000", "workload.working_set=64KiB")
	lie := func(page uint32) (frame uint32, resident, swapped bool) {
		if page == 3 {
			return 0, false, false
		}
		return o.sys.kernel.Locate(page)
	}
	if lost := o.sys.memory.Audit(lie); lost != 1 {
		t.Errorf("%d pages lost, want 1: page 3 was written", lost)
	}
}
