package pcie

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// Switch joins the links of several adapters to one root port: it stores each TLP
// in the buffer of the port that it came by, and forwards it by its address or ID.
type Switch struct {
	name    string
	id      clocked.UnitID
	engine  *clocked.Engine
	latency clocked.Time

	ports    []switchPort // the first is the upstream port
	below    []uint16     // adapters of the others
	transits slots[transit]
	unrouted uint64
}

// switchPort is a port's end of its link. Its transmitter has a queue for each
// port.
type switchPort struct {
	name  string
	gen   int
	tx    transmitter
	rx    receiver
	alarm clocked.Time // when the unit is to tick for a TLP that came by this port
}

// transit is a TLP that has been routed and not yet sent. It holds its place in
// the buffer of the port that it came by.
type transit struct {
	packet packet
	from   int32
}

// upstream is the port that leads to the root port.
const upstream = 0

func newSwitch(e *clocked.Engine, name string, latency clocked.Time, adapters []uint16) *Switch {
	u := &Switch{name: name, engine: e, latency: latency, ports: make([]switchPort, 1+len(adapters)), below: adapters}
	for i := range u.ports {
		u.ports[i].name = fmt.Sprintf("%s.port%d", name, i)
	}
	u.id = e.Register(u)
	return u
}

// end is the switch's end of a port's link, of a generation.
func (u *Switch) end(port, gen int) end {
	p := &u.ports[port]
	p.gen = gen
	return end{u.id, p.name, len(u.ports), &p.tx, &p.rx}
}

// ID is the switch's identity in the engine.
func (u *Switch) ID() clocked.UnitID { return u.id }

// Name is the switch's name.
func (u *Switch) Name() string { return u.name }

// Upstream are what the switch has sent to the root port.
func (u *Switch) Upstream() Stats { return u.Stats(upstream) }

// Stats are what the switch has sent by a port: 0 is the upstream port, the others
// are in the order of the adapters.
func (u *Switch) Stats(port int) Stats { return u.ports[port].tx.stats }

// Unrouted counts TLPs that were for nobody and dropped.
func (u *Switch) Unrouted() uint64 { return u.unrouted }

// Tick takes what has arrived, routes what has been here for the latency, and
// sends at most one TLP on each free line.
func (u *Switch) Tick(now clocked.Time) {
	for i := range u.ports {
		u.receive(now, i)
	}
	for i := range u.ports {
		for u.transmit(now, i) && u.ports[i].tx.more(now) {
		}
	}
}

// receive offers the TLPs of a port to the ports that they leave by, in the order
// of their arrival.
func (u *Switch) receive(now clocked.Time, from int) {
	in := &u.ports[from]
	in.rx.arrive(now)
	for p := in.rx.oldest(); p != nil; p = in.rx.oldest() {
		if at := p.arrival + u.latency; at > now {
			if in.alarm != at {
				in.alarm = at
				u.engine.Wake(u.id, at)
			}
			return
		}
		to, ok := u.route(from, p)
		if !ok {
			u.unrouted++
			in.rx.drain(now, p.Type)
			continue
		}
		place, t := u.transits.extend()
		*t = transit{packet: *p, from: int32(from)}
		out := &u.ports[to]
		o := out.tx.queues[from].submit(p.Type, place)
		o.packet, o.credits = p.rule, p.credits
		o.wire = p.bytes - uint32(rules.FramingBytes(in.gen)) + uint32(rules.FramingBytes(out.gen))
		in.rx.take(now, p.Type)
	}
}

// route is the port that a TLP leaves by: messages and completions go by ID,
// requests by address; what is for no other adapter below goes to the root port.
// Not ok: it comes from there.
func (u *Switch) route(from int, p *packet) (to int, ok bool) {
	adapter := p.to
	switch {
	case p.Type == msg.Completion:
	case p.Kind != msg.KindMessage:
		if adapter, _, ok = windowOf(p.PA); !ok {
			return upstream, from != upstream
		}
	case from != upstream:
		return upstream, true
	}
	for i, below := range u.below {
		if below == adapter && i+1 != from {
			return i + 1, true
		}
	}
	return upstream, from != upstream
}

// transmit sends the next TLP by a port if its line is free and one may go, and
// frees the place that it had.
func (u *Switch) transmit(now clocked.Time, to int) bool {
	tx := &u.ports[to].tx
	c, ok := tx.grant(now)
	if !ok {
		return false
	}
	place := tx.chosen(c).place
	t := &u.transits.at[place]
	p := tx.place(c.class)
	*p = t.packet
	tx.launch(now, c, p)
	u.ports[t.from].rx.giveBack(now, c.class, t.packet.credits)
	tx.done(c)
	u.transits.give(place)
	return true
}

// Idle tells whether the switch holds nothing and nothing is on its way from it.
func (u *Switch) Idle() bool {
	for i := range u.ports {
		if p := &u.ports[i]; !p.rx.empty() || p.tx.flying() {
			return false
		}
	}
	return u.transits.used() == 0
}

// Waits lists what the switch waits for, a line each.
func (u *Switch) Waits() (out []string) {
	for i := range u.ports {
		out = append(out, u.ports[i].tx.waits(u.ports[i].name)...)
	}
	return out
}
