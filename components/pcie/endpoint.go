package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
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
	mrrs   uint32
	ports  []port
	completer
	tx transmitter
	rx receiver

	relaxed, idOrdered bool // attributes of payload

	edge   clocked.Time // of the clock: the first from the last tick on
	turn   int          // client that is asked first
	writes slots[transfer]
	reads  slots[read]     // accepted and not answered
	since  [2][]stallTimes // by class and place: the link's when it was accepted, of those with a ledger
	asking int             // reads whose requests are not all sent
	most   int             // of them

	tags    slots[tag]
	first   uint16 // the lowest tag
	timeout clocked.Time
	check   clocked.Time // when requests are looked through for those that time out; Never: there are none

	unclaimed, unexpected, timedOut, refused uint64
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

// transfer is an accepted DMA; offset bytes of it are sent or requested.
type transfer struct {
	dma    msg.DMA
	offset uint32
	client uint8
}

// read is a transfer from the host, of which so many requests are unanswered.
type read struct {
	transfer
	tags   uint32
	stale  bool
	status msg.Status // the worst of its requests so far
}

// tag is an outstanding request.
type tag struct {
	read     int32
	busy     bool
	late     bool         // it timed out: the tag rests until its completion comes
	left     uint32       // bytes still to come: what the completion buffer holds for them
	deadline clocked.Time // of its completion
}

// endpointRCB is the read completion boundary of what is no root complex ([PG213]).
const endpointRCB = 128

func newEndpoint(name string, spec Spec, clock clocked.Domain) *Endpoint {
	first, _ := rules.Tags(spec.TagBits)
	u := &Endpoint{name: name, clock: clock, mrrs: uint32(spec.MRRS), relaxed: spec.Relaxed, idOrdered: spec.IDOrdered,
		completer: completer{device: spec.Adapter, rcb: endpointRCB, mps: uint32(spec.MPS), split: rules.SplitMin,
			shape: shaping{spec.Gen, spec.ECRC}, answers: newSlots[completion](rootQueue)},
		writes: newSlots[transfer](spec.WriteQueue), most: spec.ReadQueue,
		reads: newSlots[read](spec.ReadQueue + spec.usable()), // one is in the queue or holds a tag
		tags:  newSlots[tag](spec.usable()), first: uint16(first), timeout: spec.CompletionTimeout, check: clocked.Never}
	u.since = [2][]stallTimes{msg.Posted: make([]stallTimes, len(u.writes.at)), msg.NonPosted: make([]stallTimes, len(u.reads.at))}
	return u
}

func (u *Endpoint) register(e *clocked.Engine) { u.engine, u.id = e, e.Register(u) }

// end is the endpoint's end of its link.
func (u *Endpoint) end() end { return end{u.id, u.name, 1, &u.tx, &u.rx} }

// reserve sets what the endpoint's reads have to share: tags and completion space.
func (u *Endpoint) reserve(s *Spec) {
	u.tx.tags, u.tx.space = int32(s.usable()), uint32(s.CompletionBuffer)
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
	s.Unclaimed, s.Unexpected, s.TimedOut, s.Refused = u.unclaimed, u.unexpected, u.timedOut, u.refused
	return s
}

// part fits an offer to the part of a DMA from offset on.
func (u *Endpoint) part(o *offer, d *msg.DMA, offset uint32) {
	pa := d.PA + model.PA(offset)
	switch {
	case d.Kind == msg.KindMessage:
		u.shape.message(o, 0, d.Address.PASID)
	case d.Write:
		o.bytes = rules.RequestPiece(pa, d.Len-offset, u.mps)
		u.shape.request(o, pa, o.bytes, d.Address.PASID)
	default:
		o.bytes = rules.RequestPiece(pa, d.Len-offset, u.mrrs)
		u.shape.request(o, pa, 0, d.Address.PASID)
	}
}
