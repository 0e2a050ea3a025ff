package coverage

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/platform"
	"rnicmmu/sweep"
)

// TestNothingChanges: a run with a collector beside it gives the rows of one
// without.
func TestNothingChanges(t *testing.T) {
	for _, name := range []string{"paging", "sva, events", "suspend, IOMMU, events", "iWARP"} {
		i := slices.IndexFunc(Inputs, func(in Input) bool { return in.Name == name })
		job := func(watch sweep.Watch) string {
			j := sweep.Job{Watch: watch}
			if _, err := configs.Load(&j.Spec, configs.Sources{Profile: "default", Set: Inputs[i].Set}); err != nil {
				t.Fatal(err)
			}
			sum, err := j.Run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return sum.ResultHash
		}
		with := job(func(s *platform.System) func(bool) []measure.Violation {
			New(s)
			return func(bool) []measure.Violation { return nil }
		})
		if without := job(nil); with != without {
			t.Errorf("%s: %s with a collector, %s without", name, with, without)
		}
	}
}

// TestCorners: those that are directed at bins hit them, and quickly: each is of
// a second at most where nothing else runs.
func TestCorners(t *testing.T) {
	for _, in := range Corners {
		if len(in.Hits) == 0 {
			continue
		}
		t.Run(in.Name, func(t *testing.T) {
			started := time.Now()
			r, err := Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range in.Hits {
				group, bin, _ := strings.Cut(h, ": ")
				if r.hits(group, bin) == 0 {
					t.Errorf("%s was not hit", h)
				}
			}
			if d := time.Since(started); d > 10*time.Second {
				t.Errorf("took %v", d)
			}
			if b := r.Broken(); len(b) > 0 {
				t.Errorf("must not occur: %v", b)
			}
		})
	}
}

// hits are those of a bin by name.
func (r *Report) hits(group, bin string) uint64 {
	for i := range r.Groups {
		for _, b := range r.Groups[i].Bins {
			if r.Groups[i].Name == group && b.Name == bin {
				return b.Hits
			}
		}
	}
	return 0
}

// TestEveryGroupIsReached: the scenarios, the scripts and the directed corners
// come to some bin of every group.
func TestEveryGroupIsReached(t *testing.T) {
	total, err := Scenarios(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range append(Inputs[:8:8], Corners...) {
		if len(in.Hits) == 0 && !slices.ContainsFunc(Inputs[:8], func(x Input) bool { return x.Name == in.Name }) {
			continue
		}
		r, err := Run(t.Context(), in)
		if err == nil {
			total, err = Merge(total, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range total.Groups {
		if g.Covered == 0 {
			t.Errorf("%s: no bin was hit", g.Name)
		}
	}
	if b := total.Broken(); len(b) > 0 {
		t.Errorf("must not occur: %v", b)
	}
}
