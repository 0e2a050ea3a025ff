package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Without --out a sweep goes on with its own points, and takes the next number
// where those are of another build, which --resume refuses.
func TestSweepOfAnotherBuild(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "small.yaml", strings.Replace(experimentText, "3000", "300", 1))
	into := func(want string) {
		t.Helper()
		if got := tool(t, dir, "sweep", "small.yaml"); got.code != 0 || !strings.Contains(got.stdout, filepath.Join("out", want, "sweep.csv")) {
			t.Fatalf("exit %d, %s%s; want results in %s", got.code, got.stdout, got.stderr, want)
		}
	}
	into("small")
	into("small")
	manifest := read(t, dir, "out/small/manifest.json")
	put(t, dir, "out/small/manifest.json", strings.Replace(manifest, `"version": "`, `"version": "0.0.`, 1))
	into("small-2")
	into("small-2")
	got := tool(t, dir, "sweep", "small.yaml", "--out", "out/small", "--resume")
	if got.code != exitUsage || !strings.Contains(got.stderr, "another build") || strings.Count(got.stderr, "\n") != 1 {
		t.Errorf("--resume: exit %d, %s", got.code, got.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "small-3")); err == nil {
		t.Error("a third folder was made")
	}
}
