package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
)

// Ports are the unit's wires; the platform sets them.
type Ports struct {
	Translate   *clocked.Wire[msg.Translate]   // from the responder
	Translation *clocked.Wire[msg.Translation] // to the responder
	Release     *clocked.Wire[msg.Release]     // from the responder
	DMA         *clocked.Wire[msg.DMA]         // to the endpoint
	DMADone     *clocked.Wire[msg.DMADone]     // from the endpoint
	Doorbell    *clocked.Wire[msg.Doorbell]    // from the endpoint: commands
}

// CacheStats counts look-ups of one cache; replays after a fault are apart.
type CacheStats struct {
	Lookups, Hits, Misses    uint64
	Walks                    uint64 // misses that started a look-up in the next level or, from the last, a table read
	Merged                   uint64 // misses that joined one
	Replays                  uint64
	Fills, Evictions, Stales uint64 // Stales: read again because a command touched the line
}

// Stats are the unit's counters.
type Stats struct {
	MPT, MTT                                  CacheStats // first levels
	MPT2, MTT2                                CacheStats // second levels
	Prefetch                                  PrefetchStats
	Tenants                                   [MaxTenants]TenantStats // of partitioned caches
	Walked                                    WalkStats
	TableReads                                uint64
	TableErrors                               uint64 // of them, those that ended with an error
	FaultsRaised, FaultsResumed, FaultsFailed uint64
	StrayResumes                              uint64 // refused: no reported fault waited for it
	FaultsMuted                               uint64 // not reported: one of that class was outstanding
	Fills, Invalidates, EntriesZapped         uint64 // commands; entries that were present
	Suspends, Unsuspends, Protects            uint64 // commands
	KeyChanges, Kills                         uint64 // commands; invalidations by a peer's SEND
	Refused                                   uint64 // commands and kills that changed nothing
	DevTLBInvalidates                         uint64 // ATS Invalidate Requests completed
	TranslationRequests, TranslationErrors    uint64 // sent; answered with an error status
	PageRequests, StrayResponses              uint64 // sent; responses to no group that waits for one
	Revoked                                   uint64 // translations called back
}

// WalkStats counts the walks of the MTT, or an ATC's translation requests, by how
// they ended: at rest Begun is the sum of the others. Replays and prefetches are
// among them.
type WalkStats struct {
	Begun   uint64
	Second  uint64 // found in the second level
	Filled  uint64
	Absent  uint64 // the entry was not there, or not with the right wanted
	Dropped uint64 // prefetches that a command touched
	Failed  uint64 // whose reads, or translation request, were answered with an error
}

// Ended is the number of walks that have ended.
func (w *WalkStats) Ended() uint64 { return w.Second + w.Filled + w.Absent + w.Dropped + w.Failed }

// PrefetchStats counts prefetches of the MTT, which are no look-ups.
type PrefetchStats struct {
	Issued  uint64
	Useful  uint64 // whose line a request then hit
	Late    uint64 // whose line a request wanted while they were under way
	Dropped uint64 // because a command touched the line
}

// TenantStats counts look-ups in the first levels by tenant.
type TenantStats struct{ MPTHits, MPTMisses, MTTHits, MTTMisses uint64 }

// none ends a list of slots.
const none = int32(-1)

// phase of a slot's translation.
type phase uint8

const (
	slotFree   phase = iota
	slotParked       // waits for a table read, a miss register or a page
	slotGiven        // the responder has the translation
)

// slot is one translation from acceptance to release; its index is the handle.
type slot struct {
	req     msg.Translate // valid while parked
	entry   uint64        // of the table; without one, number of the page
	key     uint32        // index of the key whose entries translate it
	epoch   uint32        // of the key check
	at      clocked.Time  // translated
	next    int32         // in a list of waiters or the free list
	phase   phase
	marked  bool // an invalidation waits for its release
	counted bool // this request's MTT look-up is counted
	via     via
}

// waiters is a FIFO of slots linked by next.
type waiters struct{ head, tail int32 }

// keyMiss is an MPT miss register, for a key or an entry of an implicit region's
// list.
type keyMiss struct {
	busy  bool
	stale bool   // the entry was changed since the read was sent
	fresh bool   // its look-ups count
	tag   uint64 // index of the key, or listEntry
	qp    uint32 // of the request that began it
	list  waiters
}

// walk is an MTT miss register and the walk, or translation request, that it
// has under way.
type walk struct {
	busy     bool
	stale    bool // a command touched the line since the leaf was read
	store    bool // a translation request asks for the right to store
	fresh    bool // its look-ups count
	demand   bool // a request began it, no prefetch
	prefetch bool // nobody waits for it
	qp       uint32
	level    int
	line     uint64
	first    uint64 // entry
	set      uint64
	words    [mtt.MaxLine]mtt.Word
	list     waiters
}

// Unit is the translation and protection table unit.
type Unit struct {
	Ports
	Stats Stats

	engine *clocked.Engine
	id     clocked.UnitID
	name   string
	spec   Spec
	clock  clocked.Domain
	shift  model.PageShift
	layout mtt.Layout
	config Config

	keys  *key.Table
	table *mtt.Table
	mpt   *levels
	mtt   *levels // under ATC of translations, by page number
	epoch uint32  // of the protection table: counts what took a right away

	slots     []slot
	freeSlot  int32
	inUse     int
	keyMisses []keyMiss
	keyless   waiters // parked slots that need a key miss register
	walks     []walk
	stalled   waiters // parked slots that need a walk register

	prefetcher  prefetcher
	trails      []trail // of the prefetcher, by QP
	prefetching int     // walks that nobody waits for
	tenants     uint32  // that share the caches; 0: no partition

	headBlocked bool
	unblocked   clocked.Time // when a blocked head was last accepted
	nextAccept  clocked.Time // one request a cycle
	results     clocked.FIFO[result]
	dma         clocked.FIFO[msg.DMA]
	onboard     clocked.FIFO[timed]

	faults   faultUnit
	pages    pageRequests
	commands commandUnit

	address     msg.Address // of data
	completions [ats.MaxTags]msg.InvalidateDone

	// OnHazard, when set, is told for each translation how long it was held:
	// from the look-up to the last bus access that used it.
	OnHazard func(clocked.Time)
	// Warm says that the warm-up ended at Since: later resumes of faults raised
	// by then are not counted.
	Warm  bool
	Since clocked.Time
}

type result struct {
	at  clocked.Time
	msg msg.Translation
}

type timed struct {
	at     clocked.Time
	cookie uint64
}

// Cookies name the owner of a DMA in their upper half.
const (
	cookieMPT uint64 = iota + 1
	cookieMPT2
	cookieWalk
	cookieMTT2
	cookieTranslation
	cookieCommand
)

func cookie(owner uint64, index int) uint64 { return owner<<32 | uint64(index) }
