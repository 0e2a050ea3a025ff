package mrc_test

import (
	"context"
	"fmt"
	"testing"

	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/cache"
	"rnicmmu/platform"
	"rnicmmu/sweep/mrc"
	"rnicmmu/workload"
)

// With one access outstanding, lines of one entry and sets by page number, the
// cycle model misses as often as the curve says, to the unit: accesses that span
// pages included.
func TestCycleModelAgrees(t *testing.T) {
	g, err := workload.NewGenerator(workload.SyntheticSpec{Pattern: workload.Zipf, ZipfTheta: 0.99, Accesses: 4000,
		WorkingSet: 8 << 20, Regions: 1, Page: model.Shift4K, AccessBytes: 9000, QPs: 1, Tenants: 1})
	if err != nil {
		t.Fatal(err)
	}
	all, err := workload.ReadAll(g, 0)
	if err != nil {
		t.Fatal(err)
	}
	refs, err := mrc.Read(workload.NewSlice(all), model.Shift4K, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"lru", "fifo"} {
		for _, ways := range []int{0, 1, 4} {
			for _, entries := range []int{64, 512} {
				want := curve(t, refs, policy, ways, entries)
				if got := simulated(t, all, policy, ways, entries); got != want {
					t.Errorf("%s, %d ways, %d entries: the model misses %d times, the curve says %d", policy, ways, entries, got, want)
				}
			}
		}
	}
}

func simulated(t *testing.T, all []workload.Access, policy string, ways, entries int) uint64 {
	t.Helper()
	var spec platform.Spec
	set := []string{"workload.outstanding=1", "tpt.mtt.line_entries=1", "tpt.mtt.index=page", "tpt.mtt.replacement=" + policy,
		fmt.Sprintf("tpt.mtt.ways=%d", ways), fmt.Sprintf("tpt.mtt.entries=%d", entries)}
	if _, err := configs.Load(&spec, configs.Sources{Set: set}); err != nil {
		t.Fatal(err)
	}
	system, err := platform.New([]platform.Spec{spec}, &platform.Input{Accesses: all})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := system.Run(context.Background(), measure.New(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return sum.TPT.MTT.Misses
}

func curve(t *testing.T, refs *mrc.References, policy string, ways, entries int) uint64 {
	t.Helper()
	p, err := cache.ParsePolicy(policy)
	if err != nil {
		t.Fatal(err)
	}
	points, err := mrc.Curve(refs, p, ways, []int{entries})
	if err != nil {
		t.Fatal(err)
	}
	return points[0].Misses
}
