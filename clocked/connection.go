package clocked

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"
)

// ConnectionSpec says how a connection is built.
type ConnectionSpec struct {
	Name   string
	Engine sim.Engine // ours or any other
	Domain Domain     // the clock at whose edges messages are delivered
	Cycles int        // from the edge after sending to delivery counts as 1; at least 1
}

// Connection is a registered crossbar between Akita ports: a message sent at t
// is delivered at the Cycles-th clock edge after t, or as soon after that as
// its destination has room. Each source port keeps its messages in order in a
// bounded buffer; each destination serves the sources in rotation.
//
//	port 0 ─▶ [buffer]─┐            ┌─▶ port 0
//	port 1 ─▶ [buffer]─┼─ crossbar ─┼─▶ port 1
//	port 2 ─▶ [buffer]─┘            └─▶ port 2
//
// Delivery is a secondary event: everything sent or retrieved at an instant is
// settled before, so neither the order of components within an instant nor
// that of plugging in other connections changes a result.
type Connection struct {
	sim.HookableBase

	name   string
	engine sim.Engine
	domain Domain
	extra  Time // of the latency beyond one cycle
	ends   []connEnd
	rank   map[sim.Port]int
	armed  Time // the earliest delivery outstanding
	spare  []*delivery
}

var _ sim.Connection = (*Connection)(nil)

// connEnd is a plugged-in port, as a source and as a destination.
type connEnd struct {
	port        sim.Port
	slots       []transit
	head, count int
	starved     bool // the port was told that it cannot send
	next        int  // as a destination: the first source in the rotation
	full        bool // as a destination: refused a message
	open        Time // as a destination: not served before
}

type transit struct {
	msg sim.Msg
	dst int
	at  Time
}

// delivery is the event of a connection; they are recycled.
type delivery struct {
	conn *Connection
	at   Time
}

func (d *delivery) Time() sim.VTimeInSec { return d.at.Seconds() }
func (d *delivery) Handler() sim.Handler { return d.conn }
func (d *delivery) IsSecondary() bool    { return true }

// NewConnection builds a connection without ports.
func NewConnection(s ConnectionSpec) *Connection {
	if s.Cycles < 1 || s.Domain.period < 1 {
		panic(fmt.Sprintf("clocked: connection %s: %d cycles of %d ps: at least 1 and 1 ps", s.Name, s.Cycles, s.Domain.period))
	}
	return &Connection{name: s.Name, engine: s.Engine, domain: s.Domain, extra: s.Domain.Cycles(s.Cycles - 1),
		rank: make(map[sim.Port]int), armed: Never}
}

// Name is the connection's name.
func (c *Connection) Name() string { return c.name }

// PlugIn connects a port and keeps a buffer for depth messages that it sends,
// at least one. The order of plugging in is the ports' rank.
func (c *Connection) PlugIn(p sim.Port, depth int) {
	if _, found := c.rank[p]; found || depth < 1 {
		panic(fmt.Sprintf("clocked: connection %s: port %s plugged in twice or with depth %d, at least 1", c.name, p.Name(), depth))
	}
	c.rank[p] = len(c.ends)
	c.ends = append(c.ends, connEnd{port: p, slots: make([]transit, depth)})
	p.SetConnection(c)
}

// Unplug does nothing but panic: messages to the port may be under way, and
// Akita defines no answer to that.
func (c *Connection) Unplug(p sim.Port) {
	panic(fmt.Sprintf("clocked: connection %s: port %s cannot be unplugged", c.name, p.Name()))
}

func (c *Connection) end(p sim.Port) int {
	i, found := c.rank[p]
	if !found {
		panic(fmt.Sprintf("clocked: connection %s: source or destination %v is not plugged in", c.name, p))
	}
	return i
}

// CanSend tells whether a port's buffer has room. When it has none, the port
// gets NotifyAvailable once it has.
func (c *Connection) CanSend(src sim.Port) bool {
	e := &c.ends[c.end(src)]
	if e.count == len(e.slots) {
		e.starved = true
		return false
	}
	return true
}

// Send takes a message at the engine's current time, or refuses it when the
// source's buffer is full.
func (c *Connection) Send(msg sim.Msg) *sim.SendError {
	m := msg.Meta()
	if !c.CanSend(m.Src) {
		return sendError
	}
	at := c.domain.Next(FromSeconds(c.engine.CurrentTime())) + c.extra
	e := &c.ends[c.end(m.Src)]
	e.slots[(e.head+e.count)%len(e.slots)] = transit{msg: msg, dst: c.end(m.Dst), at: at}
	e.count++
	c.invoke(sim.HookPosConnStartSend, msg)
	c.arm(at)
	return nil
}

// NotifyAvailable is a port's word that it has room again; it is served at the
// next clock edge.
func (c *Connection) NotifyAvailable(now sim.VTimeInSec, p sim.Port) {
	e := &c.ends[c.end(p)]
	e.full = false
	e.open = c.domain.Next(FromSeconds(now))
	c.arm(e.open)
}

func (c *Connection) arm(at Time) {
	if at >= c.armed {
		return
	}
	c.armed = at
	var d *delivery
	if n := len(c.spare); n > 0 {
		d, c.spare = c.spare[n-1], c.spare[:n-1]
	} else {
		d = &delivery{conn: c}
	}
	d.at = at
	c.engine.Schedule(d)
}

func (c *Connection) invoke(pos *sim.HookPos, msg sim.Msg) {
	if c.NumHooks() > 0 {
		c.InvokeHook(sim.HookCtx{Domain: c, Pos: pos, Item: msg})
	}
}
