package mutants_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rnicmmu/verify/mutants"
)

// patience is how long a command of a mutant may take.
const patience = 5 * time.Minute

// chosen are the mutants of this run: a few, or all with RNICMMU_MUTANTS=all, every fourth with quarter, or
// those whose ids begin with its value.
func chosen(t *testing.T) (all []*mutants.Mutant) {
	t.Helper()
	files, err := filepath.Glob("*.patch")
	if err != nil || len(files) == 0 {
		t.Fatal("no patches: ", err)
	}
	for i, f := range files {
		m, err := mutants.Read(f)
		if err != nil {
			t.Error(err)
			continue
		}
		switch want := os.Getenv("RNICMMU_MUTANTS"); {
		case want == "all", want == "quarter" && i%4 == 0, want != "" && strings.HasPrefix(m.ID, want), want == "" && (i%32 == 0 || m.ID == "protocol-walk-installs-overtaken"):
			all = append(all, m)
		}
	}
	return all
}

// TestMutantsAreCaught: the program with the fault is caught by a check that the
// patch names, and the same command finds nothing without it. It prints which
// check, and how soon.
func TestMutantsAreCaught(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sound, err := mutants.Build(context.Background(), root, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	good := map[string]bool{}
	for _, m := range chosen(t) {
		t.Run(m.ID, func(t *testing.T) {
			ctx, stop := context.WithTimeout(context.Background(), patience)
			defer stop()
			if command := strings.Join(m.Seen, " "); !good[command] {
				o, err := mutants.Run(ctx, root, sound, m.Seen)
				if err != nil || o.Exit != 0 {
					t.Fatalf("without the fault, rnicmmu %s: exit %d, %v\n%s", command, o.Exit, err, o.Text)
				}
				good[command] = true
			}
			program, err := mutants.Build(ctx, root, dir, m)
			if err != nil {
				t.Fatal(err)
			}
			defer os.Remove(program)
			o, err := mutants.Run(ctx, root, program, m.Seen)
			if err != nil {
				t.Fatal(err)
			}
			check, line := m.Catcher(&o)
			if check == "" {
				t.Fatalf("not caught by %v: exit %d\n%s", m.Caught, o.Exit, o.Text)
			}
			if strings.HasPrefix(m.ID, "protocol-") {
				short(t, o.Text)
				reproduced(ctx, t, m, sound, program)
			}
			t.Logf("%s in %.1f s: %s", check, o.Wall.Seconds(), line)
		})
	}
}

// longest is the most steps that a counterexample of the explorer may have.
const longest = 25

var counterexample = regexp.MustCompile(`counterexample of (\d+) steps`)

// short requires counterexamples that people can read.
func short(t *testing.T, text string) {
	t.Helper()
	all := counterexample.FindAllStringSubmatch(text, -1)
	for _, c := range all {
		if n, err := strconv.Atoi(c[1]); err != nil || n < 1 || n > longest {
			t.Errorf("a counterexample of %s steps; 1 to %d are due", c[1], longest)
		}
	}
	if len(all) == 0 {
		t.Errorf("no counterexample:\n%s", text)
	}
}

// reproduced has the program with the fault save its counterexample, and runs that
// on the cycle model of both programs: it fails with the fault only.
func reproduced(ctx context.Context, t *testing.T, m *mutants.Mutant, sound, program string) {
	t.Helper()
	if strings.HasPrefix(m.Cycle, "none, because ") {
		return
	}
	if m.Cycle != "reproduced" {
		t.Fatalf("cycle model: %q; reproduced, or none and because of what, is due", m.Cycle)
	}
	root, _ := filepath.Abs("../..")
	folder := t.TempDir()
	run := func(program string, args ...string) mutants.Outcome {
		o, err := mutants.Run(ctx, root, program, args)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if o := run(program, append(slices.Clone(m.Seen), "--save", folder)...); o.Exit != 1 {
		t.Fatalf("exit %d with --save\n%s", o.Exit, o.Text)
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*.txt"))
	if len(files) != 1 {
		t.Fatalf("%d scenarios saved", len(files))
	}
	if o := run(sound, "scenario", files[0]); o.Exit != 0 {
		t.Errorf("the saved scenario, without the fault: exit %d\n%s", o.Exit, o.Text)
	}
	o := run(program, "scenario", files[0])
	if o.Exit != 1 && o.Exit != 3 {
		t.Errorf("the saved scenario, with the fault: exit %d\n%s", o.Exit, o.Text)
	}
	_, why, _ := strings.Cut(strings.TrimSpace(o.Text), "\n")
	t.Logf("the scenario too: %.160s", strings.TrimSpace(why))
}

// TestPatchesApply: every patch still fits the sources, and changes a few lines
// of code and no test.
func TestPatchesApply(t *testing.T) {
	files, _ := filepath.Glob("*.patch")
	for _, f := range files {
		m, err := mutants.Read(f)
		if err != nil {
			t.Error(err)
			continue
		}
		patched, err := m.Apply("../..")
		if err != nil {
			t.Error(err)
		}
		for name, text := range patched {
			old, _ := os.ReadFile(filepath.Join("../..", name))
			was, is := strings.Split(string(old), "\n"), strings.Split(string(text), "\n")
			if strings.HasSuffix(name, "_test.go") || slices.Equal(was, is) || max(len(was)-len(is), len(is)-len(was)) > 12 {
				t.Errorf("%s: %s: %d lines become %d", f, name, len(was), len(is))
			}
		}
	}
}
