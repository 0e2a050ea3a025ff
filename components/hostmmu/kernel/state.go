package kernel

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/pagetable"
)

// AdapterPort leads to an adapter.
type AdapterPort struct {
	MMIO *clocked.Wire[msg.Doorbell] // written: doorbells of table commands
}

// Ports are the unit's wires.
type Ports struct {
	Adapters []AdapterPort
	Inbox    *clocked.Wire[msg.Inbox]    // read
	PageOp   *clocked.Wire[msg.PageOp]   // written
	PageDone *clocked.Wire[msg.PageDone] // read

	IOMMU       *clocked.Wire[*msg.IOMMUCommand] // written: its command queue; nil without an IOMMU
	IOMMUEvents *clocked.Wire[msg.IOMMUEvent]    // read; nil without an IOMMU

	Registration *clocked.Wire[msg.Registration] // read; nil: no region is dynamic
	Registered   *clocked.Wire[msg.Registered]   // written
}

// Stats are totals since time 0.
type Stats struct {
	Events         uint64 // page-fault events taken from adapters
	Resumed        uint64 // answered with success
	Failed         uint64 // answered with an error
	Gone           uint64 // not answered: the adapter was cut off
	Minor, Major   uint64 // CPU faults done for adapters: without and with a swap read
	Coalesced      uint64 // events that found the page mapped already
	Retries        uint64 // mapping steps repeated because of an invalidation
	TryAgain       uint64 // events given back to the adapter at the deadline
	Stalls         uint64 // times that the event queue or the ring waited for a free context
	PageRequests   uint64 // taken off the ring; their groups count as events
	PartsDiscarded uint64 // requests of groups that the IOMMU answered for want of room
	StopMarkers    uint64
	Absent         uint64 // pages that untranslated requests met absent

	FilledPages    uint64 // pages that became resident
	Initial        uint64 // pages resident at time 0
	Evictions      uint64 // pages that left
	Refaults       uint64 // of FilledPages, those that a quarter more memory would have kept
	SwappedIn      uint64
	SwappedOut     uint64
	ExtraSwapOuts  uint64 // of those, pages that held nothing new: dirty only because an adapter might have stored
	Dropped        uint64 // evicted without a swap write
	ReadaheadPages uint64
	DirectReclaims uint64 // faults that found no free frame
	Wakeups        uint64 // of background reclaim
	Suspensions    uint64 // commands

	InvalidationsIssued       uint64 // records: one an adapter that is told
	InvalidationsAcknowledged uint64
	InvalidationsTimedOut     uint64
	UnmappedInvalidations     uint64 // that cost the checks only
	DeadAdapters              uint64 // that did not answer in time and were cut off

	DMAMaps, DMAUnmaps uint64 // pages into and out of the DMA domain
	IOTLBFlushes       uint64 // commands to the IOMMU
	LazyFlushes        uint64 // of those, for unmapped pages that were put off
	UpgradeFlushes     uint64 // of those, for pages that got the right to store
	AccessFlushes      uint64 // of those, for pages whose accessed bit was cleared
	Fences             uint64

	CPUAccesses, CPUFaults uint64
	CPUMinor, CPUMajor     uint64
	CPUStall               clocked.Time // waiting for pages
	LostPages              uint64       // page operations that saw other content than the process must
	FrameErrors            uint64       // ticks at whose end the frames' uses did not add up
	TableErrors            uint64       // changes of page tables and of children's keys refused: 0 in a correct kernel
	UnknownInbox           uint64       // entries that were not for the kernel

	RegistrationTime clocked.Time // before time 0

	ChildStats
	EventStats
	PrefetchStats
	RegistrarStats
}

// Config says what the platform knows beyond the Spec.
type Config struct {
	Adapters []AdapterConfig
	Seed     uint64
	// FlushCount, when not 0, has DMA unmapping put the IOTLB's flush off until
	// so many pages wait for it, or the first has waited for FlushTime. 0: each
	// unmapping is flushed before its pages are free.
	FlushCount int
	FlushTime  clocked.Time
	// OnInvalidation, when set, is given each finished record; the record is
	// the kernel's again when it returns.
	OnInvalidation func(*measure.Invalidation)
	// OnPrefetched, when set, is told of the end of each Advise: the pages whose
	// entries it filled, and those that it left.
	OnPrefetched func(region int, filled, missed uint32)
	// OnFlushed, when set, is told for each page that left the DMA domain how
	// long an IOTLB could know it after: until the kernel sees the flush done.
	OnFlushed func(window clocked.Time)
	// OnCPUAccess, when set, is told the latency of each access of the CPU user.
	OnCPUAccess func(clocked.Time)
}

// Kernel is the host's kernel.
type Kernel struct {
	Stats Stats

	engine *clocked.Engine
	id     clocked.UnitID
	name   string
	spec   Spec
	config Config
	ports  Ports
	shift  model.PageShift

	regions  []Region
	segments []segment
	byVA     []int            // segments that have addresses
	table    *pagetable.Table // of the process
	dma      *pagetable.Table // of the DMA domain; nil where no adapter uses it
	store    *pagetable.Store
	pages    []page
	frames   []frame
	free     []uint32 // frames, the last one used next
	resident int
	transit  int // frames taken from free and not resident, or evicted and not free

	oldest, newest uint32       // list of evictable frames: by recency, or as the clock's hand finds them
	listed         int          // frames in it
	changed        bool         // a page may have become evictable
	retryAt        clocked.Time // when the first grace time ends
	armedAt        clocked.Time // the last retryAt with a timer
	background     bool         // reclaim runs until the high watermark
	low, high      int          // watermarks in frames
	evicting       int          // pages on their way out
	frameWaiters   clocked.FIFO[int]

	adapters []adapter
	iommu    iommuQueue
	lazy     lazyQueue
	timers   timers
	ops      clocked.FIFO[msg.PageOp]
	swap     swapDevice
	rng      uint64

	events    clocked.FIFO[event]
	handling  bool // the handler is scheduled
	ring      ring
	taken     uint64 // events and groups given a context
	jobs      pool[job]
	runnable  clocked.FIFO[int]
	working   int
	pageIns   pool[pageIn]
	evictions pool[eviction]
	nextID    uint64 // of invalidation records

	child      child
	orders     pool[childOrder]
	roots      int // adapters with an implicit region
	prefetches pool[prefetch]
	registrar  registrar
	held       int // frames of the child and of old registrations

	threads []thread
	stopped bool // the CPU user and migration
}

// New builds a kernel; Register and Connect must follow before the engine runs.
func New(e *clocked.Engine, name string, spec Spec, config Config) (*Kernel, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	k := &Kernel{engine: e, name: name, spec: spec, config: config, shift: spec.Shift(),
		oldest: noFrame, newest: noFrame, rng: config.Seed ^ 0x6B65726E656C}
	n := spec.Frames()
	k.low, k.high = int(spec.Pager.Low*float64(n)), int(spec.Pager.High*float64(n))
	k.frames = make([]frame, n)
	k.free = make([]uint32, 0, n)
	for i := range k.frames {
		k.frames[i].page = msg.NoPage
	}
	for _, c := range config.Adapters {
		if err := c.check(); err != nil {
			return nil, err
		}
		k.adapters = append(k.adapters, adapter{config: c, shift: c.Shift, implicit: newImplicit(&c)})
		if c.Root != nil {
			k.roots++
		}
	}
	k.swap = newSwap(spec.Pager.Swap, k.shift)
	if err := k.makeTable(); err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	k.id = e.Register(k)
	return k, nil
}

// makeTable makes the page tables in memory above the user frames.
func (k *Kernel) makeTable() (err error) {
	const tableFrames = 1 << 24 // grows as needed, up to 64 GiB of tables
	base := msg.FramePA(uint32(len(k.frames)), k.shift)
	if k.store, err = pagetable.NewStore(base, tableFrames); err != nil {
		return err
	}
	if k.table, err = pagetable.New(k.store); err != nil {
		return err
	}
	for i := range k.adapters {
		if k.adapters[i].domain() && k.dma == nil {
			k.dma, err = pagetable.New(k.store)
		}
	}
	return err
}

// Tables are the page tables that an IOMMU walks: the process's, and that of
// the DMA domain, nil where no adapter uses it.
func (k *Kernel) Tables() (process, dma *pagetable.Table) { return k.table, k.dma }

// Connect gives the unit its wires.
func (k *Kernel) Connect(p Ports) { k.ports = p }

// ID is the unit's identity on its engine.
func (k *Kernel) ID() clocked.UnitID { return k.id }

// Name is the unit's name.
func (k *Kernel) Name() string { return k.name }

// Tick takes in what has arrived, does what is due, and posts the results.
func (k *Kernel) Tick(now clocked.Time) {
	k.takeInbox(now)
	k.takePageDone(now)
	k.takeIOMMU(now)
	k.takeRegistrations(now)
	for {
		for k.timers.due(now) {
			k.fire(now, k.timers.pop())
		}
		if !k.reclaim(now) && !k.review(now) {
			break
		}
	}
	k.post(now)
	if len(k.timers.heap) > 0 {
		k.engine.Wake(k.id, k.timers.heap[0].at)
	}
	if len(k.free)+k.resident+k.transit+k.held != len(k.frames) {
		k.Stats.FrameErrors++
	}
}

func (k *Kernel) fire(now clocked.Time, who ref) {
	switch i := who.index(); who.actor() {
	case actorHandler:
		k.handleEvents(now)
	case actorJob:
		k.stepJob(now, i)
	case actorPageIn:
		k.stepPageIn(now, i)
	case actorEviction:
		k.stepEviction(now, i)
	case actorFrame:
		k.swappedOut(uint32(i))
	case actorThread:
		k.stepThread(now, i)
	case actorRing:
		k.handleRing(now)
	case actorLazy:
		k.lazyDue(now)
	case actorWatch:
		k.watch(now, i)
	case actorDisable:
		k.bury(now, i)
	case actorEvent:
		k.randomEvent(now, kind(i))
	case actorChild:
		k.child.over = true
		k.exit(now)
	case actorPrefetch:
		k.stepPrefetch(now, i)
	case actorRegion:
		k.stepRegion(now, i)
	}
}

func (k *Kernel) after(now, d clocked.Time, who ref) { k.timers.set(now+d, who) }

// post hands out commands and page operations as far as the wires take them.
func (k *Kernel) post(now clocked.Time) {
	for i := range k.adapters {
		k.postCommands(now, i)
	}
	for k.ops.Len() > 0 && k.ports.PageOp.Ready(now) {
		*k.ports.PageOp.Push(now) = k.ops.Pop()
	}
	k.postIOMMU(now)
	k.answer(now)
}

func (k *Kernel) postCommands(now clocked.Time, i int) {
	a, mmio := &k.adapters[i], k.ports.Adapters[i].MMIO
	if a.state == adapterStopping {
		k.cutOff(now, i)
	}
	for a.state == adapterAlive && a.queue.Len() > 0 && a.open < k.spec.Command.Outstanding && mmio.Ready(now) {
		c := a.queue.Pop()
		a.open++
		*a.sent.Push() = sentCommand{c, now}
		if c.Record != nil {
			c.Record.Sent = now
		}
		*mmio.Push(now) = msg.Doorbell{Client: commandClient, Len: 8, Body: c}
		k.startWatch(now, i)
	}
}

// commandClient is the endpoint's client that executes table commands.
const commandClient = 1

func (k *Kernel) takeInbox(now clocked.Time) {
	for m := k.ports.Inbox.Peek(now); m != nil; m = k.ports.Inbox.Peek(now) {
		switch body := m.Body.(type) {
		case *msg.Event:
			*k.events.Push() = event{*body, m.Adapter}
		case *msg.Command:
			k.completed(now, body)
		default:
			switch {
			case m.Kind == msg.KindMSI:
				k.interrupt(now)
			case m.Kind == msg.KindCQE && body == nil: // of a receive: for the process, which polls
			default:
				k.Stats.UnknownInbox++
			}
		}
		k.ports.Inbox.Pop(now)
	}
}

// completed takes a command's completion entry; that of an adapter given up is
// too late.
func (k *Kernel) completed(now clocked.Time, c *msg.Command) {
	a := &k.adapters[c.Adapter]
	if a.state != adapterAlive {
		return
	}
	a.answered(c)
	k.finish(now, c, false)
}

// finish goes on with whose command is complete, or will never be.
func (k *Kernel) finish(now clocked.Time, c *msg.Command, timedOut bool) {
	switch who := ref(c.Owner); who.actor() {
	case actorJob:
		k.jobCompleted(now, who.index(), timedOut)
	case actorCommand:
		k.acknowledged(now, c, who.index(), timedOut)
	case actorReopen:
		k.reopened(who.index(), timedOut)
	case actorPrefetch:
		k.prefetched(now, who.index(), timedOut)
	case actorRegion:
		k.regionCommand(now, who.index(), timedOut)
	case actorOrder:
		k.childOrdered(who.index(), timedOut)
	}
}

func (k *Kernel) takePageDone(now clocked.Time) {
	for d := k.ports.PageDone.Peek(now); d != nil; d = k.ports.PageDone.Peek(now) {
		if d.Lost {
			k.Stats.LostPages++
		}
		switch who := ref(d.Cookie); who.actor() {
		case actorPageIn:
			k.pageArrived(now, who.index())
		case actorFrame:
			k.frameDone(now, uint32(who.index()), d)
		case actorThread:
			k.accessed(now, who.index())
		case actorOrphan:
			k.takeBack(now, uint32(who.index()))
		}
		k.ports.PageDone.Pop(now)
	}
}

// wake lets everything that waits for a page look again.
func (k *Kernel) wake(now clocked.Time, p uint32) {
	for i, j := range k.jobs.items {
		if j.waits == p {
			j.waits = msg.NoPage
			k.after(now, 0, refer(actorJob, i))
		}
	}
	for i := range k.threads {
		if t := &k.threads[i]; t.waits == p {
			t.waits = msg.NoPage
			k.after(now, 0, refer(actorThread, i))
		}
	}
	k.wakePrefetches(now, p)
	k.wakeRegions(now, p)
}
