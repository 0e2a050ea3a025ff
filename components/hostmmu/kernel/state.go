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

	Registration *clocked.Wire[msg.Registration] // read; nil: no region is dynamic
	Registered   *clocked.Wire[msg.Registered]   // written
}

// Stats are totals since time 0.
type Stats struct {
	Events       uint64 // page-fault events taken from adapters
	Resumed      uint64 // answered with success
	Failed       uint64 // answered with an error
	Minor, Major uint64 // CPU faults done for adapters: without and with a swap read
	Coalesced    uint64 // events that found the page mapped already
	Retries      uint64 // mapping steps repeated because of an invalidation
	TryAgain     uint64 // events given back to the adapter at the deadline
	Stalls       uint64 // times that the event queue waited for a free context

	FilledPages    uint64 // pages that became resident
	Initial        uint64 // pages resident at time 0
	Evictions      uint64 // pages that left
	SwappedIn      uint64
	SwappedOut     uint64
	ExtraSwapOuts  uint64 // of those, pages that held nothing new: dirty only because an adapter might have stored
	Dropped        uint64 // evicted without a swap write
	ReadaheadPages uint64
	DirectReclaims uint64 // faults that found no free frame
	Wakeups        uint64 // of background reclaim

	InvalidationsIssued       uint64 // commands to adapters
	InvalidationsAcknowledged uint64
	UnmappedInvalidations     uint64 // that cost the checks only

	CPUAccesses, CPUFaults uint64
	CPUMinor, CPUMajor     uint64
	CPUStall               clocked.Time // waiting for pages
	LostPages              uint64       // page operations that saw other content than the process must
	TableErrors            uint64       // page-table operations refused: 0 in a correct kernel
	UnknownInbox           uint64       // entries that were not for the kernel

	RegistrationTime clocked.Time // before time 0

	EventStats
	PrefetchStats
	RegistrarStats
}

// Config says what the platform knows beyond the Spec.
type Config struct {
	Adapters []model.PageShift // page size of each adapter's table, at most the host's under odp
	Seed     uint64
	// OnInvalidation, when set, is given each finished record; the record is
	// the kernel's again when it returns.
	OnInvalidation func(*measure.Invalidation)
	// OnPrefetched, when set, is told of the end of each Advise: the pages whose
	// entries it filled, and those that it left.
	OnPrefetched func(region int, filled, missed uint32)
	// OnCPUAccess, when set, is told the latency of each access of the CPU user.
	OnCPUAccess func(clocked.Time)
}

// adapter is the command queue to an adapter.
type adapter struct {
	shift       model.PageShift
	regions     []int // by FirstEntry
	queue       clocked.FIFO[*msg.Command]
	outstanding int
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
	table    *pagetable.Table
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
	timers   timers
	ops      clocked.FIFO[msg.PageOp]
	swap     swapDevice
	rng      uint64

	events    clocked.FIFO[event]
	handling  bool // the handler is scheduled
	jobs      pool[job]
	runnable  clocked.FIFO[int]
	working   int
	pageIns   pool[pageIn]
	evictions pool[eviction]
	nextID    uint64 // of invalidation records

	child      child
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
	for _, shift := range config.Adapters {
		k.adapters = append(k.adapters, adapter{shift: shift})
	}
	k.swap = newSwap(spec.Pager.Swap, k.shift)
	if err := k.makeTable(); err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	k.id = e.Register(k)
	return k, nil
}

// makeTable makes the page table in memory above the user frames.
func (k *Kernel) makeTable() (err error) {
	const tableFrames = 1 << 24 // grows as needed, up to 64 GiB of tables
	base := msg.FramePA(uint32(len(k.frames)), k.shift)
	if k.store, err = pagetable.NewStore(base, tableFrames); err == nil {
		k.table, err = pagetable.New(k.store)
	}
	return err
}

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
		a := &k.adapters[i]
		for a.queue.Len() > 0 && a.outstanding < k.spec.Command.Outstanding && k.ports.Adapters[i].MMIO.Ready(now) {
			c := a.queue.Pop()
			a.outstanding++
			if c.Record != nil {
				c.Record.Sent = now
			}
			*k.ports.Adapters[i].MMIO.Push(now) = msg.Doorbell{Client: commandClient, Len: 8, Body: c}
		}
	}
	for k.ops.Len() > 0 && k.ports.PageOp.Ready(now) {
		*k.ports.PageOp.Push(now) = k.ops.Pop()
	}
	k.answer(now)
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

// completed takes a command's completion entry.
func (k *Kernel) completed(now clocked.Time, c *msg.Command) {
	k.adapters[c.Adapter].outstanding--
	switch who := ref(c.Owner); who.actor() {
	case actorJob:
		k.jobCompleted(now, who.index())
	case actorCommand:
		k.acknowledged(now, c, who.index())
	case actorPrefetch:
		k.prefetched(now, who.index())
	case actorRegion:
		k.regionCommand(now, who.index())
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
