package clocked

import "github.com/sarchlab/akita/v3/sim"

// guest lets an Engine's units live on another engine: one event of the host
// engine stands for the earliest of ours.
type guest struct {
	engine *Engine
	host   sim.Engine
	armed  Time // the earliest host event outstanding; -1 while units run
}

// guestEvent is when something is due on a guest engine.
type guestEvent struct {
	guest *guest
	at    Time
}

func (e *guestEvent) Time() sim.VTimeInSec { return e.at.Seconds() }
func (e *guestEvent) Handler() sim.Handler { return e.guest }
func (e *guestEvent) IsSecondary() bool    { return false }

// Guest moves the engine's units onto host, Akita's own engine for instance.
// Call it before any Akita event is scheduled on e, and run host instead of e.
// Akita events scheduled on e then go to host, and so do end handlers.
func (e *Engine) Guest(host sim.Engine) {
	e.guest = &guest{engine: e, host: host, armed: Never}
	for _, h := range e.atEnd {
		host.RegisterSimulationEndHandler(h)
	}
	e.atEnd = nil
	e.guest.armNext()
}

func (g *guest) armNext() {
	if q := &g.engine.queue; q.count > 0 {
		g.arm(q.peek().at)
	}
}

func (g *guest) arm(at Time) {
	if at >= g.armed {
		return
	}
	g.armed = at
	g.host.Schedule(&guestEvent{guest: g, at: at})
}

// Handle runs everything that is due on the guest engine.
func (g *guest) Handle(ev sim.Event) error {
	at := ev.(*guestEvent).at
	if at != g.armed {
		return nil // an earlier wake took its place
	}
	g.armed = -1
	err := g.engine.RunUntil(at)
	g.armed = Never
	if err == nil && g.engine.control.request.Load()&wantStop == 0 {
		g.armNext()
	}
	return err
}
