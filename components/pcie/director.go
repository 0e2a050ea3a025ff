package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// Director is told what a link's ends send, and may hold some of it back: a
// directed test's view of the link.
type Director interface {
	// Offered is called when something is queued to be sent, once for all of its
	// TLPs. It returns until when it stays in the queue of its class, where the
	// ordering table holds: what may not pass it waits too. A time that is not
	// after now holds nothing.
	Offered(now clocked.Time, m Message) (until clocked.Time)
	// Sent is called when a TLP leaves for the first time. What it returns
	// happens to it, as pcie.inject.events has it; "" is nothing. The link's
	// pcie.inject must have errors of some kind, for else it has no replay.
	Sent(now clocked.Time, m Message, last bool) (damage string)
}

// Message is what is sent, as far as a director wants to know.
type Message struct {
	Adapter uint16
	Up      bool
	Class   msg.TLPType
	Kind    msg.Kind
	Body    any
}

// Direct gives both ends of an adapter's link a director, once, before the run.
// Behind a switch it sees the adapter's end alone.
func (l *Link) Direct(d Director) {
	adapter := l.Endpoint.device
	l.Endpoint.tx.directed(&direction{to: d, adapter: adapter, up: true})
	if l.Switch == nil {
		l.Root.tx.directed(&direction{to: d, adapter: adapter})
	}
}

func (t *transmitter) directed(d *direction) { t.direct, t.out.directed = d, true }

// direction is a director's hold on one end.
type direction struct {
	to      Director
	adapter uint16
	up      bool
	held    []heldOffer
}

// heldOffer is an offer that stays, by its number.
type heldOffer struct {
	since uint64
	until clocked.Time
}

// offered tells the director of the newest offer.
func (t *transmitter) offered(now clocked.Time, class msg.TLPType, kind msg.Kind, body any) {
	d := t.direct
	if d == nil {
		return
	}
	until := d.to.Offered(now, Message{Adapter: d.adapter, Up: d.up, Class: class, Kind: kind, Body: body})
	if until > now {
		d.held = append(d.held, heldOffer{t.queue.accepted, until})
		t.engine.Wake(t.unit, until)
	}
}

// holds tells whether an offer stays.
func (d *direction) holds(now clocked.Time, o *offer) bool {
	for _, h := range d.held {
		if h.since == o.since && h.until > now {
			return true
		}
	}
	return false
}

// leaves tells the director of a TLP that leaves, and does to it what it says.
func (t *transmitter) leaves(now clocked.Time, p *packet, body any) {
	d := t.direct
	m := Message{Adapter: d.adapter, Up: d.up, Class: p.Type, Kind: p.Kind, Body: body}
	what, known := eventNames[d.to.Sent(now, m, p.Last)]
	if f := t.out.fault; known && f != nil {
		f.events = append([]event{{tlp: f.sent + 1, what: what}}, f.events...)
	}
}
