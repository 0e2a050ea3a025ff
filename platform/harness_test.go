package platform

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"rnicmmu/configs"
	"rnicmmu/measure"
)

// outcome is a finished run.
type outcome struct {
	sys *System
	sum *measure.Summary
}

// option changes a system before its run.
type option func(*System)

// adapters are the specs of each adapter of a configuration, as the command
// line derives them.
func adapters(set []string) ([]Spec, error) {
	var s Spec
	if _, err := configs.Load(&s, configs.Sources{Set: set}); err != nil {
		return nil, err
	}
	all := make([]Spec, s.Adapters.Count)
	for i := range all {
		all[i] = s
		if i < len(s.Adapters.Overrides) {
			var err error
			if all[i], err = configs.WithOverrides(s, s.Adapters.Overrides[i]); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// execute runs a configuration.
func execute(in *Input, set []string, options ...option) (*outcome, error) {
	specs, err := adapters(set)
	if err != nil {
		return nil, err
	}
	sys, err := New(specs, in)
	if err != nil {
		return nil, err
	}
	return finish(sys, options...)
}

// finish runs a system.
func finish(sys *System, options ...option) (*outcome, error) {
	for _, o := range options {
		o(sys)
	}
	rec := measure.New()
	sum, err := sys.Run(context.Background(), rec, nil)
	if err != nil {
		return nil, err
	}
	rec.Finish(sum)
	return &outcome{sys, sum}, nil
}

// broken lists the rules that a run broke.
func (o *outcome) broken() string {
	var all []string
	for _, v := range o.sum.Violations {
		all = append(all, fmt.Sprintf("%s at %v: %s", v.Rule, v.TimePS, v.What))
	}
	return strings.Join(all, "\n")
}

// must runs a configuration and fails on an error or a violation.
func must(t testing.TB, in *Input, set ...string) *outcome {
	t.Helper()
	o, err := execute(in, set)
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(set, " "), err)
	}
	if broken := o.broken(); broken != "" {
		t.Errorf("%s:\n%s", strings.Join(set, " "), broken)
	}
	return o
}

func itoa(n int) string { return strconv.Itoa(n) }

// load is the default configuration with KEY=VALUE settings.
func load(t testing.TB, set ...string) Spec {
	t.Helper()
	specs, err := adapters(set)
	if err != nil {
		t.Fatal(err)
	}
	return specs[0]
}

// assemble builds the system of a configuration.
func assemble(t testing.TB, in *Input, set []string) *System {
	t.Helper()
	specs, err := adapters(set)
	if err != nil {
		t.Fatal(err)
	}
	sys, err := New(specs, in)
	if err != nil {
		t.Fatal(err)
	}
	return sys
}

// record runs a system and leaves its rows in a directory.
func record(t testing.TB, sys *System) (o *outcome, dir string) {
	t.Helper()
	dir = t.TempDir()
	rec, err := measure.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := sys.Run(context.Background(), rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	rec.Finish(sum)
	if err := rec.Write(sum, measure.NewManifest("test", nil, 1, "", time.Now()), nil); err != nil {
		t.Fatal(err)
	}
	return &outcome{sys, sum}, dir
}
