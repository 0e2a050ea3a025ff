package clocked

import "github.com/sarchlab/akita/v3/sim"

// runHooked shows hooks a unit's tick as an Akita event.
func (e *Engine) runHooked(u Unit) {
	_ = e.around(tickEvent{at: e.now, unit: u}, func() error { u.Tick(e.now); return nil })
}

func (e *Engine) around(ev sim.Event, run func() error) error {
	e.InvokeHook(sim.HookCtx{Domain: e, Pos: sim.HookPosBeforeEvent, Item: ev})
	err := run()
	e.InvokeHook(sim.HookCtx{Domain: e, Pos: sim.HookPosAfterEvent, Item: ev})
	return err
}

// tickEvent is how hooks see a unit's tick.
type tickEvent struct {
	at   Time
	unit Unit
}

func (t tickEvent) Time() sim.VTimeInSec { return t.at.Seconds() }
func (t tickEvent) Handler() sim.Handler { return unitHandler(t) }
func (t tickEvent) IsSecondary() bool    { return false }

type unitHandler tickEvent

func (h unitHandler) Name() string { return h.unit.Name() }
func (h unitHandler) Handle(ev sim.Event) error {
	h.unit.Tick(FromSeconds(ev.Time()))
	return nil
}
