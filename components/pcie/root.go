package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// RootPorts are the root port's connections. Message is nil on a host without an
// IOMMU.
type RootPorts struct {
	MMIO    *clocked.Wire[msg.Doorbell] // read by the root port, from software
	Message *clocked.Wire[msg.Doorbell] // read by the root port, from the IOMMU
	MemReq  *clocked.Wire[msg.MemReq]   // written by the root port
	MemDone *clocked.Wire[msg.MemDone]  // read by the root port, from memory or the IOMMU
}

// RootPort is the host's end of a link: it turns requests into memory
// transfers, answers into completions, and MMIO writes and messages into posted
// TLPs.
type RootPort struct {
	name   string
	id     clocked.UnitID
	rcb    uint32
	mps    uint32
	every  bool   // a completion for each boundary
	short  uint32 // longest read that gets one in any case
	memReq *clocked.Wire[msg.MemReq]
	done   *clocked.Wire[msg.MemDone]
	posted merge[msg.Doorbell]
	tx     transmitter
	rx     receiver

	answers  clocked.FIFO[completion]
	bells    clocked.FIFO[bell]
	disabled bool   // requests of the adapter are dropped
	dropped  uint64 // of them
}

// completion is the answer of memory to one request; offset bytes of it are sent.
type completion struct {
	done   msg.MemDone
	since  uint64
	offset uint32
}

// bell is an MMIO write or a message; offset of its size bytes are sent.
type bell struct {
	msg    msg.Doorbell
	since  uint64
	offset uint32
	size   uint32
	prefix uint8
}

// rootQueue is the number of answers, and of MMIO writes and messages, that the
// root port holds before the link: enough to keep it busy while a wire slot
// comes back.
const rootQueue = 16

func newRootPort(name string, spec Spec) *RootPort {
	return &RootPort{name: name, rcb: uint32(spec.RCB), mps: uint32(spec.MPS),
		every: spec.SplitPolicy == SplitRCB, short: uint32(spec.SplitShort)}
}

// Connect sets the root port's wires, once, before the engine runs.
func (u *RootPort) Connect(p RootPorts) {
	u.memReq, u.done = p.MemReq, p.MemDone
	u.posted.wires = [2]*clocked.Wire[msg.Doorbell]{p.MMIO, p.Message}
}

// ID is the root port's identity in the engine, for wires.
func (u *RootPort) ID() clocked.UnitID { return u.id }

// Name is the root port's name.
func (u *RootPort) Name() string { return u.name }

// Stats are what the root port has sent downstream.
func (u *RootPort) Stats() Stats {
	s := u.tx.stats
	s.Dropped = u.dropped
	return s
}

// Tick does what is due at the root port: takes answers, MMIO writes and
// messages, hands requests to memory, and sends at most one TLP. What disables
// the adapter comes before its requests of the same instant.
func (u *RootPort) Tick(now clocked.Time) {
	u.accept(now)
	u.receive(now)
	for u.transmit(now) {
		u.accept(now) // the TLP may have left a queue place
	}
}

// receive hands requests to memory in the order of their arrival, or drops
// them.
func (u *RootPort) receive(now clocked.Time) {
	for {
		class, p := msg.Posted, u.rx.in[msg.Posted].Peek(now)
		if r := u.rx.in[msg.NonPosted].Peek(now); r != nil && (p == nil || r.order < p.order) {
			class, p = msg.NonPosted, r
		}
		if p == nil {
			return
		}
		if u.disabled {
			u.dropped++
			u.rx.drain(now, class, carried(p))
			continue
		}
		if !u.memReq.Ready(now) {
			return
		}
		if p.Ledger != nil {
			p.Ledger.Charge(p.arrival, measure.CausePCIe)
		}
		*u.memReq.Push(now) = msg.MemReq{Write: class == msg.Posted, Kind: p.Kind, Tag: p.Tag, Len: p.Len,
			PA: p.PA, Cookie: p.Cookie, Body: p.Body, Ledger: p.Ledger, Counts: p.Counts,
			Oracle: p.Oracle, Address: p.Address}
		u.rx.drain(now, class, carried(p))
	}
}

// accept queues MMIO writes, messages and answers while there is room. What
// disables the adapter needs none, as an adapter that takes nothing any more may
// leave none.
func (u *RootPort) accept(now clocked.Time) {
	for u.bells.Len() < rootQueue {
		m, w := u.posted.next(now)
		if m == nil {
			break
		}
		u.ring(m)
		w.Pop(now)
	}
	if w := u.posted.wires[0]; u.bells.Len() == rootQueue {
		if m := w.Peek(now); m != nil && m.Disable {
			u.ring(m)
			w.Pop(now)
		}
	}
	for u.answers.Len() < rootQueue {
		m := u.done.Peek(now)
		if m == nil {
			break
		}
		*u.answers.Push() = completion{done: *m, since: u.tx.next()}
		u.done.Pop(now)
	}
}

// ring queues an MMIO write or message for the link. One that disables the
// adapter is for the root port itself.
func (u *RootPort) ring(m *msg.Doorbell) {
	if m.Disable {
		u.disabled = true
		return
	}
	b := u.bells.Push()
	*b = bell{msg: *m, since: u.tx.next(), size: m.Len}
	if m.Message {
		b.size, b.prefix = messageSize(m.Body)
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
		*o = offer{ready: true, payload: min(b.size-b.offset, combiningLine), prefix: b.prefix, since: b.since}
	}
	if o := &u.tx.offers[msg.Completion]; !o.ready && u.answers.Len() > 0 {
		c := u.answers.Front()
		*o = offer{ready: true, since: c.since}
		if c.done.Status == msg.StatusSuccess {
			o.payload = completionPiece(c.done.PA+model.PA(c.offset), c.done.Len-c.offset, u.rcb, u.mps, u.every || c.done.Len <= u.short)
		}
	}
}

// sendBell sends the next MWr of the oldest MMIO write, or its message; the
// last one is the doorbell.
func (u *RootPort) sendBell(now clocked.Time) {
	b := u.bells.Front()
	n := u.tx.offers[msg.Posted].payload
	kind := msg.KindDoorbell
	if b.msg.Message {
		kind = msg.KindMessage
	}
	p, _, _ := u.tx.launch(now, msg.Posted, kind)
	p.TLP = msg.TLP{Type: msg.Posted, Kind: kind, Payload: n > 0, Len: n}
	b.offset += n
	if b.offset < b.size {
		return
	}
	p.client, p.written = b.msg.Client, b.size
	p.Last, p.Cookie, p.Body, p.Ledger = true, b.msg.Cookie, b.msg.Body, b.msg.Ledger
	u.bells.Pop()
}

// sendCompletion sends the next CplD of the oldest answer, or the Cpl that ends
// a request without success.
func (u *RootPort) sendCompletion(now clocked.Time) {
	c := u.answers.Front()
	d := &c.done
	n := u.tx.offers[msg.Completion].payload
	p, _, _ := u.tx.launch(now, msg.Completion, d.Kind)
	p.TLP = msg.TLP{Type: msg.Completion, Kind: d.Kind, Stale: d.Stale, Status: d.Status, Payload: n > 0,
		Tag: d.Tag, Len: n, PA: d.PA + model.PA(c.offset)}
	c.offset += n
	if n > 0 && c.offset < d.Len {
		return
	}
	p.Last, p.Ledger, p.Entry = true, d.Ledger, d.Entry
	u.answers.Pop()
}
