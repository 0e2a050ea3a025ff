package clocked

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"
)

// Port is a bounded Akita port without locks. It plugs into any
// sim.Connection and belongs to any sim.Component.
//
// For a Component of this package the port is a register: the unit sees a
// message only at an instant later than its arrival, so that the order of
// arrival and tick within an instant cannot matter. Any other owner sees a
// message at once, as with Akita's own port.
type Port struct {
	sim.HookableBase

	name        string
	owner       sim.Component
	clock       *Engine // of an owner that sees registered messages, else nil
	conn        sim.Connection
	slots       []portSlot
	head, count int
	refused     bool // a connection waits for a free slot
}

type portSlot struct {
	msg     sim.Msg
	arrived Time
}

var _ sim.Port = (*Port)(nil)

var sendError = sim.NewSendError()

// NewPort makes a port that holds up to capacity received messages, at least
// one. The owner may be nil: nobody is then notified.
func NewPort(owner sim.Component, capacity int, name string) *Port {
	if capacity < 1 {
		panic(fmt.Sprintf("clocked: port %s: capacity %d, at least 1", name, capacity))
	}
	p := &Port{name: name, owner: owner, slots: make([]portSlot, capacity)}
	if c, ok := owner.(*Component); ok {
		p.clock = c.engine
	}
	return p
}

// Name is the port's name.
func (p *Port) Name() string { return p.name }

// SetConnection says which connection is plugged in; the connection's PlugIn
// calls it.
func (p *Port) SetConnection(c sim.Connection) { p.conn = c }

// Component is the port's owner.
func (p *Port) Component() sim.Component { return p.owner }

// CanSend tells whether the connection would take a message. When it would
// not, the owner gets NotifyPortFree once it does.
func (p *Port) CanSend() bool { return p.conn.CanSend(p) }

// Send gives a message to the connection. When it is refused, the owner gets
// NotifyPortFree once the connection can take one.
func (p *Port) Send(msg sim.Msg) *sim.SendError {
	if err := p.conn.Send(msg); err != nil {
		return err
	}
	p.invoke(sim.HookPosPortMsgSend, msg)
	return nil
}

// Recv takes a message from the connection, or refuses it when the port is
// full: the connection then gets NotifyAvailable once a slot is free.
func (p *Port) Recv(msg sim.Msg) *sim.SendError {
	if p.count == len(p.slots) {
		p.refused = true
		return sendError
	}
	p.invoke(sim.HookPosPortMsgRecvd, msg)
	s := &p.slots[(p.head+p.count)%len(p.slots)]
	p.count++
	s.msg = msg
	if p.clock != nil {
		s.arrived = p.clock.Now()
	}
	if p.owner != nil {
		p.owner.NotifyRecv(msg.Meta().RecvTime, p)
	}
	return nil
}

// NotifyAvailable is the connection's word that it can take messages again.
func (p *Port) NotifyAvailable(now sim.VTimeInSec) {
	if p.owner != nil {
		p.owner.NotifyPortFree(now, p)
	}
}

// Peek is the oldest message that the owner can see, or nil.
func (p *Port) Peek() sim.Msg {
	if p.count == 0 {
		return nil
	}
	s := &p.slots[p.head]
	if p.clock != nil && s.arrived >= p.clock.Now() {
		return nil
	}
	return s.msg
}

// Retrieve takes the message that Peek shows, or nil.
func (p *Port) Retrieve(now sim.VTimeInSec) sim.Msg {
	msg := p.Peek()
	if msg == nil {
		return nil
	}
	p.slots[p.head].msg = nil
	p.head = (p.head + 1) % len(p.slots)
	p.count--
	p.invoke(sim.HookPosPortMsgRetrieve, msg)
	if p.refused {
		p.refused = false
		p.conn.NotifyAvailable(now, p)
	}
	return msg
}

func (p *Port) invoke(pos *sim.HookPos, msg sim.Msg) {
	if p.NumHooks() > 0 {
		p.InvokeHook(sim.HookCtx{Domain: p, Pos: pos, Item: msg})
	}
}
