package dmabench

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// Client is a pair of wires to the endpoint.
type Client struct {
	Req  *clocked.Wire[msg.DMA]     // written
	Done *clocked.Wire[msg.DMADone] // read
}

// Ports are the device's wires: reads and commands, writes.
type Ports struct{ Clients [2]Client }

// Result is what was measured.
type Result struct {
	Latency float64 // picoseconds, mean of the transfers that count
	Period  float64 // picoseconds from one transfer to the next, of a pair in BothBandwidth
	Counted int     // transfers
}

// Bench is the device.
type Bench struct {
	engine  *clocked.Engine
	id      clocked.UnitID
	name    string
	spec    Spec
	program Program
	places  []uint32
	ports   Ports

	contexts []context
	started  bool
	begun    int // transfers

	queue   clocked.FIFO[due]    // on their way to the engine or, commands, to the link
	reads   clocked.FIFO[uint32] // contexts whose read waits for a slot
	slots   int                  // free
	readAt  clocked.Time         // when the engine can issue a read
	stored  clocked.FIFO[due]    // reads until the context is told
	storeAt clocked.Time         // when the store is free
	writes  clocked.FIFO[due]    // since when their data are there
	fetchAt clocked.Time         // when the fetch is free
	offset  uint32               // bytes of the oldest write that were issued
	pieceAt clocked.Time         // when the engine can issue a piece
	written clocked.FIFO[due]    // writes until the context is told

	ended   int
	latency clocked.Time // sum of those that count
	counted int
	first   clocked.Time // end of the last transfer that does not count
	last    clocked.Time // end of the last that counts
}

// context has one transfer at a time.
type context struct {
	since clocked.Time
	pa    model.PA
	write bool // the part of the transfer that is under way
}

// due is a context for which something happens at a time.
type due struct {
	at      clocked.Time
	context uint32
}

// New builds the device; Connect must follow before the engine runs. It fails
// on a Spec or Program that cannot run.
func New(e *clocked.Engine, name string, spec Spec, program Program) (*Bench, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	contexts := spec.Contexts
	if program.Test.Latency() {
		contexts = 1
	}
	if err := program.check(contexts); err != nil {
		return nil, err
	}
	u := &Bench{engine: e, name: name, spec: spec, program: program, places: program.places(),
		contexts: make([]context, contexts), slots: spec.ReadSlots}
	u.id = e.Register(u)
	return u, nil
}

// Connect gives the device its wires and makes it start at 1 ps.
func (u *Bench) Connect(p Ports) {
	u.ports = p
	u.engine.Wake(u.id, clocked.Picosecond)
}

// ID is the unit's identity on its engine.
func (u *Bench) ID() clocked.UnitID { return u.id }

// Name is the unit's name.
func (u *Bench) Name() string { return u.name }

// Idle tells whether all transfers are over.
func (u *Bench) Idle() bool { return u.ended == u.program.Transfers }

// Waits says what the unit waits for.
func (u *Bench) Waits() []string {
	if u.Idle() {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d of %d transfers are over; %d reads wait for a slot, %d writes for their turn",
		u.name, u.ended, u.program.Transfers, u.reads.Len(), u.writes.Len())}
}

// Result is the measurement; it is complete when the unit is idle.
func (u *Bench) Result() Result {
	n := float64(max(1, u.counted))
	r := Result{Counted: u.counted, Latency: float64(u.latency) / n, Period: float64(u.last-u.first) / n}
	if u.program.Test == BothBandwidth {
		r.Period *= 2
	}
	return r
}
