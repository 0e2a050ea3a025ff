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

// Config says what the platform knows beyond the Spec.
type Config struct {
	Adapters []AdapterConfig
	Seed     uint64
	// FlushCount, when not 0, has DMA unmapping put the IOTLB's flush off until
	// so many pages wait for it, or the first has waited for FlushTime. 0: each
	// unmapping is flushed before its pages are free.
	FlushCount int
	FlushTime  clocked.Time
	// Initial, when set, is the backing of each page that pages, in the place of
	// host.pager.initial.
	Initial func(page uint32) Initial
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
