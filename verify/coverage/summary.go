package coverage

import (
	"rnicmmu/clocked"
	"rnicmmu/measure"
)

// Finish counts what only the summary of the run tells.
func (c *Collector) Finish(s *measure.Summary) {
	c.stalls(s)
	c.links(s)
	t := &s.Transport
	for i, n := range []uint64{t.RNRNaks.Moving, t.RNRNaks.Paging, t.RNRNaks.OverAdvertised, t.RNRNaks.NoReceive} {
		c.add(rnrReason, i, n)
	}
	for i, n := range []uint64{t.TCPDrops.Moving, t.TCPDrops.Paging, t.TCPDrops.OverAdvertised} {
		c.add(rnrReason, 4+i, n)
	}
	f := &s.Faults
	for i, n := range []uint64{f.Minor, f.Major, f.Refaults, f.Failed, f.QPGone} {
		c.add(faultService, i, n)
	}
	row := 0
	if len(c.adapters) > 0 && c.adapters[0].atc {
		row = 1
	}
	c.add(invalidationEnds, 2*row+1, s.Invalidations.TimedOut)
}

// add counts a bin by its place in the group.
func (c *Collector) add(g *Group, bin int, n uint64) { c.hits[g.first+bin] += n }

func (c *Collector) stalls(s *measure.Summary) {
	p, t, cause := &s.PCIe.StallsPS, &s.Transport, &s.Accesses.CausePS
	waited := [...]clocked.Time{stallPH: p.PH, stallPD: p.PD, stallNPH: p.NPH, stallNPD: p.NPD, stallCPLH: p.CPLH, stallCPLD: p.CPLD,
		stallTag: p.Tag, stallBuffer: p.CompletionBuffer, stallReplay: p.Replay, stallIIO: p.IIO, stallMSHR: cause[measure.CauseMSHR],
		stallRxBuffer: cause[measure.CauseRxBuffer], stallRxPause: t.RxPausePS, stallSendQueue: cause[measure.CauseSendQueue],
		stallQPC: cause[measure.CauseQPC], stallGrant: cause[measure.CauseGrant], stallRegistration: cause[measure.CauseRegistration]}
	for bin, time := range waited {
		if time > 0 {
			c.add(stall, bin, 1)
		}
	}
	c.add(stall, stallRxDrop, t.RxDrops)
	c.add(stall, stallBackup, t.BackedUp)
	c.add(stall, stallReceive, t.RNRNaks.NoReceive)
	c.add(stall, stallPin, s.Registration.Refused)
}

func (c *Collector) links(s *measure.Summary) {
	for _, l := range []*measure.LinkStats{&s.PCIe.Up, &s.PCIe.Down} {
		c.add(linkEvent, linkReplayed, l.Replayed)
		c.add(linkEvent, linkNak, l.Naks)
		c.add(linkEvent, linkReplayTimeout, l.ReplayTimeouts)
		c.add(linkEvent, linkRollover, l.Rollovers)
		c.add(linkEvent, linkRecovery, l.Recoveries)
	}
	c.add(linkEvent, linkTimeout, s.PCIe.Timeouts)
	c.add(linkEvent, linkUnexpected, s.PCIe.Unexpected)
	c.add(linkEvent, linkPoisoned, s.PCIe.Poisoned)
}
