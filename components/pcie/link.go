package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// Link is an adapter's endpoint and the root port that it is connected to, over a
// switch or without one.
type Link struct {
	Endpoint *Endpoint
	Root     *RootPort
	Switch   *Switch // nil: none

	port int // of the switch
}

// New builds both ends of a link. clock is the adapter's clock domain, at whose
// edges the endpoint accepts DMAs. Both ends must be connected before the
// engine runs. It fails with Spec.Check's error.
func New(e *clocked.Engine, name string, spec Spec, clock clocked.Domain) (*Link, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	l := &Link{Endpoint: newEndpoint(name+".endpoint", spec, clock), Root: newRootPort(name+".root", spec)}
	l.Endpoint.register(e)
	l.Root.id = e.Register(l.Root)
	join(e, &spec, name, l.Root.end(), l.Endpoint.end())
	l.Endpoint.reserve(&spec)
	return l, nil
}

// Idle tells whether nothing is in flight at the adapter, on the way to it or from
// it.
func (l *Link) Idle() bool {
	return l.Endpoint.Idle() && l.Root.Idle() && (l.Switch == nil || l.Switch.Idle())
}

// Down are what is sent to the adapter on its own link.
func (l *Link) Down() Stats {
	if l.Switch == nil {
		return l.Root.Stats()
	}
	return l.Switch.Stats(l.port)
}

// end is what a unit has at its end of a link.
type end struct {
	unit    clocked.UnitID
	name    string
	sources int // of what it sends
	tx      *transmitter
	rx      *receiver
}

// join makes both directions of a link: upper is the end nearer to the root.
func join(e *clocked.Engine, s *Spec, name string, upper, lower end) {
	up := newLine(e, s, name+".up", true, &lower, &upper)
	down := newLine(e, s, name+".down", false, &upper, &lower)
	upper.init(e, s, name+".down", up, down, &s.Credits, &s.AdapterCredits)
	lower.init(e, s, name+".up", down, up, &s.AdapterCredits, &s.Credits)
	upper.tx.peer, lower.tx.peer = lower.name, upper.name
}

// init sets up an end that advertises its own credits and uses its peer's.
func (d *end) init(e *clocked.Engine, s *Spec, name string, in, out *line, own, peers *Credits) {
	*d.tx = transmitter{engine: e, unit: d.unit, out: out, in: in, window: 1, maxHeld: int64(s.ReplayBuffer.Bytes),
		maxTLPs: s.ReplayBuffer.TLPs, deadline: clocked.Never, recovery: s.Inject.Recovery, stall: stallNone, alarm: -1,
		timeout: clocked.Time(rules.Symbols(s.Gen, rules.ReplayLimit(s.Gen, s.Lanes, uint32(s.MPS)))), tags: 1, queues: newQueues(d.sources)}
	d.tx.queue = &d.tx.queues[0]
	d.tx.ends = make([]uint64, powerOfTwo(s.ReplayBuffer.TLPs))
	switch s.Pass {
	case PassAlways:
		d.tx.pass.always = true
	case PassRandom:
		d.tx.pass.random = clocked.NewStream(s.Seed, name+".pass")
	}
	if s.deep() {
		d.tx.window = window
	}
	*d.rx = receiver{in: in, out: out, ack: s.Ack.pace(s), update: s.Update.pace(s), tx: d.tx, together: s.UpdateAll}
	for p := range rules.NumPools {
		d.tx.credits[p] = rules.NewAccount(p, rules.Scale(s.Scale), uint32(peers.pools()[p]))
		d.rx.returns[p] = rules.NewAllocation(p, rules.Scale(s.Scale), uint32(own.pools()[p]))
		if class := msg.TLPType(p / 2); class != withheld[s.Inject.Withhold] {
			d.rx.finite[class] = d.rx.finite[class] || !d.rx.returns[p].Infinite()
		}
	}
}
