package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// Client is one user of an endpoint: a unit of the adapter. Req may be a quiet
// wire, which saves ticks while the endpoint's queues are full.
type Client struct {
	Req      *clocked.Wire[msg.DMA]      // read by the endpoint
	Done     *clocked.Wire[msg.DMADone]  // written by the endpoint
	Doorbell *clocked.Wire[msg.Doorbell] // written by the endpoint
}

// EndpointPorts are the endpoint's connections; doorbells name clients by index.
type EndpointPorts struct{ Clients []Client }

// Endpoint is the adapter's end of a link: the DMA engine that cuts transfers
// into TLPs, and the receiver of completions and doorbells.
type Endpoint struct {
	name   string
	id     clocked.UnitID
	engine *clocked.Engine
	clock  clocked.Domain
	mps    uint32
	mrrs   uint32
	ports  []port
	tx     transmitter
	rx     receiver

	turn                int // client that is asked first
	writes              clocked.FIFO[write]
	reads               clocked.FIFO[uint16] // accepted reads whose requests are not all sent
	maxWrites, maxReads int

	jobs     []read
	jobsFree []uint16
	tags     []tag
	tagsFree []uint16
	space    uint32 // free bytes of the completion buffer

	unclaimed uint64
}

// port is a client and the answers that it has not taken yet: of what was
// accepted before the first of them, as a client with answers owed is not asked.
type port struct {
	Client
	owed clocked.FIFO[answer]
}

type answer struct {
	at   clocked.Time // not to be seen before
	done msg.DMADone
}

// write is an accepted write DMA; offset bytes of it are sent.
type write struct {
	dma    msg.DMA
	since  uint64
	offset uint32
	client uint8
}

// read is an accepted read DMA; offset bytes of it are requested, tags
// requests are unanswered.
type read struct {
	dma    msg.DMA
	since  uint64
	offset uint32
	tags   uint32
	client uint8
	stale  bool
	status msg.Status // the worst of its requests so far
}

// tag is an outstanding request.
type tag struct {
	job  uint16
	busy bool
	left uint32 // bytes still to come: what the completion buffer holds for them
}

func newEndpoint(name string, spec Spec, clock clocked.Domain) *Endpoint {
	jobs := spec.ReadQueue + spec.Tags // a job is in the queue or holds a tag
	u := &Endpoint{name: name, clock: clock, mps: uint32(spec.MPS), mrrs: uint32(spec.MRRS),
		maxWrites: spec.WriteQueue, maxReads: spec.ReadQueue,
		jobs: make([]read, jobs), tags: make([]tag, spec.Tags), space: uint32(spec.CompletionBuffer)}
	for i := jobs - 1; i >= 0; i-- {
		u.jobsFree = append(u.jobsFree, uint16(i))
	}
	for i := spec.Tags - 1; i >= 0; i-- {
		u.tagsFree = append(u.tagsFree, uint16(i))
	}
	return u
}

// Connect sets the endpoint's wires, once, before the engine runs.
func (u *Endpoint) Connect(p EndpointPorts) {
	u.ports = make([]port, len(p.Clients))
	for i, c := range p.Clients {
		u.ports[i] = port{Client: c}
		c.Req.Await(u.engine.Now())
	}
}

// ID is the endpoint's identity in the engine, for wires.
func (u *Endpoint) ID() clocked.UnitID { return u.id }

// Name is the endpoint's name.
func (u *Endpoint) Name() string { return u.name }

// Stats are what the endpoint has sent upstream.
func (u *Endpoint) Stats() Stats {
	s := u.tx.stats
	s.Unclaimed = u.unclaimed
	return s
}
