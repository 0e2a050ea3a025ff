package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rnicmmu/configs"
	"rnicmmu/platform"
	"rnicmmu/plots"
	"rnicmmu/sweep"
)

type sweepFlags struct {
	common
	jobs   int
	resume bool
}

func sweepCommand() *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use:   "sweep EXPERIMENT",
		Short: "simulate the points of an experiment and draw its figures",
		Long:  sweepHelp(),
		Example: "  rnicmmu sweep tlb-size\n" +
			"  rnicmmu sweep paging-pressure --set workload.accesses=200000 --jobs 2 --out results",
		Args: exactly("EXPERIMENT"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.register(c)
	c.Flags().IntVar(&f.jobs, "jobs", 0, "points at a time; 0: one a CPU")
	c.Flags().BoolVar(&f.resume, "resume", false, "go on with the sweep in --out")
	return c
}

func sweepHelp() string {
	text := "Run every point of an experiment: a YAML file or one of these:\n"
	for _, l := range configs.Experiments() {
		text += fmt.Sprintf("\n  %-16s %s", l.Name, l.Description)
	}
	return text + "\n\nResults go to --out, or to out/EXPERIMENT, numbered where another sweep is there."
}

func (f *sweepFlags) run(c *cobra.Command, name string) error {
	if f.jobs < 0 {
		return fmt.Errorf("--jobs %d: 0 (one a CPU) or more is due", f.jobs)
	}
	plan, err := f.plan(c, name)
	if err != nil {
		return err
	}
	if f.out == "" {
		f.chooseFolder(plan)
	}
	results, err := f.execute(c.Context(), plan)
	for _, r := range results {
		if r.Again != "" {
			fmt.Fprintf(os.Stderr, "%s; the point ran again\n", r.Again)
		}
	}
	if results == nil || err != nil {
		if errors.Is(err, sweep.ErrInterrupted) {
			return fmt.Errorf("%w: finished points are in %s; the same command with --resume goes on", err, f.out)
		}
		return err
	}
	return f.finish(c.OutOrStdout(), plan, results)
}

// chooseFolder is out/EXPERIMENT, or the next number behind it that holds no
// other sweep, nor one of another build; what this very sweep has finished
// there is not run again.
func (f *sweepFlags) chooseFolder(plan *sweep.Plan) {
	base := filepath.Join("out", plan.Experiment.Name)
	f.out = base
	for n := 2; sweep.Holds(f.out); n++ {
		if plan.Continues(f.out) == nil {
			f.resume = true
			return
		}
		f.out = fmt.Sprintf("%s-%d", base, n)
	}
}

// plan reads the experiment, the configuration below it and the input.
func (f *sweepFlags) plan(c *cobra.Command, name string) (*sweep.Plan, error) {
	doc, err := experiment(name)
	if err != nil {
		return nil, err
	}
	e, err := configs.LoadExperiment(&platform.Spec{}, doc, plots.Figures())
	if err != nil {
		return nil, err
	}
	spec, resolved, err := f.load(c, configs.Sources{Experiment: e})
	if err != nil {
		return nil, err
	}
	if err := f.checkAxes(e, resolved); err != nil {
		return nil, err
	}
	in, err := f.input(&spec, resolved)
	if err != nil {
		return nil, err
	}
	if err := checkTraceAxes(e, in != nil); err != nil {
		return nil, err
	}
	return sweep.NewPlan(e, spec, in)
}

// checkAxes refuses axes that --set would not move, and memory given twice.
func (f *sweepFlags) checkAxes(e *configs.Experiment, resolved *configs.Resolved) error {
	given := func(key string) bool {
		return resolved.Given(key) || slices.Contains(e.Keys(), key)
	}
	if given("host.memory") && given("pressure.overcommit") {
		return fmt.Errorf("%s: pressure.overcommit and host.memory are both set; leave one of them out", e.Name)
	}
	for _, set := range f.set {
		if key, _, _ := strings.Cut(set, "="); slices.Contains(e.Keys(), key) {
			return fmt.Errorf("--set %s: %s is an axis of %s; leave it out, or write an experiment of your own", set, key, e.Name)
		}
	}
	return nil
}

// checkTraceAxes refuses axes that would change what is read: all points replay
// the same accesses.
func checkTraceAxes(e *configs.Experiment, replay bool) error {
	for _, key := range e.Keys() {
		if key == "workload.trace" || replay && key == "workload.accesses" {
			return fmt.Errorf("%s: %s cannot be an axis: all points replay the same accesses; make a sweep for each", e.Name, key)
		}
	}
	return nil
}

func experiment(name string) (configs.Document, error) {
	if info, err := os.Stat(name); errors.Is(err, os.ErrNotExist) || err == nil && info.IsDir() {
		return configs.ExperimentDocument(name)
	}
	return configs.ReadFile(name)
}

func (f *sweepFlags) execute(ctx context.Context, plan *sweep.Plan) ([]sweep.Result, error) {
	bar := newProgress("points")
	simulating.Store(true)
	defer bar.stop()
	done := uint64(0)
	return plan.Run(ctx, sweep.Options{Dir: f.out, Jobs: f.jobs, Resume: f.resume,
		Finished: func(*sweep.Point, *sweep.Result) {
			done++
			bar.set(done, uint64(len(plan.Points)))
		}})
}

// finish says what there is and draws the figures.
func (f *sweepFlags) finish(w io.Writer, plan *sweep.Plan, results []sweep.Result) error {
	printPoints(w, plan, results)
	count := map[string]int{}
	for _, r := range results {
		count[r.Status]++
	}
	fmt.Fprintf(w, "%d points: %d ok, %d refused, %d failed, %d with violations\n%s\n", len(results), count[sweep.StatusOK],
		count[sweep.StatusRefused], count[sweep.StatusFailed], count[sweep.StatusViolation], filepath.Join(f.out, "sweep.csv"))
	if count[sweep.StatusOK]+count[sweep.StatusViolation] > 0 {
		files, err := plots.Draw(f.out, []string{"png", "svg"}, plots.Options{})
		for _, file := range files {
			fmt.Fprintln(w, file)
		}
		if err != nil {
			return err
		}
	}
	if n := count[sweep.StatusFailed]; n > 0 {
		err := fmt.Errorf("%d points failed; their errors are in the last column of %s", n, filepath.Join(f.out, "sweep.csv"))
		if slices.ContainsFunc(results, func(r sweep.Result) bool { return r.Stuck }) {
			return &platform.Stuck{Reason: err.Error()}
		}
		return err
	}
	if count[sweep.StatusViolation] > 0 {
		return errViolation
	}
	return nil
}
