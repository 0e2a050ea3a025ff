package protocol

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"rnicmmu/verify/protocol/explore"
)

func check(t *testing.T, s System) Report {
	t.Helper()
	r, err := Check(context.Background(), "", s, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != Holds {
		t.Errorf("%s", r.Text())
	}
	return r
}

// The rules hold at small bounds.
func TestSmallBoundsHold(t *testing.T) {
	for _, name := range Names {
		for _, s := range Systems(name, Small) {
			r := check(t, s)
			t.Logf("%s %s: %d states", name, r.Bounds, r.States)
		}
	}
}

// Without symmetry there are as many states as the canonical ones stand for: each
// for 1 up to so many as there are ways to rename. The verdict is the same.
func TestSymmetryIsSound(t *testing.T) {
	for _, c := range []struct {
		what    string
		of      func(plain bool) System
		renamed int
	}{
		{"2 adapters, 2 frames, 1 page, 1 access", func(plain bool) System {
			return &Tables{Bounds: Bounds{Adapters: 2, Pages: 1, Frames: 2, Accesses: 1}, plain: plain}
		}, 2 * 2},
		{"2 pages, 2 frames, 2 accesses", func(plain bool) System {
			return &Tables{Bounds: Bounds{Adapters: 1, Pages: 2, Frames: 2, Accesses: 2}, plain: plain}
		}, 2 * 2 * 2},
		{"suspend, 2 adapters, 2 accesses", func(plain bool) System {
			return &Tables{Bounds: Bounds{Adapters: 2, Pages: 1, Frames: 2, Accesses: 1}, Suspend: true, Nested: true, plain: plain}
		}, 2 * 2},
		{"ATS, 2 accesses", func(plain bool) System {
			return &ATS{Bounds: Bounds{Adapters: 1, Pages: 1, Frames: 2, Accesses: 2, ITags: 2, Completions: 1, Credits: 2, Ring: 1}, plain: plain}
		}, 2 * 2},
	} {
		all, orbits := check(t, c.of(true)).States, check(t, c.of(false)).States
		if all < orbits || all > orbits*c.renamed || all < orbits*c.renamed/3 {
			t.Errorf("%s: %d states, %d without symmetry, of %d renamings", c.what, orbits, all, c.renamed)
		}
	}
}

// What is taken at once changes no verdict: there are only fewer states.
func TestStepsAtOnceAreSound(t *testing.T) {
	tables := func(suspend, each bool) System {
		return &Tables{Bounds: Bounds{Adapters: 1, Pages: 2, Frames: 3, Accesses: 1}, Suspend: suspend, each: each}
	}
	crowd := func(suspend, each bool) System {
		return &Tables{Bounds: Bounds{Adapters: 2, Pages: 1, Frames: 2, Accesses: 2}, Suspend: suspend, each: each}
	}
	cache := func(_, each bool) System {
		return &ATS{Bounds: Bounds{Adapters: 1, Pages: 1, Frames: 2, Accesses: 2, ITags: 2, Completions: 1, Credits: 2, Ring: 1}, each: each}
	}
	for _, of := range []func(suspend, each bool) System{tables, crowd, cache} {
		for _, suspend := range []bool{false, true} {
			if small, all := check(t, of(suspend, false)).States, check(t, of(suspend, true)).States; small >= all {
				t.Errorf("%d states, %d with each step by itself", small, all)
			}
		}
	}
}

// A walk through concrete states meets the same canonical states as one through
// canonical states: renaming actors commutes with every step.
func TestRenamingCommutesWithSteps(t *testing.T) {
	for _, name := range Names {
		for _, s := range slices.Concat(Systems(name, Small), Systems(name, Normal), Systems(name, Large)) {
			draw := rand.New(rand.NewPCG(1, 2))
			for range 30 {
				wander(t, name, s, draw)
			}
		}
	}
}

func wander(t *testing.T, name string, s System, draw *rand.Rand) {
	t.Helper()
	at := s.Initial()
	for range 100 {
		concrete, canonical := map[explore.Key]bool{}, map[explore.Key]bool{}
		var next []explore.Key
		s.Expand(at, false, func(step *explore.Step[[]Event]) {
			concrete[s.Canonical(step.To)] = true
			next = append(next, step.To)
		})
		s.Expand(s.Canonical(at), true, func(step *explore.Step[[]Event]) { canonical[step.To] = true })
		if len(concrete) != len(canonical) {
			t.Fatalf("%s, %s: %d successors of a state, %d of its canonical one", name, s.bounds(), len(concrete), len(canonical))
		}
		for k := range concrete {
			if !canonical[k] {
				t.Fatalf("%s, %s: a successor is none of the canonical state's", name, s.bounds())
			}
		}
		if len(next) == 0 {
			return
		}
		at = next[draw.IntN(len(next))]
	}
}
