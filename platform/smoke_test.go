package platform

import (
	"context"
	"testing"

	"rnicmmu/configs"
	"rnicmmu/measure"
)

// load is the default configuration with KEY=VALUE settings.
func load(t testing.TB, set ...string) Spec {
	t.Helper()
	var s Spec
	if _, err := configs.Load(&s, configs.Sources{Set: set}); err != nil {
		t.Fatal(err)
	}
	return s
}

// simulate runs a configuration and fails on an error or a violation.
func simulate(t testing.TB, in *Input, set ...string) *measure.Summary {
	t.Helper()
	sys, err := New([]Spec{load(t, set...)}, in)
	if err != nil {
		t.Fatal(err)
	}
	rec := measure.New()
	sum, err := sys.Run(context.Background(), rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	rec.Finish(sum)
	for _, v := range sum.Violations {
		t.Errorf("violation %s: %s", v.Rule, v.What)
	}
	return sum
}

func TestSmoke(t *testing.T) {
	sum := simulate(t, nil, "workload.accesses=1000")
	j, _ := sum.JSON()
	t.Log(string(j))
}
