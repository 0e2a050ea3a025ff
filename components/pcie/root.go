package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// RootPorts are the root port's connections.
type RootPorts struct {
	MMIO    *clocked.Wire[msg.Doorbell] // read by the root port
	MemReq  *clocked.Wire[msg.MemReq]   // written by the root port
	MemDone *clocked.Wire[msg.MemDone]  // read by the root port
}

// RootPort is the host's end of a link: it turns requests into memory
// transfers, answers into completions and MMIO writes into posted TLPs.
type RootPort struct {
	name  string
	id    clocked.UnitID
	rcb   uint32
	mps   uint32
	every bool // a completion for each boundary
	ports RootPorts
	tx    transmitter
	rx    receiver

	answers clocked.FIFO[completion]
	bells   clocked.FIFO[bell]
}

// completion is the answer of memory to one request; offset bytes of it are sent.
type completion struct {
	done   msg.MemDone
	since  uint64
	offset uint32
}

// bell is an MMIO write; offset bytes of it are sent.
type bell struct {
	msg    msg.Doorbell
	since  uint64
	offset uint32
}

// rootQueue is the number of answers, and of MMIO writes, that the root port
// holds before the link: enough to keep it busy while a wire slot comes back.
const rootQueue = 16

func newRootPort(name string, spec Spec) *RootPort {
	return &RootPort{name: name, rcb: uint32(spec.RCB), mps: uint32(spec.MPS), every: spec.SplitPolicy == SplitRCB}
}

// Connect sets the root port's wires, once, before the engine runs.
func (u *RootPort) Connect(p RootPorts) { u.ports = p }

// ID is the root port's identity in the engine, for wires.
func (u *RootPort) ID() clocked.UnitID { return u.id }

// Name is the root port's name.
func (u *RootPort) Name() string { return u.name }

// Stats are what the root port has sent downstream.
func (u *RootPort) Stats() Stats { return u.tx.stats }

// Tick does what is due at the root port: hands requests to memory, takes
// answers and MMIO writes, and sends at most one TLP.
func (u *RootPort) Tick(now clocked.Time) {
	u.receive(now)
	u.accept(now)
	for u.transmit(now) {
		u.accept(now) // the TLP may have left a queue place
	}
}

// receive hands requests to memory in the order of their arrival.
func (u *RootPort) receive(now clocked.Time) {
	for {
		class, p := msg.Posted, u.rx.in[msg.Posted].Peek(now)
		if r := u.rx.in[msg.NonPosted].Peek(now); r != nil && (p == nil || r.order < p.order) {
			class, p = msg.NonPosted, r
		}
		if p == nil || !u.ports.MemReq.Ready(now) {
			return
		}
		if p.Ledger != nil {
			p.Ledger.Charge(p.arrival, measure.CausePCIe)
		}
		*u.ports.MemReq.Push(now) = msg.MemReq{Write: class == msg.Posted, Kind: p.Kind, Tag: p.Tag, Len: p.Len,
			PA: p.PA, Cookie: p.Cookie, Body: p.Body, Ledger: p.Ledger, Oracle: p.Oracle}
		u.rx.drain(now, class, carried(p))
	}
}

// accept queues MMIO writes and answers of memory while there is room.
func (u *RootPort) accept(now clocked.Time) {
	for u.bells.Len() < rootQueue {
		m := u.ports.MMIO.Peek(now)
		if m == nil {
			break
		}
		*u.bells.Push() = bell{msg: *m, since: u.tx.next()}
		u.ports.MMIO.Pop(now)
	}
	for u.answers.Len() < rootQueue {
		m := u.ports.MemDone.Peek(now)
		if m == nil {
			break
		}
		*u.answers.Push() = completion{done: *m, since: u.tx.next()}
		u.ports.MemDone.Pop(now)
	}
}

// transmit sends the next TLP if the link is free and one may go.
func (u *RootPort) transmit(now clocked.Time) bool {
	u.offer()
	class, ok := u.tx.grant(now)
	switch {
	case !ok:
		return false
	case class == msg.Posted:
		u.sendBell(now)
	default:
		u.sendCompletion(now)
	}
	return true
}

// offer shows the transmitter the front of both queues.
func (u *RootPort) offer() {
	if o := &u.tx.offers[msg.Posted]; !o.ready && u.bells.Len() > 0 {
		b := u.bells.Front()
		*o = offer{ready: true, payload: min(b.msg.Len-b.offset, combiningLine), since: b.since}
	}
	if o := &u.tx.offers[msg.Completion]; !o.ready && u.answers.Len() > 0 {
		c := u.answers.Front()
		n := completionPiece(c.done.PA+model.PA(c.offset), c.done.Len-c.offset, u.rcb, u.mps, u.every)
		*o = offer{ready: true, payload: n, since: c.since}
	}
}

// sendBell sends the next MWr of the oldest MMIO write; the last one is the
// doorbell.
func (u *RootPort) sendBell(now clocked.Time) {
	b := u.bells.Front()
	n := u.tx.offers[msg.Posted].payload
	p, _ := u.tx.launch(now, msg.Posted, msg.KindDoorbell)
	p.TLP = msg.TLP{Type: msg.Posted, Kind: msg.KindDoorbell, Payload: true, Len: n}
	b.offset += n
	if b.offset < b.msg.Len {
		return
	}
	p.client, p.written = b.msg.Client, b.msg.Len
	p.Last, p.Cookie, p.Body, p.Ledger = true, b.msg.Cookie, b.msg.Body, b.msg.Ledger
	u.bells.Pop()
}

// sendCompletion sends the next CplD of the oldest answer.
func (u *RootPort) sendCompletion(now clocked.Time) {
	c := u.answers.Front()
	d := &c.done
	n := u.tx.offers[msg.Completion].payload
	p, _ := u.tx.launch(now, msg.Completion, d.Kind)
	p.TLP = msg.TLP{Type: msg.Completion, Kind: d.Kind, Stale: d.Stale, Payload: true,
		Tag: d.Tag, Len: n, PA: d.PA + model.PA(c.offset)}
	c.offset += n
	if c.offset < d.Len {
		return
	}
	p.Last, p.Ledger = true, d.Ledger
	u.answers.Pop()
}
