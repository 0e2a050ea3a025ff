package tpt

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
)

// Place says where the adapter's tables lie in host memory.
type Place struct {
	MPT     model.PA // first MPT entry
	MTT     model.PA // first MTT entry, aligned to 4 KiB
	Keys    int      // MPT entries
	Entries uint64   // MTT entries
	Queues  model.PA // command, event and completion queues, and where interrupts are written: a page each
}

// Mode is how the unit translates what a key permits.
type Mode uint8

// Modes; a scheme chooses one.
const (
	Table  Mode = iota // by the adapter's own table
	ATC                // by translation requests to the IOMMU, whose answers are cached
	Bypass             // not at all: the IOMMU translates each transfer
)

// Config is what the platform settles.
type Config struct {
	Place Place
	Seed  uint64 // of random replacement
	Mode  Mode
	PASID uint32 // of the process, not 0, under ATC and Bypass
}

// New builds the unit.
func New(e *clocked.Engine, name string, spec Spec, config Config) (*Unit, error) {
	if err := spec.CheckMode(config.Mode); err != nil {
		return nil, err
	}
	u := &Unit{engine: e, name: name, spec: spec, clock: clocked.NewDomain(spec.Clock), shift: spec.PageShift(),
		config: config, keyless: noWaiters, stalled: noWaiters}
	var err error
	place := &config.Place
	if u.layout, err = mtt.NewLayout(place.MTT, place.Entries, spec.MTT.Levels); err != nil {
		return nil, fmt.Errorf("tpt.mtt: %w", err)
	}
	if u.keys, err = key.NewTable(place.Keys); err != nil {
		return nil, fmt.Errorf("tpt.mpt: %w", err)
	}
	if err := u.buildCaches(config.Seed); err != nil {
		return nil, err
	}
	u.buildATS()
	u.table = mtt.NewTable(u.layout)
	u.buildSlots()
	u.id = e.Register(u)
	return u, nil
}

func (u *Unit) buildCaches(seed uint64) error {
	s, st := &u.spec, &u.Stats
	first, second, err := s.mptGeometry(seed, u.name)
	if err != nil {
		return err
	}
	if u.mpt, err = newLevels(first, second, u.clock.Cycles(s.MPT.L2Latency), 0, &st.MPT, &st.MPT2); err != nil {
		return fmt.Errorf("tpt.mpt: %w", err)
	}
	if first, second, err = s.mttGeometry(seed, u.name); err != nil {
		return err
	}
	if u.mtt, err = newLevels(first, second, u.clock.Cycles(s.MTT.L2Latency), s.MTT.LineEntries, &st.MTT, &st.MTT2); err != nil {
		return fmt.Errorf("tpt.mtt: %w", err)
	}
	return nil
}

// buildATS prepares what the modes differ in on the link. A completion is the
// same whenever its tag is used, and so is one body for ever.
func (u *Unit) buildATS() {
	switch u.config.Mode {
	case ATC:
		u.address = msg.Address{Translated: true}
	case Bypass:
		u.address = msg.Address{PASID: u.config.PASID}
	}
	u.pages.groups = ats.NewGroups(u.spec.PageRequests)
	for i := range u.completions {
		u.completions[i].InvalidateCompletion = ats.InvalidateCompletion{ITags: 1 << i, Count: 1}
	}
}

func (u *Unit) buildSlots() {
	u.slots = make([]slot, u.spec.InFlight)
	for i := range u.slots {
		u.slots[i].next = int32(i) + 1
	}
	u.slots[len(u.slots)-1].next = none
	u.prefetcher = prefetchers[u.spec.MTT.Prefetch]
	if u.spec.Partition == "tenant" {
		u.tenants = uint32(u.spec.Tenants)
	}
	u.keyMisses = make([]keyMiss, u.spec.MPT.MSHRs)
	u.walks = make([]walk, u.spec.MTT.MSHRs)
	u.faults.free = none
}

// Name is the unit's name.
func (u *Unit) Name() string { return u.name }

// ID is the unit's identity on its engine.
func (u *Unit) ID() clocked.UnitID { return u.id }

// Clock is the clock domain of the adapter's units.
func (u *Unit) Clock() clocked.Domain { return u.clock }

// Config is what the platform settled.
func (u *Unit) Config() Config { return u.config }

// Keys is the protection table, for registration before the run.
func (u *Unit) Keys() *key.Table { return u.keys }

// Table is the translation table, for registration before the run.
func (u *Unit) Table() *mtt.Table { return u.table }

// Tick does what is due at now.
func (u *Unit) Tick(now clocked.Time) {
	u.finishReads(now)
	u.takeReleases(now)
	u.tickFaults(now)
	u.tickCommands(now)
	u.reportFaults(now) // a page response may have given a credit back
	u.retryKeyless(now)
	u.retryStalled(now)
	u.sendResults(now)
	u.accept(now)
	u.sendDMA(now)
}

// finishReads takes the answers of table reads and command fetches.
func (u *Unit) finishReads(now clocked.Time) {
	for m := u.DMADone.Peek(now); m != nil; m = u.DMADone.Peek(now) {
		u.finish(now, m)
		u.DMADone.Pop(now)
	}
	for _, due := range [...]*clocked.FIFO[timed]{&u.onboard, &u.mpt.due, &u.mtt.due} {
		for due.Len() > 0 && due.Front().at <= now {
			m := msg.DMADone{Cookie: due.Front().cookie}
			due.Pop()
			u.finish(now, &m)
		}
	}
}

func (u *Unit) finish(now clocked.Time, m *msg.DMADone) {
	index := int(uint32(m.Cookie))
	switch m.Cookie >> 32 {
	case cookieMPT:
		u.finishKey(now, index, m.Status)
	case cookieMPT2:
		u.finishKeyLookup(now, index)
	case cookieWalk:
		u.finishWalk(now, index, m.Status)
	case cookieMTT2:
		u.finishLookup(now, index)
	case cookieTranslation:
		u.finishTranslation(now, index, m)
	case cookieCommand:
		u.commandFetched(now, m.Status)
	}
}

// readTable starts a table read of n bytes at pa.
func (u *Unit) readTable(now clocked.Time, kind msg.Kind, pa model.PA, n uint32, c uint64, a *measure.Access) {
	u.Stats.TableReads++
	if a != nil {
		a.Counts.TableReads++
	}
	if u.spec.Tables == "onboard" {
		at := u.clock.Edge(now + u.spec.Onboard)
		*u.onboard.Push() = timed{at: at, cookie: c}
		u.engine.Wake(u.id, at)
		return
	}
	var counts *measure.Counts
	if a != nil {
		counts = &a.Counts
	}
	*u.dma.Push() = msg.DMA{Kind: kind, PA: pa, Len: n, Cookie: c, Counts: counts, Oracle: msg.Oracle{Page: msg.NoPage}}
}

func (u *Unit) sendDMA(now clocked.Time) {
	for u.dma.Len() > 0 && u.DMA.Ready(now) {
		*u.DMA.Push(now) = *u.dma.Front()
		u.dma.Pop()
	}
}

// answer gives a result to the responder at the given time or, when the wire
// is full, as soon after as it has room.
func (u *Unit) answer(now, at clocked.Time, m msg.Translation) {
	if u.results.Len() == 0 && u.Translation.Ready(now) {
		*u.Translation.PushAt(now, at) = m
		return
	}
	*u.results.Push() = result{at: at, msg: m}
}

func (u *Unit) sendResults(now clocked.Time) {
	for u.results.Len() > 0 && u.Translation.Ready(now) {
		r := u.results.Front()
		*u.Translation.PushAt(now, max(r.at, u.clock.Next(now))) = r.msg
		u.results.Pop()
	}
}
