package iommu

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/ats"
	"rnicmmu/model/cache"
)

// AdapterPorts are the wires of an adapter's root port; adapters that share one
// have the same.
type AdapterPorts struct {
	Req     *clocked.Wire[msg.MemReq]   // read: from its root port
	Done    *clocked.Wire[msg.MemDone]  // written: to its root port
	Message *clocked.Wire[msg.Doorbell] // written: to its root port
	Out     *clocked.Wire[msg.MemReq]   // written: to its client of memory
	MemDone *clocked.Wire[msg.MemDone]  // read: from its client of memory
}

// Ports are the unit's wires.
type Ports struct {
	Adapters []AdapterPorts
	WalkReq  *clocked.Wire[msg.MemReq]        // written: to memory, client N
	WalkDone *clocked.Wire[msg.MemDone]       // read
	Commands *clocked.Wire[*msg.IOMMUCommand] // read
	Events   *clocked.Wire[msg.IOMMUEvent]    // written
}

// Stats are totals since time 0. Lookups = Hits + Misses and Misses = Walks +
// Merged; what is looked up again after an invalidation counts as a replay.
type Stats struct {
	Lookups, Hits, Misses uint64 // untranslated and translation requests
	Walks, Merged         uint64 // misses that began a walk, or joined one
	Replays               uint64 // looked up again: an invalidation or missing rights
	WalkReads             uint64 // of page-table entries
	ContextReads          uint64
	Stales                uint64 // walks that an invalidation made void

	AbsentReads, AbsentWrites   uint64 // answered with an error; dropped
	BrokenReads, BrokenWrites   uint64 // refused: no context
	BlockedReads, BlockedWrites uint64 // translated requests refused: no trust
	Unchecked                   uint64 // translated requests let through
	EventsLost                  uint64 // absent pages that found the log full

	Translations                          uint64 // translation requests answered
	PageRequests, PagesDropped, AutoReply uint64 // into the ring; dropped: it was full; answered by the IOMMU

	Commands, Refused                  uint64 // taken; not known or not for an adapter
	DevTLBInvalidates, TimedOut        uint64
	UnexpectedCompletions, TagsStalled uint64 // tags named that were idle; commands that waited for a tag
	UnknownMessages                    uint64
}

// stage is how far a request has come.
type stage uint8

const (
	stageFree    stage = iota
	stageContext       // waits for its context
	stageWalk          // waits for a walk
	stageReady         // goes when order and wires permit
)

// verdict is what becomes of a request.
type verdict uint8

const (
	forward verdict = iota // to memory
	drop                   // a posted request is refused
	respond                // the IOMMU takes a message
)

// request is a request of an adapter between its arrival and its leaving.
type request struct {
	req     msg.MemReq
	at      clocked.Time // when it may be seen behind the IOMMU
	next    int32        // in a list of waiters, or the free list
	behind  uint32       // a read: number of the posted request that must have left
	adapter uint16
	stage   stage
	verdict verdict
	refusal msg.Status // of its context, if its page is absent
	broken  bool       // a message: there is no context
	pri     bool       // a message: page requests are taken
	waited  bool       // for a context or a walk
	counted bool       // its look-up is in the statistics
	marked  bool       // an invalidation waits until it has left
}

// none ends a list of slots.
const none = int32(-1)

// waiters is a FIFO of slots linked by next.
type waiters struct{ head, tail int32 }

var noWaiters = waiters{none, none}

// answer is for a root port.
type answer struct {
	at   clocked.Time
	done msg.MemDone
}

// rootPort is what the unit keeps for a root port.
type rootPort struct {
	AdapterPorts
	posted   clocked.FIFO[int32]        // slots, in order
	reads    []int32                    // slots that may go to memory
	answers  clocked.FIFO[answer]       // for the root port
	messages clocked.FIFO[msg.Doorbell] // for adapters
	tracker
}

// adapter is what the unit keeps for an adapter.
type adapter struct {
	index    uint16
	root     *rootPort // nil: not behind this IOMMU
	free     int32     // slots
	refused  refusals
	contexts []placed // memory's content, by PASID
	everATS  bool     // it may hold translations
	inFlight
	devTLB
	responses [groups]msg.PageResponse // by PRG index
}

// Unit is the host's IOMMU.
type Unit struct {
	engine *clocked.Engine
	id     clocked.UnitID
	name   string
	spec   Spec
	config Config
	ports  Ports
	stats  Stats

	slots    []request
	adapters []adapter
	roots    []*rootPort // those that adapters behind this IOMMU have
	inUse    int         // slots

	contexts contextCache
	iotlb    iotlb
	psc      pagingCaches
	walkUnit
	commandUnit
	events clocked.FIFO[msg.IOMMUEvent]
	ring   int  // places of the page request ring in use
	lost   bool // requests found it full since the last that did not
	absent int  // EventAbsent among events

	// OnBlocked, when set, is told of each translated request that was refused.
	OnBlocked func(now clocked.Time, adapter uint16, m *msg.MemReq)
}

// New builds an IOMMU; Connect must follow before the engine runs.
func New(e *clocked.Engine, name string, spec Spec, config Config) (*Unit, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	if config.Adapters < 1 || config.Adapters > maxAdapters {
		return nil, fmt.Errorf("iommu: %d adapters: 1 to %d are due", config.Adapters, maxAdapters)
	}
	u := &Unit{engine: e, name: name, spec: spec, config: config}
	n := config.Adapters * spec.Slots
	u.slots = make([]request, n)
	for i := range u.slots {
		u.slots[i].next = int32(i) + 1
	}
	u.adapters = make([]adapter, config.Adapters)
	for i := range u.adapters {
		first := i * spec.Slots
		u.slots[first+spec.Slots-1].next = none
		u.adapters[i] = adapter{index: uint16(i), free: int32(first)}
		u.adapters[i].tags = ats.NewTags(spec.ATSDepth)
	}
	if err := u.buildCaches(n); err != nil {
		return nil, err
	}
	u.id = e.Register(u)
	return u, nil
}

func (u *Unit) buildCaches(slots int) error {
	g, err := u.spec.geometry(u.config.Seed, u.name+".iotlb")
	if err == nil {
		u.iotlb, err = newIOTLB(g)
	}
	if err != nil {
		return fmt.Errorf("host.iommu.iotlb_entries: %w", err)
	}
	if u.psc, err = newPagingCaches(u.spec.PSCEntries); err != nil {
		return fmt.Errorf("host.iommu.psc_entries: %w", err)
	}
	if u.contexts, err = newContextCache(u.spec.ContextEntries); err != nil {
		return fmt.Errorf("host.iommu.context_entries: %w", err)
	}
	return u.buildWalkers(slots)
}

// buildWalkers makes room for a walk of each slot, so that none is evicted.
func (u *Unit) buildWalkers(slots int) (err error) {
	u.walkOf, err = cache.New(cache.Geometry{Entries: slots, Line: 1, Policy: cache.FIFO})
	u.walks = make([]walk, slots)
	u.walkers = make([]int32, u.spec.Walkers)
	for k := range u.walkers {
		u.walkers[k] = none
	}
	return err
}

// Connect gives the unit its wires. An adapter without any is not behind it.
func (u *Unit) Connect(p Ports) {
	u.ports = p
	for i := range u.adapters {
		if p.Adapters[i].Req == nil {
			continue
		}
		a := &u.adapters[i]
		for _, r := range u.roots {
			if r.Req == p.Adapters[i].Req {
				a.root = r
			}
		}
		if a.root == nil {
			a.root = &rootPort{AdapterPorts: p.Adapters[i]}
			u.roots = append(u.roots, a.root)
		}
	}
}

// ID is the unit's identity on its engine.
func (u *Unit) ID() clocked.UnitID { return u.id }

// Name is the unit's name.
func (u *Unit) Name() string { return u.name }

// Stats are the unit's counters.
func (u *Unit) Stats() Stats { return u.stats }
