package clocked

import "github.com/sarchlab/akita/v3/sim"

// Steps makes each run of an engine end with the first instant that it has
// processed. It is for who looks at a run in steps; a run in one go is much
// faster.
type Steps struct {
	engine *Engine
	saved  sim.HookableBase
	events uint64
}

// Stepwise begins with that.
func (e *Engine) Stepwise() *Steps {
	s := &Steps{engine: e, saved: *e.HookableBase}
	e.AcceptHook(s)
	return s
}

// End ends it.
func (s *Steps) End() { *s.engine.HookableBase = s.saved }

// Run processes the next instant, if that is not after limit, and tells whether
// there was one.
func (s *Steps) Run(limit Time) (ran bool, err error) {
	before := s.events
	err = s.engine.RunUntil(limit)
	return s.events > before, err
}

// Func is called before and after each event.
func (s *Steps) Func(sim.HookCtx) {
	s.events++
	s.engine.Break()
}
