package clocked

import (
	"sync"
	"sync/atomic"
)

// control carries Stop, Pause and Continue from other goroutines to the run
// loop, which looks at one word between events.
type control struct {
	request atomic.Uint32
	mu      sync.Mutex
	changed sync.Cond
}

const (
	wantStop uint32 = 1 << iota
	wantPause
)

func (c *control) set(bit uint32)   { c.update(func() { c.request.Or(bit) }) }
func (c *control) clear(bit uint32) { c.update(func() { c.request.And(^bit) }) }

func (c *control) update(change func()) {
	c.mu.Lock()
	change()
	c.mu.Unlock()
	c.changed.Broadcast()
}

// hold waits while a pause is wanted and tells whether to stop.
func (c *control) hold() (stop bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.request.Load() == wantPause {
		c.changed.Wait()
	}
	return c.request.Load()&wantStop != 0
}

// Stop ends Run after the event in progress, also when paused, and keeps later
// runs from starting; safe from any goroutine.
func (e *Engine) Stop() { e.control.set(wantStop) }

// Pause holds the simulation before its next event until Continue or Stop. It
// does not wait for the event in progress, so a unit or hook may call it too.
func (e *Engine) Pause() { e.control.set(wantPause) }

// Continue lets a paused simulation go on.
func (e *Engine) Continue() { e.control.clear(wantPause) }
