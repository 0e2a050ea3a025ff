package clocked

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"
)

// Unit is a piece of hardware: Tick does everything that is visible at now.
// It may be called when there is nothing to do and must then change nothing.
type Unit interface {
	Name() string
	Tick(now Time)
}

// UnitID names a registered unit within its engine.
type UnitID int32

type slot struct {
	unit   Unit
	queued Time // the last instant for which a wake was queued
	ticked Time
	last   bool
}

// Engine runs units and Akita events in time order; equal times run in the
// order in which they were scheduled, Akita's secondary events last.
type Engine struct {
	*sim.HookableBase

	now     Time // of the event in progress or the last one; -1 before the first
	nowSec  sim.VTimeInSec
	seq     uint64
	shuffle uint64
	queue   eventQueue
	foreign foreignHeap
	slots   []slot
	guest   *guest
	watched []watched // wires with messages that were pushed in the tick in progress and that somebody watches
	limit   Time      // of the run in progress
	atEnd   []sim.SimulationEndHandler
	control control
}

var _ sim.Engine = (*Engine)(nil)

// NewEngine makes an empty engine at time 0.
func NewEngine() *Engine {
	e := &Engine{HookableBase: sim.NewHookableBase(), now: -1}
	e.queue.init()
	e.control.changed.L = &e.control.mu
	return e
}

// Shuffle makes events of equal time run in a pseudo-random order instead of
// first-in first-out. Results must not change: hardware has no tick order.
// Call it before the run.
func (e *Engine) Shuffle(seed uint64) { e.shuffle = seed | 1 }

// Register adds a unit and returns its identity for Wake and for wires. An
// engine holds up to 2^20 units.
func (e *Engine) Register(u Unit) UnitID {
	if len(e.slots) == maxUnits {
		panic(fmt.Sprintf("clocked: unit %s: an engine holds at most %d units", u.Name(), maxUnits))
	}
	e.slots = append(e.slots, slot{unit: u, queued: -1, ticked: -1})
	return UnitID(len(e.slots) - 1)
}

// Now is the current time in picoseconds: that of the event in progress, or of
// the last one when the engine is at rest.
func (e *Engine) Now() Time {
	if e.guest != nil {
		return FromSeconds(e.guest.host.CurrentTime())
	}
	return max(e.now, 0)
}

// CurrentTime is Now in Akita's float seconds, exactly the time of the event
// in progress. Like Now it belongs to the goroutine that runs the engine.
func (e *Engine) CurrentTime() sim.VTimeInSec {
	if e.guest != nil {
		return e.guest.host.CurrentTime()
	}
	if e.nowSec >= 0 {
		return e.nowSec
	}
	return e.Now().Seconds()
}

// Wake makes the unit tick at the given time. Before the first event that may
// be any time from 0 on; afterwards it must be later than now: a message or
// timer is never seen within its own instant.
func (e *Engine) Wake(id UnitID, at Time) {
	s := &e.slots[id]
	if at <= e.now {
		panic(fmt.Sprintf("clocked: %s woken at %v, not after %v", s.unit.Name(), at, e.now))
	}
	if at == s.queued {
		return
	}
	s.queued = at
	e.queue.push(newEvent(at, e.order(s.last), id))
	if e.guest != nil {
		e.guest.arm(at)
	}
}

// Last makes a unit tick after all others of an instant, under Shuffle too. It is
// for hardware that reads memory which software writes, where no wire between
// the two decides what is seen first.
func (e *Engine) Last(id UnitID) { e.slots[id].last = true }

// order is the place of the next event among those of equal time, in 44 bits.
// The top one is for what comes last; the others are enough for three days at
// 30 million events a second.
func (e *Engine) order(last bool) (place uint64) {
	const top = 1 << (orderBits - 1)
	e.seq++
	place = e.seq
	if e.shuffle != 0 {
		place = mix(e.seq^e.shuffle) >> unitBits
	}
	place &= top - 1
	if last {
		place |= top
	}
	return place
}

// Run processes events until none is left or Stop is called.
func (e *Engine) Run() error { return e.RunUntil(Never) }

// RunUntil processes all events up to and including time limit. It returns the
// error of the first Akita event whose handler fails.
func (e *Engine) RunUntil(limit Time) error {
	e.limit = limit
	for {
		if e.control.request.Load() != 0 && e.control.hold() {
			return nil
		}
		if len(e.foreign) > 0 && e.foreignFirst() {
			if e.foreign[0].at > e.limit {
				return nil
			}
			err := e.runForeign()
			e.show()
			if err != nil {
				return err
			}
			continue
		}
		if e.queue.count == 0 {
			return nil
		}
		ev, due := e.queue.popUntil(e.limit)
		if !due {
			return nil
		}
		e.tick(ev)
	}
}

// Break, called within an event, ends the run in progress when the instant is
// over: whatever order its events have, all of them are done then.
func (e *Engine) Break() { e.limit = min(e.limit, e.now) }

// Pending is the number of events that wait.
func (e *Engine) Pending() int { return e.queue.count + len(e.foreign) }

func (e *Engine) tick(ev event) {
	at := ev.at
	e.now, e.nowSec = at, -1
	s := &e.slots[ev.unit()]
	if s.ticked == at {
		return
	}
	s.ticked = at
	if e.NumHooks() > 0 {
		e.runHooked(s.unit)
	} else {
		s.unit.Tick(at)
	}
	if len(e.watched) > 0 {
		e.show()
	}
}

// RegisterSimulationEndHandler adds a handler that Finished calls.
func (e *Engine) RegisterSimulationEndHandler(h sim.SimulationEndHandler) {
	if e.guest != nil {
		e.guest.host.RegisterSimulationEndHandler(h)
		return
	}
	e.atEnd = append(e.atEnd, h)
}

// Finished calls the registered end handlers.
func (e *Engine) Finished() {
	for _, h := range e.atEnd {
		h.Handle(e.CurrentTime())
	}
}
