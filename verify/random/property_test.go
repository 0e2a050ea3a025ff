package random

import (
	"context"
	"os"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/platform"
	"rnicmmu/sweep"
)

// most is the number of accesses that the property's runs have at most.
func most() int {
	if os.Getenv("RNICMMU_LONG") != "" {
		return 3000
	}
	return 150
}

// Whatever the configuration, the run ends, no rule is broken, no access fails
// without a reason, and all comes to rest with every page holding its last
// write; and ticking the units in another order changes nothing.
func TestAnyConfiguration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := configurations(nil, most()).Draw(t, "configuration")
		o := Run(context.Background(), configs.Sources{}, set)
		if o.Status != OK {
			t.Fatalf("rnicmmu run --verify%s\n%s: %s", Flags(set), o.Status, o.What)
		}
		if got := shuffled(t, set, rapid.Uint64().Draw(t, "order")); got != o.Hash {
			t.Fatalf("rnicmmu run --verify%s\nin another order: result %s, want %s", Flags(set), got, o.Hash)
		}
	})
}

// shuffled is the result hash of a configuration whose units tick in another
// order.
func shuffled(t *rapid.T, set []string, order uint64) string {
	var job sweep.Job
	if _, err := configs.Load(&job.Spec, configs.Sources{Set: set}); err != nil {
		t.Fatal(err)
	}
	job.Watch = func(s *platform.System) func(bool) []measure.Violation {
		s.Shuffle(order)
		return func(bool) []measure.Violation { return nil }
	}
	sum, err := job.Run(context.Background(), nil)
	if err != nil {
		t.Fatalf("in another order: %v", err)
	}
	return sum.ResultHash
}
