package link

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
)

// bridge is a switch. Its first port leads to the root port.
type bridge struct {
	latency clocked.Time
	ports   []bridgePort
}

// bridgePort is a port of a switch: what comes by it and was not sent on.
type bridgePort struct {
	in, out *direction
	adapter uint16 // below it
	source  source
}

// join gives the switch its next port.
func (u *bridge) join(in, out *direction, adapter uint16) {
	in.reader, out.writer = u, u
	in.port, out.port = len(u.ports), len(u.ports)
	u.ports = append(u.ports, bridgePort{in: in, out: out, adapter: adapter})
}

// route is the port that a TLP leaves by: completions by requester, messages of
// the host by adapter, requests by address, all else to the root port; -1: none.
func (u *bridge) route(from int, p *pcie.Shown) int {
	adapter, named := p.To, p.Type == msg.Completion || p.Kind == msg.KindMessage && from == 0
	if p.Type != msg.Completion && p.Kind != msg.KindMessage {
		adapter, named = windowOf(p.PA)
	}
	for i := 1; named && i < len(u.ports); i++ {
		if u.ports[i].adapter == adapter && i != from {
			return i
		}
	}
	if from == 0 {
		return -1
	}
	return 0
}

func (u *bridge) accepted(now clocked.Time, d *direction, p *pcie.Shown) {
	to := u.route(d.port, p)
	if to < 0 {
		return
	}
	u.ports[d.port].source.add(p.Type, asked{kind: p.Kind, status: p.Status, rule: p.Rule, addr: p.Address, pa: p.PA, len: p.Len, limit: p.Len,
		cookie: p.Cookie, body: p.Body, ready: now + u.latency, egress: to, last: p.Last})
}

// drained is a TLP that the switch sends on later, but for those that are for
// nobody.
func (u *bridge) drained(now clocked.Time, d *direction, p *pcie.Shown) {
	if u.route(d.port, p) < 0 {
		d.release(now, p.Type, need(p))
	}
}

// forwarded tells whether a TLP is the one that came.
func forwarded(a *asked, p *pcie.Shown) bool {
	return a.kind == p.Kind && a.status == p.Status && a.rule == p.Rule && a.addr == p.Address && a.pa == p.PA && a.len == p.Len &&
		a.cookie == p.Cookie && a.body == p.Body && a.last == p.Last
}

// sent checks that a TLP is one that came by another port, for this one, and has
// been here for the latency.
func (u *bridge) sent(now clocked.Time, d *direction, p *pcie.Shown) {
	for i := range u.ports {
		from := &u.ports[i]
		a := from.source.find(p, forwarded)
		if a == nil {
			continue
		}
		if a.egress != d.port {
			d.log.Report(Routed, now, "%s: %s TLP %d (%v at %#x) is for port %d of the switch, and leaves by %d", d.name, classNames[p.Type], p.Seq, p.Kind, uint64(p.PA), a.egress, d.port)
		}
		if now < a.ready {
			d.log.Report(Routed, now, "%s: %s TLP %d leaves the switch %v too early", d.name, classNames[p.Type], p.Seq, a.ready-now)
		}
		from.source.leave(now, d, a, p, true)
		from.in.release(now, p.Type, need(p))
		return
	}
	d.stray(now, p)
}

func (u *bridge) waiting(d *direction) (since clocked.Time, what msg.TLPType, ok bool) {
	for i := range u.ports {
		if a, class := u.ports[i].source.waiting(d, d.port); a != nil && (!ok || a.ready < since) {
			since, what, ok = a.ready, class, true
		}
	}
	return since, what, ok
}

func (u *bridge) mayAsk(*direction, *asked) bool { return true }

func (u *bridge) finish(now clocked.Time) {
	for i := range u.ports {
		u.ports[i].in.unsent(now, &u.ports[i].source)
	}
}
