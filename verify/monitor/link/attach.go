package link

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/platform"
	"rnicmmu/verify/rule"
)

// Monitor watches the links of a system.
type Monitor struct {
	directions []*direction
	units      []finisher
	lines      []pcie.Line
}

type finisher interface{ finish(now clocked.Time) }

// Attach puts monitors at every link of a system.
func Attach(s *platform.System, log *rule.Log) *Monitor {
	m := &Monitor{}
	var net *network
	var sw *bridge
	for _, l := range s.Links() {
		switch {
		case l.Upstream:
			net, sw = newNetwork(l.Up.Spec), &bridge{latency: l.Link.Switch.Latency()}
			up, down := m.watch(log, net, l)
			m.root(s, up, down)
			sw.join(down, up, host)
			m.units = append(m.units, sw)
		case l.Link.Switch != nil:
			up, down := m.watch(log, net, l)
			m.endpoint(s, up, down, l.Up)
			sw.join(up, down, l.Up.Spec.Adapter)
		default:
			own := newNetwork(l.Up.Spec)
			up, down := m.watch(log, own, l)
			m.endpoint(s, up, down, l.Up)
			m.root(s, up, down)
		}
	}
	for i, d := range m.directions {
		m.lines[i].Watch(d)
	}
	return m
}

// watch makes the monitors of a link's directions.
func (m *Monitor) watch(log *rule.Log, net *network, l platform.LinkInfo) (up, down *direction) {
	up, down = pair(log, net, l.Up, l.Down)
	m.directions = append(m.directions, up, down)
	m.lines = append(m.lines, l.Up, l.Down)
	return up, down
}

// endpoint watches the adapter's end of a link.
func (m *Monitor) endpoint(s *platform.System, up, down *direction, l pcie.Line) {
	u := &endpoint{id: l.Spec.Adapter, up: up, down: down, requests: newRequests(l.Spec)}
	up.net.add(u)
	up.writer, down.reader = u, u
	requests, answers := into[msg.DMA](s, l.Writer), outOf[msg.DMADone](s, l.Writer)
	u.unpaid = make([]int, len(requests))
	for i := range requests {
		requests[i].OnTaken(func(now clocked.Time, d *msg.DMA) { u.accept(now, d, i) })
		answers[i].OnSent(func(now clocked.Time, d *msg.DMADone) { u.answer(now, d, i) })
	}
	m.units = append(m.units, u)
}

// root watches the root port's end of a link.
func (m *Monitor) root(s *platform.System, up, down *direction) {
	u := &root{up: up, down: down, net: up.net}
	down.writer, up.reader = u, u
	name := m.lines[len(m.lines)-1].Writer
	for _, w := range into[msg.Doorbell](s, name) {
		w.OnTaken(u.ring)
	}
	for _, w := range into[msg.MemDone](s, name) {
		w.OnTaken(u.answer)
	}
	m.units = append(m.units, u)
}

// into are the wires of a message that lead to a unit, outOf those that come from
// it, in the order in which the system made them.
func into[T any](s *platform.System, unit string) (found []*clocked.Wire[T]) {
	for _, info := range s.Wires() {
		if w, ok := info.Wire.(*clocked.Wire[T]); ok && info.To == unit {
			found = append(found, w)
		}
	}
	return found
}

func outOf[T any](s *platform.System, unit string) (found []*clocked.Wire[T]) {
	for _, info := range s.Wires() {
		if w, ok := info.Wire.(*clocked.Wire[T]); ok && info.From == unit {
			found = append(found, w)
		}
	}
	return found
}

// settled is how long after a system has come to rest the last packets of the
// data link layer have left.
const settled = 200 * clocked.Microsecond

// Finish reports what is due at the end: at rest everything that was begun, else
// what should have happened by now.
func (m *Monitor) Finish(now clocked.Time, rest bool) {
	horizon := now
	if rest {
		horizon += settled
	}
	for _, l := range m.lines {
		l.Settle(horizon)
	}
	down := false
	for _, d := range m.directions {
		if down = down || now >= d.down; !down {
			d.finish(now, horizon, rest)
		}
	}
	for _, u := range m.units {
		if rest && !down {
			u.finish(now)
		}
	}
}

// finish reports what the direction should have done.
func (d *direction) finish(now, horizon clocked.Time, rest bool) {
	d.idle(now)
	d.overdue(horizon)
	d.unreturned(horizon)
	if n := d.inbox.len(); rest && n > 0 {
		d.log.Report(Left, now, "%s: %d TLPs were received and not taken", d.name, n)
	}
	if n := d.sequence.outstanding(); rest && d.sequence.due != d.sequence.next {
		d.log.Report(Left, now, "%s: %d TLPs are not acknowledged, and TLP %d has not arrived", d.name, n, d.sequence.due)
	}
}
