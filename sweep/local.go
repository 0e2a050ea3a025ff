package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"

	"rnicmmu/measure"
	"rnicmmu/platform"
)

// Status of a point.
const (
	StatusOK          = "ok"
	StatusViolation   = "violation" // it ran, and a rule was broken
	StatusRefused     = "refused"   // the host refused it: memory that cannot be pinned
	StatusFailed      = "failed"    // the model stopped itself
	StatusInterrupted = "interrupted"
)

// Result is a point's outcome. Summary is nil where there is none.
type Result struct {
	Status  string
	Error   string // one line
	Stuck   bool   // the model stopped itself
	Again   string // why it ran though the folder had it, one line; empty: it had it not, or it is kept
	Summary *measure.Summary
}

// Options of a sweep.
type Options struct {
	Dir    string
	Jobs   int  // points at a time; 0: one a CPU
	Resume bool // use the points that Dir already holds
	// Finished, when set, is told of each point, one call at a time.
	Finished func(p *Point, r *Result)
}

// Run executes the plan's points that are not there yet and writes sweep.csv.
// With a cancelled context it keeps what has finished and returns
// ErrInterrupted.
func (plan *Plan) Run(ctx context.Context, o Options) ([]Result, error) {
	store, err := openStore(o.Dir, plan, o.Resume)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(plan.Points))
	for i := range results {
		results[i] = Result{Status: StatusInterrupted, Error: "not run"}
	}
	plan.execute(ctx, o, store, results)
	if err := store.finish(results); err != nil {
		return results, err
	}
	if ctx.Err() != nil {
		return results, ErrInterrupted
	}
	return results, nil
}

func (plan *Plan) execute(ctx context.Context, o Options, store *store, results []Result) {
	jobs := o.Jobs
	if jobs <= 0 {
		jobs = runtime.NumCPU()
	}
	next := make(chan int)
	var wait sync.WaitGroup
	var mu sync.Mutex
	finished := func(i int) {
		mu.Lock()
		defer mu.Unlock()
		if o.Finished != nil {
			o.Finished(&plan.Points[i], &results[i])
		}
	}
	for range min(jobs, len(plan.Points)) {
		wait.Go(func() {
			for i := range next {
				results[i] = store.point(ctx, &plan.Points[i])
				finished(i)
			}
		})
	}
feed:
	for i := range plan.Points {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wait.Wait()
}

// point runs one point, or reads its result where a resumed sweep has it.
func (s *store) point(ctx context.Context, p *Point) (r Result) {
	defer func() {
		if x := recover(); x != nil {
			r = Result{Status: StatusFailed, Stuck: true, Error: fmt.Sprintf("internal error: %v at %s", x, firstFrame(debug.Stack()))}
		}
	}()
	job := Job{Spec: p.Spec, Input: s.plan.Input, Dir: filepath.Join(s.dir, "points", p.ID)}
	sum, bad := s.finished(&job)
	if sum != nil {
		return outcome(sum)
	}
	sum, err := job.Run(ctx, nil)
	r = classify(sum, err)
	if bad != nil {
		r.Again = oneLine(bad)
	}
	return r
}

func classify(sum *measure.Summary, err error) Result {
	var refused *platform.Refused
	var stuck *platform.Stuck
	switch {
	case errors.As(err, &refused):
		return Result{Status: StatusRefused, Error: oneLine(err)}
	case errors.Is(err, ErrInterrupted):
		return Result{Status: StatusInterrupted, Error: "stopped", Summary: sum}
	case err != nil:
		return Result{Status: StatusFailed, Error: oneLine(err), Stuck: errors.As(err, &stuck)}
	}
	return outcome(sum)
}

func outcome(sum *measure.Summary) Result {
	if n := len(sum.Violations); n > 0 {
		v := sum.Violations[0]
		return Result{Status: StatusViolation, Error: fmt.Sprintf("%s: %s (%d in all)", v.Rule, v.What, n), Summary: sum}
	}
	return Result{Status: StatusOK, Summary: sum}
}
