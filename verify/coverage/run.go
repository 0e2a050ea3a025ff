package coverage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/platform"
	"rnicmmu/sweep"
	"rnicmmu/verify/scenario"
	"rnicmmu/verify/scenarios"
)

// Input is a run to be covered: settings of a configuration, as on the command
// line.
type Input struct {
	Name string
	Set  []string
	Hits []string // of a directed one: bins that it is for, "group: bin"
}

// Run simulates with a collector beside the run, and gives what it counted. What
// the model's own checks found broken is an error.
func Run(ctx context.Context, in Input) (*Report, error) {
	job := sweep.Job{}
	if _, err := configs.Load(&job.Spec, configs.Sources{Profile: "default", Set: in.Set}); err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	r, broken, err := Cover(ctx, &job)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	if len(broken) > 0 {
		return nil, fmt.Errorf("%s: %s at %v: %s", in.Name, broken[0].Rule, broken[0].TimePS, broken[0].What)
	}
	return r, nil
}

// Cover simulates a job with a collector beside it and beside what else watches
// it, and gives what was counted and what was broken. A host that refuses to pin
// is a situation too.
func Cover(ctx context.Context, job *sweep.Job) (*Report, []measure.Violation, error) {
	var c *Collector
	watch := job.Watch
	job.Watch = func(s *platform.System) func(bool) []measure.Violation {
		c = New(s)
		if watch == nil {
			return func(bool) []measure.Violation { return nil }
		}
		return watch(s)
	}
	sum, err := job.Run(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	if c == nil {
		return nil, nil, errors.New("the run was not watched")
	}
	c.Finish(sum)
	return c.Report(sweep.Version, job.Spec.Seed), sum.Violations, nil
}

// Scenarios runs all scenarios that ship, each with a collector beside it, and
// gives what they come to together. Whether they end as they must is for their
// own tests.
func Scenarios(ctx context.Context) (*Report, error) {
	total := Empty(sweep.Version)
	files, err := fs.Glob(scenarios.Files, "*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		data, err := scenarios.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := scenario.Parse(name, data)
		if err != nil {
			return nil, err
		}
		for _, s := range f.Scenarios {
			if total, err = play(ctx, s, total); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, s.Name, err)
			}
		}
	}
	return total, nil
}

func play(ctx context.Context, s *scenario.Scenario, total *Report) (*Report, error) {
	var c *Collector
	var seed uint64
	s.Watch = func(sys *platform.System) { c, seed = New(sys), sys.Adapters()[0].Seed }
	r, err := s.Run(ctx, 0)
	if err != nil || c == nil {
		return total, err
	}
	if r.Summary != nil {
		c.Finish(r.Summary)
	}
	return Merge(total, c.Report(sweep.Version, seed))
}
