package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"time"

	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/platform"
)

// Version is the tool's version in manifests and --version.
const Version = "0.1.0"

// ErrInterrupted says that a run was stopped before its end; what had finished
// is kept.
var ErrInterrupted = errors.New("interrupted")

// Job is one run: a configuration over its accesses.
type Job struct {
	Spec  platform.Spec
	Input *platform.Input // nil: the synthetic workload that Spec describes
	Dir   string          // where the results go; empty: nowhere
	Watch Watch           // nil: nothing looks on
}

// Watch puts checks beside a system before it runs. What it returns ends them
// and gives what was broken; rest says that the run came to its end.
type Watch func(s *platform.System) (finish func(rest bool) []measure.Violation)

// Check tells whether the job can be built, without running it.
func (j *Job) Check() error {
	_, err := j.build()
	return err
}

func (j *Job) build() (*platform.System, error) {
	adapters := make([]platform.Spec, max(1, j.Spec.Adapters.Count))
	for i := range adapters {
		adapters[i] = j.Spec
		if i >= len(j.Spec.Adapters.Overrides) {
			continue
		}
		var err error
		if adapters[i], err = configs.WithOverrides(j.Spec, j.Spec.Adapters.Overrides[i]); err != nil {
			return nil, err
		}
	}
	return platform.New(adapters, j.Input)
}

// buildUntil is build that nobody waits for once the context is cancelled: a
// large system takes seconds.
func (j *Job) buildUntil(ctx context.Context) (*platform.System, error) {
	type built struct {
		system *platform.System
		err    error
	}
	done := make(chan built, 1)
	go func() {
		var b built
		defer func() {
			if x := recover(); x != nil {
				b.err = &platform.Stuck{Reason: fmt.Sprintf("internal error: %v at %s", x, firstFrame(debug.Stack()))}
			}
			done <- b
		}()
		b.system, b.err = j.build()
	}()
	select {
	case b := <-done:
		return b.system, b.err
	case <-ctx.Done():
		return nil, ErrInterrupted
	}
}

// Run simulates and writes the results. With ErrInterrupted the summary covers
// what had finished, or is nil where the run had not begun; progress may be nil
// and is told accesses done and expected (0 when unknown).
func (j *Job) Run(ctx context.Context, progress func(done, total uint64)) (*measure.Summary, error) {
	started := time.Now()
	resolved, err := j.resolved()
	if err != nil {
		return nil, err
	}
	system, err := j.buildUntil(ctx)
	if err != nil {
		return nil, err
	}
	rec := measure.New()
	if j.Dir != "" {
		if Holds(j.Dir) {
			return nil, fmt.Errorf("%s: holds a sweep; choose another --out", j.Dir)
		}
		if rec, err = measure.Create(j.Dir); err != nil {
			return nil, err
		}
	}
	sum, err := j.simulate(ctx, system, rec, progress)
	if err != nil {
		rec.Discard()
		return nil, err
	}
	return sum, j.finish(rec, sum, resolved, started)
}

// simulate runs the system with the checks beside it.
func (j *Job) simulate(ctx context.Context, s *platform.System, rec *measure.Recorder, progress func(done, total uint64)) (*measure.Summary, error) {
	if j.Watch == nil {
		return s.Run(ctx, rec, progress)
	}
	finish := j.Watch(s)
	sum, err := s.Run(ctx, rec, progress)
	broken := finish(err == nil && !sum.Interrupted)
	var stuck *platform.Stuck
	if errors.As(err, &stuck) {
		stuck.Broken = broken
	}
	for _, v := range broken {
		rec.Violate(v)
	}
	return sum, err
}

// resolved is config.resolved.yaml.
func (j *Job) resolved() ([]byte, error) {
	return configs.Marshal(&j.Spec, true, void(&j.Spec)...)
}

// void lists the keys that have no meaning beside others.
func void(s *platform.Spec) []string {
	if s.Pressure.Overcommit != 0 {
		return []string{"host.memory"}
	}
	return nil
}

// finish completes the summary and gives the files their names.
func (j *Job) finish(rec *measure.Recorder, sum *measure.Summary, resolved []byte, started time.Time) error {
	sum.WallS = time.Since(started).Seconds()
	rec.Finish(sum)
	for i := range sum.Violations {
		sum.Violations[i].Repro = "rnicmmu run " + filepath.Join(j.Dir, "config.resolved.yaml")
	}
	m := measure.NewManifest(Version, resolved, j.Spec.Seed, traceHash(j.Input), started)
	if j.Input != nil {
		m.Trace = j.Input.Name
	}
	if err := rec.Write(sum, m, resolved); errors.Is(err, measure.ErrKept) {
		return fmt.Errorf("%w: %w", ErrInterrupted, err)
	} else if err != nil {
		return err
	}
	if sum.Interrupted {
		return ErrInterrupted
	}
	return nil
}

func traceHash(in *platform.Input) string {
	if in == nil {
		return ""
	}
	return in.Hash
}
