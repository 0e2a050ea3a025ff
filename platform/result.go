package platform

import (
	"fmt"
	"reflect"

	"rnicmmu/clocked"
	"rnicmmu/components/pcie"
	"rnicmmu/components/tpt"
	"rnicmmu/measure"
)

// summary is the counters from the end of the warm-up on.
func (s *System) summary(interrupted bool) *measure.Summary {
	if !s.ended {
		s.finished = s.engine.Now()
	}
	sum := s.counters()
	subtract(reflect.ValueOf(&sum).Elem(), reflect.ValueOf(&s.base).Elem())
	sum.Interrupted = interrupted
	sum.Warning = s.warning()
	sum.SimulatedPS = s.finished - max(0, s.warmAt)
	if interrupted {
		sum.Accesses.Issued = s.driver.nextID - s.driver.warmIDs - uint64(s.driver.inFlight)
	}
	sum.CPU.LatencyPS = s.cpu.Quantiles()
	sum.IOMMU.WindowPS = s.windows.Quantiles()
	for i, n := range s.nodes {
		if s.kernel.Dead(i) {
			sum.Invalidations.DeadAdapters++
		}
		if s.CutOff(i) {
			sum.Faults.QPGone += n.tpt.FaultsOpen()
		}
	}
	s.advertised(&sum)
	s.addChildren(&sum.Registration)
	s.utilisation(&sum)
	return &sum
}

// subtract takes the counters of base from those of sum, field by field.
func subtract(sum, base reflect.Value) {
	for i := range sum.NumField() {
		switch a, b := sum.Field(i), base.Field(i); a.Kind() {
		case reflect.Struct:
			subtract(a, b)
		case reflect.Pointer:
			if !a.IsNil() && !b.IsNil() {
				subtract(a.Elem(), b.Elem())
			}
		case reflect.Uint64:
			a.SetUint(a.Uint() - b.Uint())
		case reflect.Int64:
			a.SetInt(a.Int() - b.Int())
		}
	}
}

// counters are the units' counters since time 0, those of all adapters added.
func (s *System) counters() measure.Summary {
	var sum measure.Summary
	sum.Accesses.Issued = s.driver.nextID
	for _, n := range s.nodes {
		addTables(&sum, &n.tpt.Stats)
		up := n.link.Endpoint.Stats()
		addLink(&sum.PCIe.Up, &sum.PCIe.StallsPS, up)
		addLink(&sum.PCIe.Down, &sum.PCIe.StallsPS, n.link.Down())
		sum.PCIe.Timeouts += up.TimedOut
		sum.PCIe.Unexpected += up.Unexpected
		sum.PCIe.Poisoned += n.peerMemory.Stats(s.engine.Now()).Poisoned
		s.addTransport(&sum.Transport, n)
	}
	sum.PCIe.Upstream = s.upstream()
	m := s.memory.Stats(s.engine.Now())
	sum.PCIe.StallsPS.IIO = m.WriteBufferWait
	sum.Invalidations.StaleDMA, sum.Invalidations.StaleDeferred = m.StaleDMA, m.StaleDeferred
	sum.PCIe.Poisoned += m.Poisoned
	s.addIOMMU(&sum.IOMMU)
	k := &s.kernel.Stats
	sum.Invalidations.Issued = k.InvalidationsIssued
	f := &sum.Faults
	f.Minor, f.Major, f.FilledPages, f.Evictions = k.Minor, k.Major, k.FilledPages, k.Evictions
	f.Refaults = k.Refaults
	f.SwappedInPages, f.SwappedOutPages, f.ExtraSwapOuts = k.SwappedIn, k.SwappedOut, k.ExtraSwapOuts
	s.addRegistration(&sum.Registration)
	sum.CPU.Accesses, sum.CPU.Faults, sum.CPU.StallPS = k.CPUAccesses, k.CPUFaults, k.CPUStall
	return sum
}

func addTables(sum *measure.Summary, t *tpt.Stats) {
	add := func(c *measure.CacheStats, x *tpt.CacheStats) {
		c.Lookups += x.Lookups
		c.Hits += x.Hits
		c.Misses += x.Misses
		c.Merged += x.Merged
		c.Replays += x.Replays
	}
	add2 := func(c *measure.L2Stats, x *tpt.CacheStats) {
		c.Lookups += x.Lookups
		c.Hits += x.Hits
		c.Misses += x.Misses
		c.Walks += x.Walks
	}
	add(&sum.TPT.MPT.CacheStats, &t.MPT)
	add(&sum.TPT.MTT.CacheStats, &t.MTT)
	sum.TPT.MPT.Walks += t.MPT.Walks
	sum.TPT.MTT.Walks += t.MTT.Walks
	add2(&sum.TPT.MPT.L2, &t.MPT2)
	add2(&sum.TPT.MTT.L2, &t.MTT2)
	ahead := &sum.TPT.MTT.Prefetch
	ahead.Issued += t.Prefetch.Issued
	ahead.Useful += t.Prefetch.Useful
	ahead.Late += t.Prefetch.Late
	ahead.Dropped += t.Prefetch.Dropped
	sum.TPT.MTT.Fills += t.MTT.Fills
	sum.TPT.MTT.Evictions += t.MTT.Evictions
	sum.TPT.TableReads += t.TableReads
	sum.TPT.TableErrors += t.TableErrors
	sum.Faults.Raised += t.FaultsRaised
	sum.Faults.Resumed += t.FaultsResumed
	sum.Faults.Failed += t.FaultsFailed
}

func (s *System) addRegistration(r *measure.RegistrationSummary) {
	k := &s.kernel.Stats
	r.Registered, r.Deregistered, r.Refused = k.Registrations, k.Deregistrations, k.RegistrationsRefused
	r.FastRegistered, r.Invalidated = k.FastRegistrations, k.LocalInvalidations
	r.RemoteInvalidated = k.RemoteInvalidations
	r.PinnedPages, r.Remaps = k.PinnedPages, k.Remaps
	r.ChildrenMade, r.ChildrenDestroyed = k.ChildrenMade, k.ChildrenDestroyed
	r.TimePS = k.RegisterTime + k.DeregisterTime
	if g := s.driver.registrar; g != nil {
		r.CacheHits = g.hits
	}
}

func (s *System) addIOMMU(sum *measure.IOMMUSummary) {
	if s.iommu == nil {
		return
	}
	u := s.iommu.Stats()
	sum.IOTLB = measure.IOTLBStats{Lookups: u.Lookups, Hits: u.Hits, Misses: u.Misses}
	sum.Walks, sum.WalkReads, sum.Absent = u.Walks, u.WalkReads, u.AbsentReads+u.AbsentWrites
	k := &s.kernel.Stats
	sum.Flushes, sum.Deferred, sum.AccessFlushes = k.IOTLBFlushes, k.LazyFlushes, k.AccessFlushes
}

func addLink(l *measure.LinkStats, t *measure.PCIeStalls, x pcie.Stats) {
	for _, n := range x.TLPs {
		l.TLPs += n
	}
	l.Bytes += x.WireBytes
	l.PayloadBytes += x.PayloadBytes
	l.Replayed += x.Replayed
	l.Naks += x.Naks
	l.Recoveries += x.Recoveries
	l.ReplayTimeouts += x.ReplayTimeouts
	l.Rollovers += x.Rollovers
	for pool, total := range []*clocked.Time{&t.PH, &t.PD, &t.NPH, &t.NPD, &t.CPLH, &t.CPLD} {
		*total += x.Stalls[pool]
		t.Credit += x.Stalls[pool]
	}
	t.Tag += x.Stalls[pcie.StallTag]
	t.CompletionBuffer += x.Stalls[pcie.StallBuffer]
	t.Replay += x.Stalls[pcie.StallReplay]
}

func (s *System) addTransport(t *measure.TransportSummary, n *node) {
	q, r := &n.requester.Stats, &n.responder.Stats
	t.PacketsSent += q.PacketsSent
	t.PacketsResent += q.PacketsResent
	t.Timeouts += q.Timeouts
	t.DeadQPs += q.DeadQPs
	t.ContextErrors += r.ContextErrors
	nak, drop := &t.RNRNaks.Paging, &t.TCPDrops.Paging
	if s.overAdvertised() {
		nak, drop = &t.RNRNaks.OverAdvertised, &t.TCPDrops.OverAdvertised
	}
	*nak += r.RNRAbsent
	*drop += r.TCP.DropsAbsent
	t.RNRNaks.Moving += r.RNRMoving
	t.RNRNaks.NoReceive += r.RNRNoReceive
	t.TCPDrops.Moving += r.TCP.DropsMoving
	t.FastRetransmits += q.TCP.FastRetransmits + r.TCP.FastRetransmits
	t.BackedUp += r.BackedUp
	t.BackupLost += r.BackupLost
	t.RxDrops += r.RxDrops
	t.RxPausePS += r.PausedTime
}

// advertised is the promise and what stands behind it.
func (s *System) advertised(sum *measure.Summary) {
	a := &sum.Advertise
	a.BytesAdvertised = s.bytesAdvertised()
	a.BytesReserved, a.BytesResident = s.kernel.Reserved(), s.kernel.Resident()
	if s.driver.grants != nil {
		a.Refused = s.driver.grants.refused()
	}
	for i := range s.nodes {
		a.Peers = append(a.Peers, measure.AdvertiseStats{BytesAdvertised: s.told(s.kernel.AdvertisedTo(i)),
			BytesReserved: s.kernel.ReservedFor(i), BytesResident: s.kernel.ResidentFor(i), Refused: a.Refused})
	}
}

// bytesAdvertised is what peers were told of, all together.
func (s *System) bytesAdvertised() uint64 { return s.told(s.registered()) }

// told is what the policy lets out of so many registered bytes, unless the
// configuration says otherwise.
func (s *System) told(all uint64) uint64 {
	if s.driver.grants != nil {
		return min(all, s.driver.grants.bytes())
	}
	if b := uint64(s.spec.Advertise.Bytes); b > 0 {
		return b
	}
	return all
}

// overAdvertised tells whether more memory is advertised than reserved, which
// classes absent pages.
func (s *System) overAdvertised() bool { return s.bytesAdvertised() > s.kernel.Reserved() }

// registered is the memory that is registered, or the most that is at a time, in
// bytes of whole pages.
func (s *System) registered() uint64 {
	g := s.driver.registrar
	if g == nil {
		return s.kernel.Advertised()
	}
	atOnce := g.each
	if s.driver.outstanding > 0 {
		atOnce = min(atOnce, s.driver.outstanding)
	}
	pages := s.space.Largest(g.each, func(r *Region) bool { return !r.dynamic(g.spec) }) +
		s.space.Largest(atOnce, func(r *Region) bool { return g.spec.registrationOf(r) == registerEach })
	for _, theirs := range []bool{false, true} { // a cache each
		pages += s.space.Largest(g.spec.RegistrationCache, func(r *Region) bool {
			return g.spec.registrationOf(r) == registerCached && r.Aggressor == theirs
		})
	}
	return pages << s.spec.Host.Shift()
}

// warning says that more memory is advertised than reserved, where the policy
// is to say so.
func (s *System) warning() string {
	if s.spec.Advertise.Policy != advertiseWarn || !s.overAdvertised() {
		return ""
	}
	return fmt.Sprintf("advertise: peers are told of %d bytes and %d are reserved: accesses to absent pages are answered as over-advertised", s.bytesAdvertised(), s.kernel.Reserved())
}
