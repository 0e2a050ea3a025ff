package pcie

import (
	"slices"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
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
	memReq *clocked.Wire[msg.MemReq]
	done   *clocked.Wire[msg.MemDone]
	posted merge[msg.Doorbell]
	completer
	tx transmitter
	rx receiver

	bells    slots[bell]
	disabled []uint16 // adapters whose requests are dropped
	dropped  uint64   // of them
	refused  uint64   // requests for a window
}

// hostID is the root complex as a requester and completer.
const hostID = ^uint16(0)

// bell is an MMIO write or a message; offset of its size bytes are sent.
type bell struct {
	msg    msg.Doorbell
	offset uint32
	size   uint32
	pasid  uint32
}

// rootQueue is the number of answers, and of MMIO writes and messages, that the
// root port holds before the link: enough to keep it busy while a wire slot
// comes back.
const rootQueue = 16

func newRootPort(name string, spec Spec) *RootPort {
	u := &RootPort{name: name, bells: newSlots[bell](rootQueue), completer: completer{device: hostID, rcb: uint32(spec.RCB), mps: uint32(spec.MPS),
		split: splits[spec.SplitPolicy], short: uint32(spec.SplitShort), shape: shaping{spec.Gen, spec.ECRC}, answers: newSlots[completion](rootQueue)}}
	if u.split == rules.SplitRandom {
		u.random = clocked.NewStream(spec.Seed, name+".split")
	}
	return u
}

// end is the root port's end of its link.
func (u *RootPort) end() end { return end{u.id, u.name, 1, &u.tx, &u.rx} }

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
	s.Dropped, s.Refused = u.dropped, u.refused
	return s
}

// Tick does what is due at the root port: takes answers, MMIO writes and
// messages, hands requests to memory, and sends at most one TLP; into a link that
// is down, all there are. What disables the adapter comes before its requests of
// the same instant.
func (u *RootPort) Tick(now clocked.Time) {
	u.accept(now)
	u.receive(now)
	for more := true; more && u.transmit(now); more = u.tx.more(now) {
		u.accept(now) // the TLP may have left a queue place
	}
}

// receive hands requests to memory in the order of their arrival, or drops
// them.
func (u *RootPort) receive(now clocked.Time) {
	u.rx.arrive(now)
	for p := u.rx.oldest(); p != nil; p = u.rx.oldest() {
		switch {
		case slices.Contains(u.disabled, p.rule.Sender):
			u.dropped++
		case windowed(p):
			if !u.refuse(p) {
				return
			}
		case !u.memReq.Ready(now):
			return
		default:
			u.hand(now, p)
		}
		u.rx.drain(now, p.Type)
	}
}

// windowed tells whether a request is for an adapter: the root port takes none
// to a peer.
func windowed(p *packet) bool {
	_, _, ok := windowOf(p.PA)
	return ok && p.Kind != msg.KindMessage
}

// refuse ends a request that the root port does not serve; false: there is no
// room for the answer. A posted one is dropped.
func (u *RootPort) refuse(p *packet) bool {
	if p.Type == msg.NonPosted {
		if u.answers.full() {
			return false
		}
		d := unsupported(p)
		u.answer(&u.tx, &d)
	}
	u.refused++
	return true
}

// hand gives a request to memory.
func (u *RootPort) hand(now clocked.Time, p *packet) {
	if p.Ledger != nil {
		p.Ledger.Charge(p.arrival, measure.CausePCIe)
		p.Ledger.Charge(now, measure.CauseIIO)
	}
	*u.memReq.Push(now) = msg.MemReq{Write: p.Type == msg.Posted, Poisoned: p.Poisoned, Relaxed: p.Relaxed, Kind: p.Kind, Tag: p.Tag, Adapter: p.rule.Sender,
		Len: p.Len, PA: p.PA, Cookie: p.Cookie, Body: p.Body, Ledger: p.Ledger, Counts: p.Counts,
		Oracle: p.Oracle, Address: p.Address}
}

// accept queues MMIO writes, messages and answers while there is room. What
// disables the adapter needs none, as an adapter that takes nothing any more may
// leave none.
func (u *RootPort) accept(now clocked.Time) {
	for !u.bells.full() {
		m, w := u.posted.next(now)
		if m == nil {
			break
		}
		u.ring(now, m)
		w.Pop(now)
	}
	if w := u.posted.wires[0]; u.bells.full() {
		if m := w.Peek(now); m != nil && m.Disable {
			u.ring(now, m)
			w.Pop(now)
		}
	}
	for !u.answers.full() {
		m := u.done.Peek(now)
		if m == nil {
			break
		}
		u.answer(&u.tx, m)
		u.tx.offered(now, msg.Completion, m.Kind, nil)
		u.done.Pop(now)
	}
}

// ring queues an MMIO write or message for the link. One that disables the
// adapter is for the root port itself.
func (u *RootPort) ring(now clocked.Time, m *msg.Doorbell) {
	if m.Disable {
		u.disabled = append(u.disabled, m.Adapter)
		return
	}
	i, b := u.bells.take()
	*b = bell{msg: *m, size: m.Len}
	if m.Message {
		b.size, b.pasid = messageSize(m.Body)
	}
	o := u.tx.submit(msg.Posted, i)
	o.packet.Sender, o.packet.PASID = hostID, b.pasid
	u.part(o, b)
	if u.tx.direct != nil {
		u.tx.offered(now, msg.Posted, b.kind(), b.msg.Body)
	}
}

// kind is that of its TLPs.
func (b *bell) kind() msg.Kind {
	if b.msg.Message {
		return msg.KindMessage
	}
	return msg.KindDoorbell
}

// part fits an offer to what is left of an MMIO write or message. The adapter's
// registers lie above 4 GiB.
func (u *RootPort) part(o *offer, b *bell) {
	o.bytes = min(b.size-b.offset, combiningLine)
	u.shape.message(o, o.bytes, b.pasid)
}

// transmit sends the next TLP if the link is free and one may go.
func (u *RootPort) transmit(now clocked.Time) bool {
	c, ok := u.tx.grant(now)
	switch {
	case !ok:
		return false
	case c.class == msg.Posted:
		u.sendBell(now, c)
	default:
		u.sendCompletion(now, &u.tx, c)
	}
	return true
}

// sendBell sends the next MWr of an MMIO write, or its message; the last one is
// the doorbell.
func (u *RootPort) sendBell(now clocked.Time, c choice) {
	o := u.tx.chosen(c)
	i, n := o.place, o.bytes
	b := &u.bells.at[i]
	p := u.tx.place(c.class)
	*p = packet{TLP: msg.TLP{Type: msg.Posted, Kind: msg.KindDoorbell, Payload: n > 0, Len: n}}
	if b.msg.Message {
		p.Kind, p.to, p.client = msg.KindMessage, b.msg.Adapter, b.msg.Client
	} else {
		p.PA = Window(b.msg.Adapter, b.msg.Client) + model.PA(b.offset)
	}
	b.offset += n
	if b.offset == b.size {
		p.written = b.size
		p.Last, p.Cookie, p.Body, p.Ledger = true, b.msg.Cookie, b.msg.Body, b.msg.Ledger
	}
	u.tx.launch(now, c, p)
	if b.offset < b.size {
		u.part(o, b)
		return
	}
	u.tx.done(c)
	u.bells.give(i)
}
