package pcie

import (
	"math/rand/v2"

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
	rcb    uint32
	mps    uint32
	split  rules.Split
	short  uint32     // longest read that is cut at each boundary in any case
	random *rand.Rand // nil but for random splits
	shape  shaping
	memReq *clocked.Wire[msg.MemReq]
	done   *clocked.Wire[msg.MemDone]
	posted merge[msg.Doorbell]
	tx     transmitter
	rx     receiver

	answers  slots[completion]
	bells    slots[bell]
	disabled bool   // requests of the adapter are dropped
	dropped  uint64 // of them
}

// completion is the answer of memory to one request; offset bytes of it are sent.
type completion struct {
	done   msg.MemDone
	offset uint32
}

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
	u := &RootPort{name: name, rcb: uint32(spec.RCB), mps: uint32(spec.MPS), split: splits[spec.SplitPolicy], short: uint32(spec.SplitShort),
		shape: shaping{spec.Gen, spec.ECRC}, answers: newSlots[completion](rootQueue), bells: newSlots[bell](rootQueue)}
	if u.split == rules.SplitRandom {
		u.random = newStream(spec.Seed, name+".split")
	}
	return u
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
	for more := true; more && u.transmit(now); more = u.tx.more(now) {
		u.accept(now) // the TLP may have left a queue place
	}
}

// receive hands requests to memory in the order of their arrival, or drops
// them.
func (u *RootPort) receive(now clocked.Time) {
	u.rx.arrive(now)
	for {
		class, p := msg.Posted, u.rx.first(msg.Posted)
		if r := u.rx.first(msg.NonPosted); r != nil && (p == nil || r.order < p.order) {
			class, p = msg.NonPosted, r
		}
		switch {
		case p == nil:
			return
		case u.disabled:
			u.dropped++
		case !u.memReq.Ready(now):
			return
		default:
			u.hand(now, p)
		}
		u.rx.drain(now, class)
	}
}

// hand gives a request to memory.
func (u *RootPort) hand(now clocked.Time, p *packet) {
	if p.Ledger != nil {
		p.Ledger.Charge(p.arrival, measure.CausePCIe)
		p.Ledger.Charge(now, measure.CauseIIO)
	}
	*u.memReq.Push(now) = msg.MemReq{Write: p.Type == msg.Posted, Poisoned: p.Poisoned, Relaxed: p.Relaxed, Kind: p.Kind, Tag: p.Tag, Len: p.Len,
		PA: p.PA, Cookie: p.Cookie, Body: p.Body, Ledger: p.Ledger, Counts: p.Counts,
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
		u.ring(m)
		w.Pop(now)
	}
	if w := u.posted.wires[0]; u.bells.full() {
		if m := w.Peek(now); m != nil && m.Disable {
			u.ring(m)
			w.Pop(now)
		}
	}
	for !u.answers.full() {
		m := u.done.Peek(now)
		if m == nil {
			break
		}
		i, c := u.answers.take()
		*c = completion{done: *m}
		o := u.tx.submit(msg.Completion, i)
		o.packet.Tag, o.packet.Relaxed = m.Tag, m.Relaxed
		u.piece(o, c)
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
	i, b := u.bells.take()
	*b = bell{msg: *m, size: m.Len}
	if m.Message {
		b.size, b.pasid = messageSize(m.Body)
	}
	o := u.tx.submit(msg.Posted, i)
	o.packet.PASID = b.pasid
	u.part(o, b)
}

// part fits an offer to what is left of an MMIO write or message. The adapter's
// registers lie above 4 GiB.
func (u *RootPort) part(o *offer, b *bell) {
	o.bytes = min(b.size-b.offset, combiningLine)
	u.shape.message(o, o.bytes, b.pasid)
}

// piece fits an offer to what is left of an answer.
func (u *RootPort) piece(o *offer, c *completion) {
	d := &c.done
	pa := d.PA + model.PA(c.offset)
	o.bytes = 0
	if d.Status == msg.StatusSuccess {
		var draw uint64
		if u.random != nil {
			draw = u.random.Uint64()
		}
		split := u.split
		if d.Len <= u.short {
			split = rules.SplitRCB
		}
		o.bytes = rules.CompletionPiece(pa, d.Len-c.offset, u.rcb, u.mps, split, draw)
	}
	u.shape.completion(o, pa, o.bytes)
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
		u.sendCompletion(now, c)
	}
	return true
}

// sendBell sends the next MWr of an MMIO write, or its message; the last one is
// the doorbell.
func (u *RootPort) sendBell(now clocked.Time, c choice) {
	o := u.tx.chosen(c)
	i, n := o.place, o.bytes
	b := &u.bells.at[i]
	kind := msg.KindDoorbell
	if b.msg.Message {
		kind = msg.KindMessage
	}
	p := u.tx.place(c.class)
	*p = packet{TLP: msg.TLP{Type: msg.Posted, Kind: kind, Payload: n > 0, Len: n}}
	b.offset += n
	if b.offset == b.size {
		p.client, p.written = b.msg.Client, b.size
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

// sendCompletion sends the next CplD of an answer, or the Cpl that ends a
// request without success.
func (u *RootPort) sendCompletion(now clocked.Time, c choice) {
	o := u.tx.chosen(c)
	i, n := o.place, o.bytes
	a := &u.answers.at[i]
	d := &a.done
	p := u.tx.place(c.class)
	*p = packet{TLP: msg.TLP{Type: msg.Completion, Kind: d.Kind, Stale: d.Stale, Status: d.Status, Payload: n > 0,
		Relaxed: d.Relaxed, Tag: d.Tag, Len: n, PA: d.PA + model.PA(a.offset)}}
	a.offset += n
	last := n == 0 || a.offset == d.Len
	if last {
		p.Last, p.Ledger, p.Entry = true, d.Ledger, d.Entry
	}
	u.tx.launch(now, c, p)
	if !last {
		u.piece(o, a)
		return
	}
	u.tx.done(c)
	u.answers.give(i)
}
