package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rnicmmu/configs"
	"rnicmmu/platform"
	"rnicmmu/workload"
)

// plan makes a plan of an experiment text over the defaults.
func plan(t *testing.T, text string, set ...string) *Plan {
	t.Helper()
	e, err := configs.LoadExperiment(&platform.Spec{}, configs.Document{Name: "e.yaml", Data: []byte(text)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var spec platform.Spec
	if _, err := configs.Load(&spec, configs.Sources{Experiment: e, Set: set}); err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(e, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const twoAxes = "name: e\ntitle: E\ndescription: d\nset: {workload.accesses: 300}\naxes:\n" +
	"  - {key: scheme, values: [pinned, odp]}\n  - {key: pressure.overcommit, values: [1, 2]}\n"

// Points come in plan order, the last axis fastest, each with its own
// identity, which the input and every setting change.
func TestPlanOrder(t *testing.T) {
	p := plan(t, twoAxes)
	var got []string
	seen := map[string]bool{}
	for i := range p.Points {
		got = append(got, describe(p.Points[i].Settings))
		seen[p.Points[i].ID] = true
	}
	want := "scheme=pinned pressure.overcommit=1|scheme=pinned pressure.overcommit=2|scheme=odp pressure.overcommit=1|scheme=odp pressure.overcommit=2"
	if strings.Join(got, "|") != want || len(seen) != 4 {
		t.Errorf("%v, %d identities", got, len(seen))
	}
	if other := plan(t, twoAxes, "seed=2"); seen[other.Points[0].ID] || other.Hash == p.Hash {
		t.Error("another seed is the same point")
	}
}

// A point that cannot be built is an error before anything runs.
func TestPlanRefusesImpossibleGeometry(t *testing.T) {
	e, err := configs.LoadExperiment(&platform.Spec{}, configs.Document{Name: "e.yaml",
		Data: []byte("name: e\ntitle: E\ndescription: d\naxes:\n  - {key: tpt.mtt.entries, values: [64, 100]}\n")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var spec platform.Spec
	if err := configs.Defaults(&spec); err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(e, spec, nil); err == nil || !strings.Contains(err.Error(), "point tpt.mtt.entries=100: tpt.mtt: ") {
		t.Errorf("error %v", err)
	}
}

// A warm-up that leaves nothing of a point is refused before another runs, also
// where the accesses are a trace's.
func TestPlanRefusesEndlessWarmup(t *testing.T) {
	e, err := configs.LoadExperiment(&platform.Spec{}, configs.Document{Name: "e.yaml",
		Data: []byte("name: e\ntitle: E\ndescription: d\naxes:\n  - {key: warmup, values: [10, 50]}\n")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	trace := &platform.Input{Accesses: make([]workload.Access, 50)}
	for _, c := range []struct {
		accesses string
		in       *platform.Input
		refused  bool
	}{{"50", nil, true}, {"51", nil, false}, {"1000", trace, true}} {
		var spec platform.Spec
		if _, err := configs.Load(&spec, configs.Sources{Set: []string{"workload.accesses=" + c.accesses}}); err != nil {
			t.Fatal(err)
		}
		if _, err := NewPlan(e, spec, c.in); (err != nil) != c.refused || c.refused && !strings.HasPrefix(err.Error(), "point warmup=50: warmup: ") {
			t.Errorf("%s accesses: error %v", c.accesses, err)
		}
	}
}

// Each point's outcome is a status; what is not run says so; a finished folder
// belongs to its plan.
func TestRunAndResume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	p := plan(t, twoAxes)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	results, err := p.Run(cancelled, Options{Dir: dir, Jobs: 1})
	if !errors.Is(err, ErrInterrupted) || results[3].Status != StatusInterrupted {
		t.Fatalf("%v, %+v", err, results[3])
	}
	finished := 0
	results, err = p.Run(t.Context(), Options{Dir: dir, Jobs: 2, Resume: true, Finished: func(*Point, *Result) { finished++ }})
	if err != nil || finished != 4 {
		t.Fatalf("%v, %d finished", err, finished)
	}
	for i, want := range []string{StatusOK, StatusRefused, StatusOK, StatusOK} {
		if results[i].Status != want {
			t.Errorf("point %d: %s (%s), want %s", i, results[i].Status, results[i].Error, want)
		}
	}
	if !strings.Contains(results[1].Error, "512 frames") || strings.Contains(results[1].Error, "\n") {
		t.Errorf("refused with %q", results[1].Error)
	}
	if _, err := p.Run(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("again without resume: %v", err)
	}
	if _, err := plan(t, twoAxes, "seed=2").Run(t.Context(), Options{Dir: dir, Resume: true}); err == nil || !strings.Contains(err.Error(), "other settings") {
		t.Errorf("another plan: %v", err)
	}
}

// A panic in a point is its failed row, with a place, and not the end of the
// sweep.
func TestPanicIsARow(t *testing.T) {
	p := plan(t, twoAxes)
	p.Points[0].Spec.Workload.QPs = -1 // no check lets this through
	results, err := p.Run(t.Context(), Options{Dir: t.TempDir(), Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if results[0].Status != StatusFailed || results[2].Status != StatusOK {
		t.Errorf("%+v, %+v", results[0], results[2])
	}
}

// Who stops a run while a large system is built does not wait for it, and no
// results are left.
func TestInterruptedBuild(t *testing.T) {
	var spec platform.Spec
	if _, err := configs.Load(&spec, configs.Sources{Set: []string{"workload.qps=200000", "workload.accesses=1000"}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	job := Job{Spec: spec, Dir: filepath.Join(t.TempDir(), "run")}
	if sum, err := job.Run(ctx, nil); sum != nil || !errors.Is(err, ErrInterrupted) {
		t.Errorf("%v, %v", sum, err)
	}
	if _, err := os.Stat(job.Dir); err == nil {
		t.Error("there are results")
	}
}
