package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// Watcher is shown what passes on one direction of a link. It may change
// nothing, and what it is shown is its own only while it looks. A direction
// without watchers pays a comparison where a TLP is sent, where it arrives and
// where it is taken. Packets of the data link layer are shown when either end
// works out what has left, with the times at which they did.
type Watcher interface {
	// Sent is a TLP that goes onto the line at now, for the first time or again;
	// its last byte has left at end.
	Sent(now, end clocked.Time, p *Shown, again bool)
	// Arrived is a TLP whose last byte is there, and what became of it.
	Arrived(now clocked.Time, a *Arrival)
	// Drained is a TLP that the unit has taken out of the receive buffer: a switch
	// to send it on, which keeps its place until then, another to use it.
	Drained(now clocked.Time, p *Shown)
	// Departed is a packet of the data link layer that took the line at start, to be
	// there at arrival unless it was lost.
	Departed(start, arrival clocked.Time, d *DLLP, lost bool)
	// Collected is a packet of the data link layer that the other end heeds.
	Collected(now clocked.Time, d *DLLP)
	// Held is that the line stands still until then, as the link retrains.
	Held(now, until clocked.Time)
}

// Shown is a TLP as a watcher sees it.
type Shown struct {
	*msg.TLP
	Rule    rules.Packet // attributes, Requester or Completer ID; of a completion the transaction
	Seq     uint16
	To      uint16 // completions and messages to adapters: the adapter
	Bytes   uint32 // on the wire
	Credits uint32 // of data that it took
}

// Arrival is what comes off a line.
type Arrival struct {
	Seq      uint16
	Damaged  bool   // it does not pass its check
	Framing  bool   // with it the boundaries of what follows are lost: the link retrains
	Accepted *Shown // nil: it was dropped
}

// DLLP is a packet of the data link layer.
type DLLP struct {
	Kind         DLLPKind
	Class        msg.TLPType // UpdateFC
	Seq          uint16      // Ack, Nak
	Header, Data uint16      // UpdateFC: fields of both counters
}

// DLLPKind is what a packet of the data link layer is.
type DLLPKind uint8

// Kinds.
const (
	Nak DLLPKind = iota
	Ack
	UpdateFC
)

// Line is one direction of a link, to be watched.
type Line struct {
	Name           string
	Spec           *Spec  // of the link, with the credits that its ends advertise
	Writer, Reader string // the units at its ends, of a switch with the port
	line           *line
}

// Directed tells whether a Director may keep TLPs from it that could go.
func (l Line) Directed() bool { return l.line.directed }

// Watch shows a watcher all that passes from now on.
func (l Line) Watch(w Watcher) {
	if l.line.watch == nil {
		l.line.watch = &watching{}
	}
	l.line.watch.all = append(l.line.watch.all, w)
}

// Settle works out what has left by then, which may be later than now in a system
// at rest.
func (l Line) Settle(until clocked.Time) { l.line.settle(until) }

// Lines are both directions of the adapter's own link.
func (l *Link) Lines() (up, down Line) { return lines(&l.Endpoint.tx) }

// Lines are both directions of the link between the switch and its root port.
func (u *Switch) Lines() (up, down Line) { return lines(&u.ports[upstream].tx) }

// Latency is that of Spec.
func (u *Switch) Latency() clocked.Time { return u.latency }

// lines are both directions of a link by the transmitter of its lower end.
func lines(t *transmitter) (up, down Line) {
	up = Line{Name: t.out.name, Spec: t.out.spec, Writer: t.out.ends[0], Reader: t.out.ends[1], line: t.out}
	down = Line{Name: t.in.name, Spec: t.in.spec, Writer: t.in.ends[0], Reader: t.in.ends[1], line: t.in}
	return up, down
}

// watching are a line's watchers, with what they are shown.
type watching struct {
	all     []Watcher
	tlp     Shown
	arrival Arrival
	packet  DLLP
}

func (w *watching) show(p *packet) *Shown {
	w.tlp = Shown{TLP: &p.TLP, Rule: p.rule, Seq: p.seq, To: p.to, Bytes: p.bytes, Credits: p.credits}
	return &w.tlp
}

func (w *watching) sent(now, end clocked.Time, p *packet, again bool) {
	s := w.show(p)
	for _, o := range w.all {
		o.Sent(now, end, s, again)
	}
}

// arrived shows what came; kept is where the TLP is if it was accepted.
func (w *watching) arrived(now clocked.Time, f *flying, kept *packet) {
	w.arrival = Arrival{Seq: f.seq, Damaged: f.damage == damageCorrupt, Framing: f.damage == damageFraming}
	if kept != nil {
		w.arrival.Accepted = w.show(kept)
	}
	for _, o := range w.all {
		o.Arrived(now, &w.arrival)
	}
}

func (w *watching) drained(now clocked.Time, p *packet) {
	s := w.show(p)
	for _, o := range w.all {
		o.Drained(now, s)
	}
}

func (w *watching) departed(start, arrival clocked.Time, k dllpKind, b *dllpBody, lost bool) {
	d := w.translate(k, b)
	for _, o := range w.all {
		o.Departed(start, arrival, d, lost)
	}
}

func (w *watching) collected(now clocked.Time, d *dllp) {
	if d.kind == dllpTrain {
		return
	}
	s := w.translate(d.kind, &d.body)
	for _, o := range w.all {
		o.Collected(now, s)
	}
}

func (w *watching) held(now, until clocked.Time) {
	for _, o := range w.all {
		o.Held(now, until)
	}
}

func (w *watching) translate(k dllpKind, b *dllpBody) *DLLP {
	w.packet = DLLP{Seq: b.seq, Header: b.header, Data: b.data}
	switch k {
	case dllpNak:
	case dllpAck:
		w.packet.Kind = Ack
	default:
		w.packet.Kind, w.packet.Class = UpdateFC, msg.TLPType(k-dllpUpdate)
	}
	return &w.packet
}
