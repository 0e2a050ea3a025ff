package platform

import (
	"context"
	"errors"
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/measure"
)

// Run simulates until every access has completed and all that they caused has
// come to rest. The rows go to rec; the summary holds the counters, and
// rec.Finish completes it. A cancelled context gives the summary of what has
// finished, marked interrupted. A *Stuck error says that the model stopped
// itself. Progress may be nil.
func (s *System) Run(ctx context.Context, rec *measure.Recorder, progress func(done, total uint64)) (*measure.Summary, error) {
	s.begin(rec, progress)
	defer context.AfterFunc(ctx, s.engine.Stop)()
	if err := s.simulate(ctx); err != nil {
		return nil, err
	}
	if err := errors.Join(rec.Err(), s.source.Err()); err != nil {
		return nil, err
	}
	if s.warmAt < 0 && s.ended {
		return nil, fmt.Errorf("warmup: the run ended within it, after %d accesses and %v; make it shorter", s.driver.done, s.finished)
	}
	if s.ended && ctx.Err() == nil {
		s.audit()
	}
	return s.summary(ctx.Err() != nil), nil
}

// begin sets up what a run records.
func (s *System) begin(rec *measure.Recorder, progress func(done, total uint64)) {
	s.record = rec
	rec.Share(s.spec.TPT.Tenants)
	s.cpu, s.windows = measure.NewHistogram(), measure.NewHistogram()
	s.warmAt = -1
	s.driver.record = rec
	s.driver.notify = func(done uint64) {
		if progress != nil {
			progress(done, s.total)
		}
		if rec.Err() != nil {
			s.engine.Stop()
		}
	}
}

// simulate runs to the end of the workload, then lets the rest come to rest.
// The driver breaks the run at the end of the instants in which the warm-up and
// the workload end.
func (s *System) simulate(ctx context.Context) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = s.internal(x)
		}
	}()
	start := clocked.Time(0)
	if s.script != nil {
		if err := s.play(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		start = s.engine.Now() + 1
	}
	s.engine.Wake(s.driver.id, start)
	for s.script == nil && !s.driver.idle() {
		seen, limit := s.driver.done, s.engine.Now()+s.spec.Watchdog
		if err := s.engine.RunUntil(limit); err != nil {
			return err
		}
		if ctx.Err() != nil || s.record.Err() != nil {
			return nil
		}
		if s.driver.warm && s.warmAt < 0 {
			s.warm()
			continue
		}
		if err := s.stuck(seen); err != nil {
			return err
		}
	}
	s.finished = s.driver.lastDone
	s.ended = true
	s.kernel.Stop()
	return s.rest(ctx)
}

// stuck tells whether accesses are open and none has completed since seen.
func (s *System) stuck(seen uint64) error {
	switch {
	case s.driver.idle() || s.driver.done > seen || s.driver.due() > s.engine.Now():
		return nil
	case s.engine.Pending() == 0:
		return &Stuck{Reason: "deadlock: nothing is left to happen, and accesses are open", Waits: s.Waits()}
	}
	return &Stuck{Reason: fmt.Sprintf("watchdog: no access completed in %v of simulated time", s.spec.Watchdog), Waits: s.Waits()}
}

// rest runs what outlives the accesses: writes on their way, faults and
// invalidations in progress.
func (s *System) rest(ctx context.Context) error {
	if ctx.Err() != nil || s.record.Err() != nil {
		return nil
	}
	if err := s.engine.RunUntil(s.engine.Now() + s.spec.Watchdog); err != nil {
		return err
	}
	// Timers of queue pairs with nothing outstanding may be left: nobody waits for them.
	if ctx.Err() == nil && s.engine.Pending() > 0 && len(s.busyUnits()) > 0 {
		return &Stuck{Reason: fmt.Sprintf("watchdog: the system did not come to rest in %v of simulated time", s.spec.Watchdog), Waits: s.Waits()}
	}
	return nil
}

// internal turns a broken assumption of the model into an error with a dump.
func (s *System) internal(x any) error {
	return &Stuck{Reason: fmt.Sprintf("internal error at %v: %v", s.engine.Now(), x), Waits: s.Waits()}
}

// warm starts the counters of the figures, at the end of the instant in which
// the first access after the warm-up was posted.
func (s *System) warm() {
	s.warmAt = s.engine.Now()
	s.base = s.counters()
	s.base.Accesses.Issued = s.driver.warmIDs
	s.baseInv = s.kernel.Stats.InvalidationsIssued
	s.busy, s.busyUpstream = s.busyTimes()
	for _, n := range s.nodes {
		n.tpt.OnHazard = s.record.Hazard
		n.tpt.Warm, n.tpt.Since = true, s.warmAt
	}
}
