package clocked

import (
	"slices"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
)

// sendAt sends a note at each time and returns those that were accepted.
func sendAt(e *Engine, from, to *Port, times []Time) (accepted []*note) {
	for _, at := range times {
		e.Schedule(&stamped{sec: at.Seconds(), handler: call(func() {
			n := &note{MsgMeta: sim.MsgMeta{Src: from, Dst: to, SendTime: at.Seconds()}}
			if from.Send(n) == nil {
				accepted = append(accepted, n)
			}
		})})
	}
	if err := e.Run(); err != nil {
		panic(err)
	}
	return accepted
}

// A message sent at t arrives at the Cycles-th edge after t: with a period of
// 1250 ps and 3 cycles, one sent at 1300 arrives at 2500 + 2·1250 = 5000. A
// buffer of two takes two messages until then.
func TestConnectionLatency(t *testing.T) {
	sent := []Time{1250, 1300, 2499, 2500}
	for depth, arrival := range map[int][]Time{4: {5000, 5000, 5000, 6250}, 2: {5000, 5000}} {
		e := NewEngine()
		c := NewConnection(ConnectionSpec{Name: "Conn", Engine: e, Domain: NewDomain(800e6), Cycles: 3})
		from, to := NewPort(nil, 1, "From"), NewPort(nil, 4, "To")
		c.PlugIn(from, depth)
		c.PlugIn(to, 1)
		l := &posLog{}
		c.AcceptHook(l)
		accepted := sendAt(e, from, to, sent)
		if len(accepted) != len(arrival) || len(l.seen) != 2*len(arrival) {
			t.Fatalf("depth %d: %d accepted, %d hooks", depth, len(accepted), len(l.seen))
		}
		for i, n := range accepted {
			if n.RecvTime != arrival[i].Seconds() || to.Retrieve(1) != n {
				t.Errorf("depth %d: sent at %v, received at %v, want %v", depth, sent[i], n.RecvTime, arrival[i].Seconds())
			}
			if l.seen[i] != sim.HookPosConnStartSend || l.seen[len(arrival)+i] != sim.HookPosConnDeliver {
				t.Errorf("depth %d: hooks at %v", depth, l.seen)
			}
		}
	}
}

// flood is an Akita component that sends whenever it can.
type flood struct {
	*sim.TickingComponent
	port *Port
	to   sim.Port
	left int
}

func (f *flood) Tick(now sim.VTimeInSec) bool {
	if f.left == 0 || f.port.Send(&note{MsgMeta: sim.MsgMeta{Src: f.port, Dst: f.to, SendTime: now}}) != nil {
		return false
	}
	f.left--
	return true
}

// drain is an Akita component that takes one message every three cycles.
type drain struct {
	*sim.TickingComponent
	port  *Port
	cycle int
	from  []string
	most  int
}

func (d *drain) Tick(now sim.VTimeInSec) bool {
	d.cycle++
	d.most = max(d.most, d.port.count)
	if d.port.Peek() == nil {
		return false
	}
	if d.cycle%3 == 0 {
		d.from = append(d.from, d.port.Retrieve(now).Meta().Src.Name())
	}
	return true
}

// Three sources share a slow destination in strict rotation, nothing is lost,
// and no buffer exceeds its bound.
func TestConnectionIsFairAndBounded(t *testing.T) {
	for _, seed := range []uint64{0, 1, 2, 3} {
		e := NewEngine()
		if seed > 0 {
			e.Shuffle(seed)
		}
		c := NewConnection(ConnectionSpec{Name: "Conn", Engine: e, Domain: NewDomain(1e9), Cycles: 1})
		d := &drain{}
		d.TickingComponent = sim.NewTickingComponent("Drain", e, 1*sim.GHz, d)
		d.port = NewPort(d, 1, "Drain.Port")
		names := []string{"A", "B", "C"}
		for i, name := range names {
			f := &flood{left: 20, to: d.port}
			f.TickingComponent = sim.NewTickingComponent(name, e, 1*sim.GHz, f)
			f.port = NewPort(f, 1, name)
			c.PlugIn(f.port, 2)
			if i == 1 { // a destination among the sources takes no turn
				c.PlugIn(d.port, 1)
			}
			f.TickLater(0)
		}
		if err := e.Run(); err != nil {
			t.Fatal(err)
		}
		if len(d.from) != 60 || d.most != 1 {
			t.Fatalf("%d of 60 messages, at most %d held", len(d.from), d.most)
		}
		for i, name := range d.from {
			if name != names[i%3] {
				t.Fatalf("seed %d: message %d from %s in %v", seed, i, name, d.from)
			}
		}
	}
}

// A slot freed at an edge is served at the next one, even if the connection has
// something else to deliver at the first; the starved source is told once.
func TestConnectionServesFreedSlotAtNextEdge(t *testing.T) {
	e := NewEngine()
	c := NewConnection(ConnectionSpec{Name: "Conn", Engine: e, Domain: NewDomain(1e9), Cycles: 1})
	u := &metronome{e: e}
	owner := NewComponent(e, "Source", u, NewDomain(1e9))
	from, to, other := NewPort(owner, 1, "From"), NewPort(nil, 1, "To"), NewPort(nil, 1, "Other")
	for _, p := range []*Port{from, to, other} {
		c.PlugIn(p, 1)
	}
	var sent []*note
	send := func(src, dst *Port) call {
		return func() {
			n := &note{MsgMeta: sim.MsgMeta{Src: src, Dst: dst}}
			if src.Send(n) == nil {
				sent = append(sent, n)
			}
		}
	}
	at := func(t Time, do call) { e.Schedule(&stamped{sec: t.Seconds(), handler: do}) }
	at(500, send(from, to))   // arrives at 1000 and fills the port
	at(1500, send(from, to))  // is due at 2000
	at(1600, send(from, to))  // is refused: the buffer holds one
	at(3500, send(to, other)) // arrives at 4000
	at(4000, func() { to.Retrieve(Time(4000).Seconds()) })
	at(6100, func() { to.Retrieve(Time(6100).Seconds()) })
	at(6500, send(from, to)) // arrives at 7000
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	var arrived []sim.VTimeInSec
	for _, n := range sent {
		arrived = append(arrived, n.RecvTime)
	}
	if want := []sim.VTimeInSec{1e-9, 5e-9, 4e-9, 7e-9}; !slices.Equal(arrived, want) {
		t.Errorf("arrived at %v, want %v", arrived, want)
	}
	if !slices.Equal(u.ticks, []Time{6000}) { // freed at 5000, once
		t.Errorf("starved source woken at %v", u.ticks)
	}
}

func TestConnectionRefusesMisuse(t *testing.T) {
	e := NewEngine()
	mustPanic(t, "no latency", func() { NewConnection(ConnectionSpec{Engine: e, Domain: NewDomain(1e9)}) })
	mustPanic(t, "no clock", func() { NewConnection(ConnectionSpec{Engine: e, Cycles: 1}) })
	c := NewConnection(ConnectionSpec{Name: "Conn", Engine: e, Domain: NewDomain(1e9), Cycles: 1})
	p, other := NewPort(nil, 1, "P"), NewPort(nil, 1, "Other")
	mustPanic(t, "no buffer", func() { c.PlugIn(p, 0) })
	c.PlugIn(p, 1)
	mustPanic(t, "twice", func() { c.PlugIn(p, 1) })
	mustPanic(t, "unplug", func() { c.Unplug(p) })
	mustPanic(t, "unknown destination", func() { _ = c.Send(&note{MsgMeta: sim.MsgMeta{Src: p, Dst: other}}) })
}
