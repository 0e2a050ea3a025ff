package platform

import (
	"fmt"

	"rnicmmu/measure"
)

// Rules that the platform asserts at the end of a run.
const (
	RuleLostWrite = "lost_write" // no store may be lost, whatever moves or pages out
	RuleFrames    = "frames"     // free + resident + held = all frames, when nothing is in transit
	RulePageTable = "page_table" // the kernel never asks for an impossible change
	RuleRest      = "rest"       // a system without work is idle
	RuleUnclaimed = "unclaimed"  // every message is for somebody
	RuleBlocked   = "blocked"    // the IOMMU refuses nothing but absent pages
	RulePages     = "pages"      // each page request is answered, each ITag comes back
	RuleSegments  = "segments"   // each segment dropped for its page comes again
	RuleWalks     = "walks"      // each walk ends: with a fill, an absent entry, an error, or dropped
	RulePackets   = "packets"    // packets sent = those needed + those resent
	RuleChildren  = "children"   // an implicit region has a child exactly for each GiB of which pages are in the table
	RuleResumes   = "resumes"    // each resume names a fault that was reported and not yet resumed
	RuleRNR       = "rnr"        // each RNR NAK sent is received: the network loses nothing
)

// audit asserts what must hold when everything has come to rest.
func (s *System) audit() {
	violate := func(rule, format string, args ...any) {
		s.record.Violate(measure.Violation{Rule: rule, TimePS: s.engine.Now(), What: fmt.Sprintf(format, args...)})
	}
	if n := s.memory.Stats(s.engine.Now()).LostWrites; n > 0 {
		violate(RuleLostWrite, "%d reads and page operations saw other content than the process must", n)
	}
	if n := s.memory.Audit(s.kernel.Locate); n > 0 {
		violate(RuleLostWrite, "%d pages do not hold their last write at the end", n)
	}
	free, resident, transit := s.kernel.Frames()
	held := s.kernel.Held()
	if all := s.spec.Host.Frames(); free+resident+held != all || transit != 0 {
		violate(RuleFrames, "%d free + %d resident + %d held, %d in transit, of %d frames", free, resident, held, transit, all)
	}
	if n := s.kernel.Stats.FrameErrors; n > 0 {
		violate(RuleFrames, "%d ticks at whose end frames were missing or counted twice", n)
	}
	if n := s.kernel.Stats.TableErrors; n > 0 {
		violate(RulePageTable, "%d impossible changes refused", n)
	}
	unclaimed := s.kernel.Stats.UnknownInbox
	for _, n := range s.nodes {
		unclaimed += n.link.Endpoint.Stats().Unclaimed + n.peerLink.Endpoint.Stats().Unclaimed
	}
	for _, l := range s.roots() {
		unclaimed += l.Root.Stats().Refused
		if l.Switch != nil {
			unclaimed += l.Switch.Unrouted()
		}
	}
	if unclaimed > 0 {
		violate(RuleUnclaimed, "%d doorbells and queue entries were for nobody", unclaimed)
	}
	s.auditIOMMU(violate)
	s.auditChildren(violate)
	for i := range s.nodes {
		if !s.CutOff(i) { // a dead one's walks never end, and what it refused does not come again
			s.auditNode(i, violate)
		}
	}
	for _, unit := range s.busyUnits() {
		violate(RuleRest, "%s is not idle", unit)
	}
}

// auditNode asserts what the counters of an adapter and its peer must say at rest.
func (s *System) auditNode(i int, violate func(rule, format string, args ...any)) {
	n := s.nodes[i]
	d, t := n.responder.DropsOutstanding(), &n.responder.Stats.TCP
	if drops := t.DropsMoving + t.DropsAbsent; drops != t.Returned+d {
		violate(RuleSegments, "adapter %d: %d segments dropped, %d came again, %d are outstanding", i, drops, t.Returned, d)
	}
	if lost := n.responder.Stats.BackupLost; lost > 0 {
		violate(RuleLostWrite, "adapter %d: %d acknowledged pieces of packets were never merged from the backup ring", i, lost)
	}
	if w := &n.tpt.Stats.Walked; w.Begun != w.Ended() {
		violate(RuleWalks, "adapter %d: %d walks begun, ended %+v", i, w.Begun, *w)
	}
	q := &n.requester.Stats
	if first, needed := q.PacketsSent+q.PacketsDammed-q.PacketsResent, q.PacketsNeeded; first < needed || first > needed && q.DeadQPs == 0 {
		violate(RulePackets, "adapter %d: %d packets sent for the first time, %d needed", i, first, needed)
	}
	if stray := n.tpt.Stats.StrayResumes; stray > 0 {
		violate(RuleResumes, "adapter %d: %d resumes named no fault that waited for one", i, stray)
	}
	if sent, got := n.responder.Stats.RNRSent, n.requester.Stats.RNRReceived; sent != got {
		violate(RuleRNR, "adapter %d: %d RNR NAKs sent, %d received", i, sent, got)
	}
}

// auditIOMMU asserts what the IOMMU's counters must say at rest.
func (s *System) auditIOMMU(violate func(rule, format string, args ...any)) {
	if s.iommu == nil {
		return
	}
	u := s.iommu.Stats()
	if n := u.BlockedReads + u.BlockedWrites + u.BrokenReads + u.BrokenWrites + u.Refused + u.UnknownMessages; n > 0 {
		violate(RuleBlocked, "%d requests and commands were refused: %+v", n, u)
	}
	var asked, stray uint64
	for _, n := range s.nodes {
		asked += n.tpt.Stats.PageRequests
		stray += n.tpt.Stats.StrayResponses
	}
	took := u.PageRequests + u.AutoReply + u.PagesDropped
	if s.anyCutOff() { // what they send comes to nobody
		asked = took
	}
	if asked != took || stray > 0 || s.kernel.Stats.PageRequests != u.PageRequests {
		violate(RulePages, "%d page requests sent, %d taken, %d of them dropped, %d seen by the kernel; %d stray responses",
			asked, took, u.PagesDropped, s.kernel.Stats.PageRequests, stray)
	}
	if u.UnexpectedCompletions > 0 {
		violate(RulePages, "%d invalidate completions for idle tags", u.UnexpectedCompletions)
	}
}

// CutOff tells whether nothing passes between an adapter and the host any more:
// the kernel has given it up, or its link is down.
func (s *System) CutOff(i int) bool {
	down := s.nodes[i].spec.PCIe.Inject.Down
	if s.spec.Host.Switch.Adapters > 0 && s.spec.Host.Switch.PCIe.Inject.Down > 0 {
		down = s.spec.Host.Switch.PCIe.Inject.Down
	}
	return s.kernel.Dead(i) || down > 0 && s.engine.Now() >= down
}

func (s *System) anyCutOff() bool {
	for i := range s.nodes {
		if s.CutOff(i) {
			return true
		}
	}
	return false
}

// busyUnits names the units that have something in flight. Those of an adapter
// that was cut off wait for ever for what its root port dropped.
func (s *System) busyUnits() (busy []string) {
	add := func(idle bool, name string) {
		if !idle {
			busy = append(busy, name)
		}
	}
	add(s.memory.Idle(), s.memory.Name())
	add(s.kernel.Idle(), s.kernel.Name())
	if s.iommu != nil {
		add(s.iommu.Idle(), s.iommu.Name())
	}
	for i, n := range s.nodes {
		if !s.CutOff(i) {
			add(n.tpt.Idle(), n.tpt.Name())
			add(n.responder.Idle(), n.responder.Name())
			add(n.link.Idle(), n.link.Endpoint.Name())
		}
		add(n.requester.Idle(), n.requester.Name())
		add(n.peerLink.Idle(), n.peerLink.Endpoint.Name())
		add(n.peerMemory.Idle(), n.peerMemory.Name())
	}
	return busy
}
