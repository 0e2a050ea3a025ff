package transport

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// RequesterPorts are the wires of a Requester; the platform builds them.
type RequesterPorts struct {
	Doorbell *clocked.Wire[msg.Doorbell] // read
	DMA      *clocked.Wire[msg.DMA]      // written
	DMADone  *clocked.Wire[msg.DMADone]  // read
	Tx       *clocked.Wire[*msg.Packet]  // written
	Rx       *clocked.Wire[*msg.Packet]  // read
}

// LocalMemory says where the requester's own memory holds its queues and data.
type LocalMemory struct {
	SQ, CQ  model.PA // send and completion queues: Entries × 64 B a QP
	Entries uint32   // a queue's length
	Data    model.PA // where payload is read from and READ data goes to
	Bytes   uint64   // of Data that addresses wrap around in
}

// Requester is the send side of a peer's adapter.
type Requester struct {
	Ports RequesterPorts
	Stats RequesterStats
	Lose  Lose // nil: the network loses nothing

	protocol sendProtocol
	engine   *clocked.Engine
	id       clocked.UnitID
	name     string
	spec     Spec
	memory   LocalMemory
	pool     *msg.Pool[msg.Packet]
	mtu      uint32

	qps     []sendQP
	out     egress
	timers  deadlines
	fetches clocked.FIFO[fetchRef]   // work requests to read
	payload clocked.FIFO[int32]      // QPs with payload to read
	sending clocked.FIFO[int32]      // QPs that may have a packet to send
	done    clocked.FIFO[completion] // completion entries to write
	broken  []fetchRef               // requests of which something could not be read
	ops     ops[sendOp]
	open    int // requests posted and not completed
}

type completion struct {
	access *measure.Access
	pa     model.PA
}

// RequesterStats counts since the start.
type RequesterStats struct {
	PacketsSent   uint64 // request packets, resent ones too
	PacketsResent uint64
	PacketsNeeded uint64 // request packets of the requests that completed well, each once
	PacketsDammed uint64 // first sends that qp.damming lost
	RNRReceived   uint64 // RNR NAKs, vain ones too
	RNRNaks       uint64 // of them, those that the queue pair waited for
	SequenceNaks  uint64 // that told of a loss, and so did
	ImpliedNaks   uint64 // responses that skip an outstanding READ or atomic
	GoBacks       uint64 // for losses; those after an RNR wait are not among them
	Timeouts      uint64
	DeadQPs       uint64
	Dammed        uint64 // requests that qp.damming lost
	Duplicates    uint64 // responses that changed nothing
	TCP           TCPStats
}

// NewRequester makes a requester whose QPs all begin at packet number psn.
// Packets come from pool. Spec errors are returned.
func NewRequester(e *clocked.Engine, name string, spec Spec, memory LocalMemory, psn uint32, pool *msg.Pool[msg.Packet]) (*Requester, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if memory.Entries == 0 || memory.Bytes == 0 {
		return nil, fmt.Errorf("%s: queue entries and data bytes must be positive", name)
	}
	r := &Requester{engine: e, name: name, spec: spec, memory: memory, pool: pool,
		mtu: uint32(spec.QP.MTU), qps: make([]sendQP, spec.QPs),
		out: newEgress(&spec), timers: newDeadlines(spec.QPs)}
	r.id = e.Register(r)
	var err error
	if spec.TCP != nil {
		r.protocol, err = newIWARPRequester(r, psn)
	} else {
		r.protocol, err = newRCRequester(r, psn)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// Connect gives the unit its wires.
func (r *Requester) Connect(p RequesterPorts) {
	r.Ports = p
	r.out.tx = p.Tx
}

// ID is the unit's identity in its engine.
func (r *Requester) ID() clocked.UnitID { return r.id }

// Name implements clocked.Unit.
func (r *Requester) Name() string { return r.name }

// Idle tells whether every request is completed and its entry written.
func (r *Requester) Idle() bool { return r.open == 0 && r.done.Len() == 0 && r.ops.used == 0 }

// Waits has a line for each QP that has something to do.
func (r *Requester) Waits() []string {
	var lines []string
	for i := range r.qps {
		if q := &r.qps[i]; q.sq.Len() > 0 {
			lines = append(lines, fmt.Sprintf("%s: QP %d %s", r.name, i, r.protocol.where(int32(i))))
		}
	}
	return lines
}

func timerAt(at clocked.Time) string {
	if at == clocked.Never {
		return "no timer"
	}
	return "timer at " + at.String()
}

// Tick implements clocked.Unit.
func (r *Requester) Tick(now clocked.Time) {
	for qp := r.timers.due(now); qp != none; qp = r.timers.due(now) {
		r.protocol.expire(now, qp)
	}
	r.finishDMA(now)
	r.protocol.receive(now)
	r.endBroken(now)
	r.complete(now)
	r.post(now)
	r.complete(now) // what post flushed
	r.send(now)
	r.readPayload(now) // after send, which makes room to read ahead
	r.timers.arm(now, r.engine, r.id)
}
