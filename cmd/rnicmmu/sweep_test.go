package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A figure of the documents is the overview that its experiment draws: the hash
// in its small print is that of the plan.
func TestFiguresOfDocsAreCurrent(t *testing.T) {
	files, err := filepath.Glob("../../docs/figures/*.svg")
	if err != nil || len(files) == 0 {
		t.Fatalf("figures %v, %v", files, err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".svg")
		var f sweepFlags
		plan, err := f.plan(sweepCommand(), name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte(" config "+plan.Hash+" ")) {
			t.Errorf("%s is out of date; in the repository's root run:\n\tgo run ./cmd/rnicmmu sweep %s --out /tmp/%s && cp /tmp/%s/figures/overview.svg docs/figures/%s.svg",
				path, name, name, name, name)
		}
	}
}

// What changes in step with an axis is as much the sweep's as the axis: neither
// --set nor a trace may mean something else.
func TestInStepWithAnAxis(t *testing.T) {
	var set sweepFlags
	set.set = []string{"workload.outstanding=5"}
	if _, err := set.plan(sweepCommand(), "adapters"); err == nil || !strings.Contains(err.Error(), "workload.outstanding is an axis of adapters") {
		t.Errorf("--set: %v", err)
	}
	var replay sweepFlags
	replay.trace = "redis"
	if _, err := replay.plan(sweepCommand(), "adapters"); err == nil || !strings.Contains(err.Error(), "workload.accesses cannot be an axis") {
		t.Errorf("--trace: %v", err)
	}
	var f sweepFlags
	plan, err := f.plan(sweepCommand(), "adapters")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plan.Points {
		w, n := &p.Spec.Workload, p.Spec.Adapters.Count
		if w.QPs != 8*n || w.Outstanding != 8*n || w.Accesses != 12000*uint64(n) || p.Spec.Warmup.Accesses != 2000*uint64(n) {
			t.Errorf("%v: %d QPs, %d outstanding, %d accesses", p.Settings, w.QPs, w.Outstanding, w.Accesses)
		}
	}
}
