package clocked

import "github.com/sarchlab/akita/v3/sim"

// Component lets a unit own Akita ports: a message that arrives, or a
// connection that can take one again, makes the unit tick at its next clock
// edge. The unit's Tick then uses the ports; what it leaves unconsumed it must
// wake itself for, as with wires.
type Component struct {
	sim.HookableBase
	*sim.PortOwnerBase

	name   string
	engine *Engine
	unit   Unit
	id     UnitID
	domain Domain
}

var _ sim.Component = (*Component)(nil)

// NewComponent registers a unit on an engine and makes it an Akita component
// in a clock domain (the zero Domain: any picosecond). The unit may embed the
// component. Akita's monitor and tracers expect names such as
// "Adapter.Responder[0]".
func NewComponent(e *Engine, name string, u Unit, d Domain) *Component {
	if d.period == 0 {
		d.period = 1
	}
	return &Component{PortOwnerBase: sim.NewPortOwnerBase(), name: name, engine: e, unit: u, id: e.Register(u), domain: d}
}

// Name is the component's name.
func (c *Component) Name() string { return c.name }

// ID is the unit's identity for Wake and for wires.
func (c *Component) ID() UnitID { return c.id }

// Handle ticks the unit for an Akita event, such as the tick event with which
// Akita systems are started, at the event's time or the clock edge after it.
func (c *Component) Handle(ev sim.Event) error {
	now := FromSeconds(ev.Time())
	if edge := c.domain.Edge(now); edge > now {
		c.engine.Wake(c.id, edge)
		return nil
	}
	c.unit.Tick(now)
	return nil
}

// NotifyRecv wakes the unit for a message that has arrived at a port.
func (c *Component) NotifyRecv(now sim.VTimeInSec, _ sim.Port) { c.wakeAfter(now) }

// NotifyPortFree wakes the unit because a port can send again.
func (c *Component) NotifyPortFree(now sim.VTimeInSec, _ sim.Port) { c.wakeAfter(now) }

func (c *Component) wakeAfter(now sim.VTimeInSec) {
	c.engine.Wake(c.id, c.domain.Next(FromSeconds(now)))
}
