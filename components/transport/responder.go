package transport

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/cache"
)

// ResponderPorts are the wires of a Responder; the platform builds them.
type ResponderPorts struct {
	Rx          *clocked.Wire[*msg.Packet]     // read
	Tx          *clocked.Wire[*msg.Packet]     // written
	Translate   *clocked.Wire[msg.Translate]   // written
	Translation *clocked.Wire[msg.Translation] // read
	Release     *clocked.Wire[msg.Release]     // written
	DMA         *clocked.Wire[msg.DMA]         // written
	DMADone     *clocked.Wire[msg.DMADone]     // read
}

// RecvBuffers is the ring of receive buffers of a QP, one behind the other.
type RecvBuffers struct {
	Key   uint32
	PD    uint32   // of the QP: keys are checked against it
	VA    model.VA // of the first buffer
	Len   uint32   // bytes of one buffer
	Count int      // 0: SENDs meet RNR NAKs
	Page  uint32   // dense number of the process page at VA, or msg.NoPage
}

// HostMemory says where the host holds the adapter's queues and contexts.
type HostMemory struct {
	QPC     model.PA // QP contexts
	RQ, CQ  model.PA // receive and completion queues: Entries × 64 B a QP
	Backup  model.PA // backup ring: adapter.backup_entries × qp.mtu
	Entries uint32
}

// Responder is the receive side of the host's adapter.
type Responder struct {
	Ports ResponderPorts
	Stats ResponderStats
	Lose  Lose // nil: the network loses nothing

	protocol receiveProtocol
	engine   *clocked.Engine
	id       clocked.UnitID
	name     string
	spec     Spec
	memory   HostMemory
	buffers  []RecvBuffers
	pool     *msg.Pool[msg.Packet]
	mtu      uint32
	per      translatePer
	ackAt    ackPoint
	hold     bool // absent pages: the packet waits
	drop     bool // a full receive buffer drops

	qps        []recvQP
	context    *cache.Cache
	out        egress
	timers     deadlines
	waiting    slab[node] // packets in the receive buffer, behind the pipeline
	used       int64      // bytes of it
	paused     bool
	pausedAt   clocked.Time
	pipe       clocked.FIFO[arrival]
	holds      clocked.FIFO[hold]  // translations held between packets, until
	translates clocked.FIFO[int32] // QPs that want the Translate wire
	transfers  clocked.FIFO[int32] // QPs that want the DMA wire
	sending    clocked.FIFO[int32] // QPs whose oldest reply is ready
	releases   clocked.FIFO[uint32]
	replies    slab[reply]
	handles    slab[handle]
	ops        ops[recvOp]
	ring       backupRing

	linkAlarm, pipeAlarm, holdAlarm clocked.Time // what each has asked the engine for last
}

// arrival is a packet in the receive pipeline.
type arrival struct {
	packet *msg.Packet
	qp     int32
	bytes  int64        // of the receive buffer
	at     clocked.Time // the pipeline is passed
}

// hold is how long a translation of a QP is held.
type hold struct {
	until clocked.Time
	qp    int32
}

// ResponderStats counts since the start.
type ResponderStats struct {
	Packets       uint64 // taken from the network
	BackedUp      uint64 // pieces of packets put into the backup ring
	BackupFull    uint64 // RNR NAKs because it was full; they count by class too
	BackupLost    uint64 // entries whose page or key was gone for good
	BackupPeak    int    // entries
	Flooded       uint64 // READs refused because of qp.flood; they count by class too
	Messages      uint64 // requests executed
	RNRMoving     uint64 // RNR NAKs by what made them necessary
	RNRAbsent     uint64
	RNRNoReceive  uint64
	RNRSent       uint64 // of all these, those that left: a READ's behind another NAK do not
	SequenceNaks  uint64
	Dropped       uint64 // by rule: out of order, behind an RNR NAK, in error
	RxDrops       uint64 // the receive buffer was full
	Duplicates    uint64
	ContextMisses uint64
	ContextWrites uint64 // dirty contexts written back
	ContextErrors uint64 // contexts that could not be read: each ends its QP without a word
	Pauses        uint64
	PausedTime    clocked.Time
	BufferPeak    int64  // bytes
	Revoked       uint64 // held translations given back on demand
	KillsRefused  uint64 // SENDs whose key to invalidate was not valid: each ends its QP
	StaleReads    uint64 // reads served by a frame that did not hold the page meant
	TCP           TCPStats
}

// NewResponder makes a responder; buffers has one entry a QP, and the QPs begin
// at packet number psn. Packets come from pool. Spec errors are returned.
func NewResponder(e *clocked.Engine, name string, spec Spec, memory HostMemory, buffers []RecvBuffers, psn uint32, pool *msg.Pool[msg.Packet]) (*Responder, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(buffers) != spec.QPs || memory.Entries == 0 {
		return nil, fmt.Errorf("%s: receive buffers for %d QPs of %d, queues of %d entries", name, len(buffers), spec.QPs, memory.Entries)
	}
	context, err := cache.New(cache.Geometry{Entries: spec.Adapter.QPCEntries, Ways: spec.Adapter.QPCWays, Line: 1, Policy: cache.LRU})
	if err != nil {
		return nil, fmt.Errorf("%s: adapter.qpc_entries and qpc_ways: %w", name, err)
	}
	per, _ := choice("translate_per", spec.TranslatePer, translateNames)
	at, _ := choice("qp.ack_point", spec.QP.AckPoint, ackPointNames)
	r := &Responder{engine: e, name: name, spec: spec, memory: memory, buffers: buffers, pool: pool,
		mtu: uint32(spec.QP.MTU), per: translatePer(per), ackAt: ackPoint(at),
		hold: spec.QP.FaultResponse == "hold", drop: spec.Adapter.RxFull == "drop",
		ring: newBackupRing(&spec), context: context, out: newEgress(&spec), timers: newDeadlines(spec.QPs),
		qps: make([]recvQP, spec.QPs)}
	for i := range r.qps {
		r.qps[i] = recvQP{head: none, tail: none, held: none, open: none, replyHead: none, replyTail: none}
		r.qps[i].repost = make([]clocked.Time, max(0, buffers[i].Count))
	}
	r.id = e.Register(r)
	if spec.TCP != nil {
		r.protocol, err = newIWARPResponder(r, psn)
	} else {
		r.protocol, err = newRCResponder(r, psn)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// Connect gives the unit its wires.
func (r *Responder) Connect(p ResponderPorts) {
	r.Ports = p
	r.out.tx = p.Tx
}

// ID is the unit's identity in its engine.
func (r *Responder) ID() clocked.UnitID { return r.id }

// Name implements clocked.Unit.
func (r *Responder) Name() string { return r.name }

// Idle tells whether no packet, reply or transfer is in flight. A translation
// may still be held for the rest of a message whose sender has given up, or
// with iWARP a response begun for a request that never comes again.
func (r *Responder) Idle() bool {
	return r.pipe.Len() == 0 && r.waiting.used == 0 && r.replies.used == r.protocol.parked() && r.ops.used == 0 && r.releases.Len() == 0 && r.ring.idle()
}

// DropsOutstanding is the segments of iWARP that were dropped for their pages
// and have not come again: TCP.Drops… = TCP.Returned + DropsOutstanding().
func (r *Responder) DropsOutstanding() (n uint64) {
	if t, ok := r.protocol.(*iwarpResponder); ok {
		for i := range t.streams {
			if t.streams[i].dropped {
				n++
			}
		}
	}
	return n
}

// Waits has a line for each QP that has something to do.
func (r *Responder) Waits() []string {
	var lines []string
	if r.paused {
		lines = append(lines, fmt.Sprintf("%s: receive buffer full (%d bytes) since %v", r.name, r.used, r.pausedAt))
	}
	if !r.ring.idle() {
		lines = append(lines, fmt.Sprintf("%s: %s", r.name, r.ring.String()))
	}
	for i := range r.qps {
		q := &r.qps[i]
		if q.stage != stageIdle {
			lines = append(lines, fmt.Sprintf("%s: QP %d PSN %d %s at va %#x since %v", r.name, i,
				q.packet.PSN, q.stage, uint64(r.address(q)), q.since))
		}
		if q.silent {
			lines = append(lines, fmt.Sprintf("%s: QP %d has stopped without a word: its context could not be read; its peer tries again qp.retry times, without end if that is 7", r.name, i))
		}
		if q.replyHead != none {
			lines = append(lines, fmt.Sprintf("%s: QP %d holds %d replies", r.name, i, q.replies))
		}
	}
	return lines
}

// Tick implements clocked.Unit.
func (r *Responder) Tick(now clocked.Time) {
	for qp := r.timers.due(now); qp != none; qp = r.timers.due(now) {
		r.protocol.expire(now, qp)
	}
	r.finishDMA(now)
	r.takeTranslations(now)
	r.endHolds(now)
	for moved := true; moved; { // what one frees, another can use at once
		moved = r.accept(now)
		moved = r.startChecks(now) || moved
		moved = r.useWires(now) || moved
	}
	r.timers.arm(now, r.engine, r.id)
}

// wakeAt sets a timer, once for each time that an alarm is asked for.
func (r *Responder) wakeAt(alarm *clocked.Time, at clocked.Time) {
	if *alarm != at {
		*alarm = at
		r.engine.Wake(r.id, at)
	}
}

// useWires serves those who wait for a shared wire, in their order, and tells
// whether anything moved.
func (r *Responder) useWires(now clocked.Time) bool {
	moved := false
	if !r.ring.idle() {
		moved = r.merge(now)
	}
	for r.translates.Len() > 0 && r.Ports.Translate.Ready(now) {
		r.askTranslation(now, r.translates.Pop())
		moved = true
	}
	for r.transfers.Len() > 0 && r.Ports.DMA.Ready(now) {
		r.transfer(now, r.transfers.Pop())
		moved = true
	}
	for r.releases.Len() > 0 && r.Ports.Release.Ready(now) {
		*r.Ports.Release.Push(now) = msg.Release{Handle: r.releases.Pop()}
		moved = true
	}
	return r.send(now) || moved
}
