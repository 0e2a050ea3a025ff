package clocked

import (
	"slices"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
)

// posLog notes the positions at which hooks are called.
type posLog struct{ seen []*sim.HookPos }

func (l *posLog) Func(ctx sim.HookCtx) { l.seen = append(l.seen, ctx.Pos) }

// benchConn is a connection under a test's control.
type benchConn struct {
	*sim.HookableBase
	accept    bool
	available []sim.VTimeInSec
}

func (b *benchConn) CanSend(sim.Port) bool { return b.accept }
func (b *benchConn) Send(sim.Msg) *sim.SendError {
	if b.accept {
		return nil
	}
	return sim.NewSendError()
}
func (b *benchConn) PlugIn(p sim.Port, _ int) { p.SetConnection(b) }
func (b *benchConn) Unplug(sim.Port)          {}
func (b *benchConn) NotifyAvailable(now sim.VTimeInSec, _ sim.Port) {
	b.available = append(b.available, now)
}

func TestPortBoundsAndHooks(t *testing.T) {
	b := &benchConn{}
	p := NewPort(nil, 2, "Port")
	b.PlugIn(p, 1)
	l := &posLog{}
	p.AcceptHook(l)
	if p.CanSend() || p.Send(&note{}) == nil {
		t.Error("sent into a full connection")
	}
	b.accept = true
	if !p.CanSend() || p.Send(&note{}) != nil {
		t.Error("not sent")
	}
	first, second, third := &note{number: 1}, &note{number: 2}, &note{number: 3}
	if p.Recv(first) != nil || p.Recv(second) != nil || p.Recv(third) == nil || p.Recv(third) == nil {
		t.Error("a port of two must hold two")
	}
	if p.Peek() != first || p.Retrieve(7) != first || p.Retrieve(8) != second || p.Retrieve(9) != nil || p.Peek() != nil {
		t.Error("not first-in first-out")
	}
	if !slices.Equal(b.available, []sim.VTimeInSec{7}) {
		t.Errorf("connection told of room at %v, want once at 7", b.available)
	}
	want := []*sim.HookPos{sim.HookPosPortMsgSend, sim.HookPosPortMsgRecvd, sim.HookPosPortMsgRecvd,
		sim.HookPosPortMsgRetrieve, sim.HookPosPortMsgRetrieve}
	if !slices.Equal(l.seen, want) {
		t.Errorf("hooks at %v", l.seen)
	}
	mustPanic(t, "no capacity", func() { NewPort(nil, 0, "Port") })
}

// A unit's port is a register: a message is not seen within its instant.
func TestPortIsRegistered(t *testing.T) {
	e := NewEngine()
	m := &metronome{e: e}
	c := NewComponent(e, "Metronome", m, NewDomain(1e9))
	p := NewPort(c, 1, "Port")
	m.during = func(now Time) {
		switch now {
		case 1000: // also woken, at the very instant of the arrival
			if p.Peek() != nil || p.Retrieve(now.Seconds()) != nil {
				t.Error("seen within its instant")
			}
		case 2000:
			if p.Peek() == nil {
				t.Error("not seen at the next edge")
			}
		}
	}
	arrive := func() { _ = p.Recv(&note{MsgMeta: sim.MsgMeta{RecvTime: Time(1000).Seconds()}}) }
	e.Schedule(&stamped{sec: Time(1000).Seconds(), handler: call(arrive)})
	e.Wake(c.ID(), 1000)
	if err := e.Run(); err != nil || !slices.Equal(m.ticks, []Time{1000, 2000}) {
		t.Fatalf("ticks %v, error %v", m.ticks, err)
	}
}

type call func()

func (c call) Handle(sim.Event) error {
	c()
	return nil
}
