package main

import (
	"bytes"
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
	put(t, dir, "out/small-2/manifest.json", "{") // no longer known as what it is
	into("small-3")
	points, _ := filepath.Glob(filepath.Join(dir, "out/small-3/points/*/accesses.parquet"))
	if err := os.Truncate(points[0], 0); err != nil {
		t.Fatal(err)
	}
	got := tool(t, dir, "sweep", "small.yaml")
	if got.code != 0 || !strings.HasSuffix(got.stderr, "accesses.parquet: no whole Parquet file; the point ran again\n") || strings.Count(got.stderr, "\n") != 1 {
		t.Errorf("with a table cut short: exit %d, %s", got.code, got.stderr)
	}
	got = tool(t, dir, "sweep", "small.yaml", "--out", "out/small", "--resume")
	if got.code != exitUsage || !strings.Contains(got.stderr, "another build") || strings.Count(got.stderr, "\n") != 1 {
		t.Errorf("--resume: exit %d, %s", got.code, got.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "small-4")); err == nil {
		t.Error("a fourth folder was made")
	}
}

// Output that cannot be written is an error of every command.
func TestFullStandardOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	defer full.Close()
	dir := t.TempDir()
	put(t, dir, "small.yaml", strings.Replace(experimentText, "3000", "300", 1))
	for _, args := range []string{"sweep small.yaml --out s", "plot s --format svg", "run --check", "run --set workload.accesses=10",
		"describe", "trace info redis", "mrc redis --entries 64", "help", "",
		"decode tlp 30000000 01000004 00000000 00000004"} {
		c := command(t.Context(), dir, strings.Fields(args)...)
		var errs bytes.Buffer
		c.Stdout, c.Stderr = full, &errs
		_ = c.Run()
		if code := c.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(errs.String(), "no space left") || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s: exit %d, %q", args, code, errs.String())
		}
	}
}
