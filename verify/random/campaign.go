package random

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"rnicmmu/configs"
	"rnicmmu/platform"
)

// Campaign runs the systems of many seeds.
type Campaign struct {
	Base   configs.Sources // what the drawn settings stand on
	Name   string          // of Base, as the command line spells it; empty: the defaults
	First  uint32          // seed; others follow it
	Seeds  int
	Jobs   int    // seeds at a time; 0: one a CPU that Go may use
	Dir    string // where rows and summary go; empty: nowhere
	Resume bool   // do not run again the seeds that Dir has
	// Finished, when set, is told after each seed, one call at a time.
	Finished func(done, total, failures int)

	fixed map[string]string
	run   func(ctx context.Context, set []string) Outcome
}

// Run runs the seeds that are not there yet. An interrupted campaign has a
// summary of what it finished. The error is that of its folder or of Base.
func (c *Campaign) Run(ctx context.Context) (*Summary, error) {
	if err := c.prepare(); err != nil {
		return nil, err
	}
	sum := newSummary(c)
	store, rows, err := c.open()
	if err != nil {
		return nil, err
	}
	defer store.close()
	ran := map[uint32]bool{}
	for _, r := range rows {
		if i := r.Seed - c.First; int64(i) < int64(c.Seeds) && !ran[r.Seed] {
			ran[r.Seed] = true
			sum.add(&r)
		}
	}
	err = c.execute(ctx, ran, func(r *Row) error {
		sum.add(r)
		if c.Finished != nil {
			c.Finished(sum.Done, c.Seeds, sum.failures())
		}
		return store.add(r)
	})
	sum.Interrupted = ctx.Err() != nil
	return sum, err
}

// prepare reads what Base fixes.
func (c *Campaign) prepare() error {
	if c.run == nil {
		c.run = func(ctx context.Context, set []string) Outcome { return Run(ctx, c.Base, set) }
	}
	c.fixed = map[string]string{}
	var spec platform.Spec
	resolved, err := configs.Load(&spec, c.Base)
	if err != nil {
		return err
	}
	if spec.Workload.Trace != "" {
		return resolved.Problem("workload.trace", "a campaign draws its accesses; leave it out")
	}
	params, err := configs.Params(&spec)
	if err != nil {
		return err
	}
	for _, p := range params {
		if resolved.Given(p.Key) {
			if c.fixed[p.Key], err = configs.Text(&spec, p.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// execute runs seeds in parallel and takes their rows one by one.
func (c *Campaign) execute(ctx context.Context, ran map[uint32]bool, took func(*Row) error) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	seeds := make(chan uint32)
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range c.jobs() {
		wait.Go(func() {
			for seed := range seeds {
				r := Row{Seed: seed, Outcome: c.seed(ctx, seed)}
				mu.Lock()
				if r.Status != Interrupted && err == nil {
					if err = took(&r); err != nil {
						cancel()
					}
				}
				mu.Unlock()
			}
		})
	}
	for i := 0; i < c.Seeds && ctx.Err() == nil; i++ {
		seed := c.First + uint32(i)
		if ran[seed] {
			continue
		}
		select {
		case seeds <- seed:
		case <-ctx.Done():
		}
	}
	close(seeds)
	wait.Wait()
	return err
}

func (c *Campaign) jobs() int {
	if c.Jobs > 0 {
		return c.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

// seed is the outcome of a seed. A configuration that what is fixed does not
// allow is no failure.
func (c *Campaign) seed(ctx context.Context, seed uint32) Outcome {
	o := c.run(ctx, SettingsBeside(c.fixed, seed))
	if o.Status == Refused && len(c.fixed) > 0 {
		o.Bucket = ""
	}
	return o
}

// shrinkTries is how many runs the search for a minimal command may take.
const shrinkTries = 300

// Shrink finds the command that shows a bucket with the fewest settings. Slow
// runs are left as they are.
func (c *Campaign) Shrink(ctx context.Context, b *Bucket) {
	if b.Status == Slow || ctx.Err() != nil {
		return
	}
	set := Shrink(SettingsBeside(c.fixed, b.Seed), shrinkTries, func(set []string) bool {
		return ctx.Err() == nil && c.run(ctx, set).Bucket == b.Bucket
	})
	b.Minimal = strings.Join(slices.DeleteFunc([]string{"rnicmmu run", c.Name, "--verify" + Flags(set)}, func(s string) bool { return s == "" }), " ")
}

// repro is the command that runs a seed again.
func (c *Campaign) repro(seed uint32) string {
	command := "rnicmmu verify random"
	if c.Name != "" {
		command += " " + c.Name
	}
	return fmt.Sprintf("%s --seed %d", command, seed)
}
