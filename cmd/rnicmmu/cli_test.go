package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rnicmmu/measure"
)

// asTool makes the test binary behave as the command.
const asTool = "RNICMMU_TEST_AS_TOOL"

func TestMain(m *testing.M) {
	if os.Getenv(asTool) != "" {
		os.Unsetenv(asTool)
		main()
		return
	}
	os.Exit(m.Run())
}

type outcome struct {
	stdout, stderr string
	code           int
}

func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Dir = dir
	c.Env = append(os.Environ(), asTool+"=1")
	return c
}

// tool runs the command in dir.
func tool(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	c := command(t.Context(), dir, args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{out.String(), errs.String(), c.ProcessState.ExitCode()}
}

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Bad usage, configuration and input: exit 2, one line that names the place
// and the mend, nothing on standard output.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "mine.yaml", "tpt:\n  mtt:\n    entires: 4\n")
	put(t, dir, "units.yaml", "tpt:\n  clock: 800\n")
	put(t, dir, "empty.csv", "")
	put(t, dir, "header.csv", "op,va,len\n")
	put(t, dir, "bad.csv", "op,va,len\nR,zzz,64\n")
	put(t, dir, "file", "")
	put(t, dir, "good.csv", "op,va,len\nW,0x1000,64\n")
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	const experiment = "name: e\ntitle: E\ndescription: d\naxes: [{key: %s}]\n"
	put(t, dir, "traces.yaml", fmt.Sprintf(experiment, "workload.trace, values: [redis]"))
	put(t, dir, "lengths.yaml", fmt.Sprintf(experiment, "workload.accesses, values: [1, 2]"))
	put(t, dir, "memory.yaml", fmt.Sprintf(experiment, "host.memory, values: [1GiB]"))
	for _, c := range []struct{ args, want string }{
		{"run mine.yaml", "mine.yaml:3: tpt.mtt.entires: unknown key; did you mean tpt.mtt.entries?"},
		{"run units.yaml", "units.yaml:2: tpt.clock: 800: a unit is due, e.g. 800MHz"},
		{"run nowhere.yaml", "nowhere.yaml: no such file"},
		{"run nfp6000-xx", "; embedded profiles are default, "},
		{"run one two", "one CONFIG at most"},
		{"run --seed x", `"x" for "--seed" flag: a whole number, 0 or more, is due; see rnicmmu run --help`},
		{"run --seed -1", `"-1" for "--seed" flag: a whole number, 0 or more, is due`},
		{"sweep tlb-size --jobs 99999999999999999999", `"--jobs" flag: too large a number; see`},
		{"mrc redis --entries 64,x", `"64,x" for "--entries" flag: a whole number`},
		{"run --set workload.accesses=10 --out loop/a", "loop is a symbolic link to nowhere; choose another --out"},
		{"run --set workload.accesses=10 --out=", "--out: is empty"},
		{"sweep tlb-size --out=", "--out: is empty"},
		{"run --bogus", "--bogus"},
		{"run --set scheme=sva2", "scheme: sva2: not one of"},
		{"run --set tpt.mtt.entries=100 --set tpt.mtt.ways=3", "tpt.mtt: 100 lines do not divide into sets of 3 ways; choose"},
		{"run --set pcie.mps=4MiB", "pcie.mps: 4MiB: out of range"},
		{"run --set pressure.overcommit=2 --set host.memory=1GiB", "set together with host.memory"},
		{"run --set pressure.overcommit=2", "host.memory: 1024 pages of 4KiB to pin, 512 frames"},
		{"run --set warmup=2000000", "warmup: 2000000 accesses are all of the 1000000"},
		{"run --trace nowhere.csv", "nowhere.csv: no such file"},
		{"run --trace empty.csv", "empty.csv: is empty"},
		{"run --trace header.csv", "header.csv:1: no accesses"},
		{"run --trace bad.csv", "bad.csv:2: "},
		{"run --trace .", "directory"},
		{"run --set workload.accesses=10 --out file/sub", "file/sub"},
		{"sweep tlb", "tlb: unknown experiment"},
		{"sweep traces.yaml", "workload.trace cannot be an axis"},
		{"sweep lengths.yaml --trace good.csv", "workload.accesses cannot be an axis"},
		{"sweep memory.yaml --set pressure.overcommit=2", "pressure.overcommit and host.memory are both set"},
		{"sweep memory.yaml --set host.memory=2GiB", "host.memory is an axis of e"},
		{"sweep", "EXPERIMENT is due"},
		{"plot .", "neither summary.json nor sweep.csv"},
		{"plot . --format gif", "gif"},
		{"trace info empty.csv", "empty.csv: is empty"},
		{"trace convert bad.csv --to xml", "csv is due"},
		{"describe tpt.mtt.entires", "did you mean tpt.mtt.entries?"},
		{"calibrate usb", `unknown target "usb"; there is pcie`},
		{"calibrate pcie --gen 9", "--gen 9: 1 to "},
		{"calibrate pcie --lanes 12", "--lanes 12: 1, 2, 4, 8, 16 or 32 is due"},
		{"calibrate --out=", "--out: is empty"},
		{"calibrate --format gif", "gif"},
		{"bogus", `unknown command "bogus"`},
	} {
		got := tool(t, dir, strings.Fields(c.args)...)
		if got.code != exitUsage || !strings.Contains(got.stderr, c.want) || got.stdout != "" {
			t.Errorf("%s: exit %d, %q on standard output, want exit 2 and an error with %q; got %q",
				c.args, got.code, got.stdout, c.want, got.stderr)
		}
		if n := strings.Count(got.stderr, "\n"); n != 1 {
			t.Errorf("%s: %d lines, want one: %q", c.args, n, got.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("a refused command made a folder")
	}
}

// No arguments: help on one screen with the two commands to try first.
func TestFirstScreen(t *testing.T) {
	got := tool(t, t.TempDir())
	if got.code != 0 || !strings.Contains(got.stdout, "rnicmmu run ") || !strings.Contains(got.stdout, "rnicmmu sweep tlb-size") {
		t.Errorf("exit %d: %s", got.code, got.stdout)
	}
	if n := strings.Count(got.stdout, "\n"); n > 24 {
		t.Errorf("%d lines, more than a screen", n)
	}
	version := tool(t, t.TempDir(), "--version").stdout
	if !strings.HasPrefix(version, "rnicmmu ") || !strings.Contains(version, "commit ") || !strings.Contains(version, "go1.") {
		t.Errorf("--version prints %q", version)
	}
}

// A run writes its files; the resolved configuration repeats it; --json prints
// what summary.json holds.
func TestRunRepeatsFromResolved(t *testing.T) {
	dir := t.TempDir()
	first := tool(t, dir, "run", "--set", "workload.accesses=2000", "--set", "scheme=odp", "--seed", "7", "--out", "a", "--json")
	if first.code != 0 {
		t.Fatal(first.stderr)
	}
	for _, name := range []string{"accesses.parquet", "invalidations.parquet", "summary.json", "manifest.json", "config.resolved.yaml"} {
		if info, err := os.Stat(filepath.Join(dir, "a", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	second := tool(t, dir, "run", "a/config.resolved.yaml", "--json")
	var x, y measure.Summary
	if err := errors.Join(json.Unmarshal([]byte(first.stdout), &x), json.Unmarshal([]byte(second.stdout), &y)); err != nil {
		t.Fatal(err)
	}
	onDisk, err := measure.ReadSummary(filepath.Join(dir, "a", "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	if x.ResultHash == "" || x.ResultHash != y.ResultHash || onDisk.ResultHash != x.ResultHash || x.Accesses.Completed != 2000 {
		t.Errorf("hashes %s, %s, %s; %d completed", x.ResultHash, y.ResultHash, onDisk.ResultHash, x.Accesses.Completed)
	}
	if plot := tool(t, dir, "plot", "a", "--format", "svg"); plot.code != 0 || !strings.Contains(plot.stdout, "latency.svg") {
		t.Errorf("plot: exit %d %s%s", plot.code, plot.stdout, plot.stderr)
	}
}

// Environment below --set, above the file.
func TestPrecedence(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "c.yaml", "workload: {accesses: 10}\nseed: 3\n")
	t.Setenv("RNICMMU_WORKLOAD_ACCESSES", "20")
	t.Setenv("RNICMMU_SEED", "4")
	got := tool(t, dir, "run", "c.yaml", "--set", "seed=5", "--out", "a")
	text, err := os.ReadFile(filepath.Join(dir, "a", "config.resolved.yaml"))
	if err != nil {
		t.Fatal(got.stderr, err)
	}
	if !strings.Contains(string(text), "accesses: 20\n") && !strings.Contains(string(text), "accesses: 20 ") {
		t.Error("the environment does not override the file")
	}
	if !strings.Contains(string(text), "seed: 5") {
		t.Error("--set does not override the environment")
	}
}

const experimentText = `name: small
title: Small
description: three sizes
set:
  workload.accesses: 3000
axes:
  - key: tpt.mtt.entries
    values: [16, 64, 256]
figures: [miss-rate]
`

// sweep.csv is in plan order and the same with any number of jobs; points that
// are there are not run again; another sweep into the same folder is refused.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "small.yaml", experimentText)
	for _, jobs := range []string{"1", "2"} {
		if got := tool(t, dir, "sweep", "small.yaml", "--out", "j"+jobs, "--jobs", jobs); got.code != 0 || !strings.Contains(got.stdout, "3 ok") {
			t.Fatal(got.stdout, got.stderr)
		}
	}
	one, two := read(t, dir, "j1/sweep.csv"), read(t, dir, "j2/sweep.csv")
	if one != two {
		t.Error("sweep.csv differs between --jobs 1 and 2")
	}
	rows := strings.Split(strings.TrimSpace(one), "\n")
	for i, want := range []string{"tpt.mtt.entries,status,", "16,ok,", "64,ok,", "256,ok,"} {
		if !strings.HasPrefix(rows[i], want) {
			t.Errorf("row %d begins %.30q, want %q", i, rows[i], want)
		}
	}
	again := tool(t, dir, "sweep", "small.yaml", "--out", "j1")
	if again.code != exitUsage || !strings.Contains(again.stderr, "--resume") {
		t.Errorf("a second sweep into the folder: exit %d, %s", again.code, again.stderr)
	}
	points, _ := filepath.Glob(filepath.Join(dir, "j1/points/*/summary.json"))
	before := modified(t, points[0])
	if got := tool(t, dir, "sweep", "small.yaml", "--out", "j1", "--resume"); got.code != 0 {
		t.Error(got.stderr)
	}
	if !modified(t, points[0]).Equal(before) || read(t, dir, "j1/sweep.csv") != one {
		t.Error("--resume ran a finished point again, or changed the table")
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func modified(t *testing.T, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// A refused point is a row, and the sweep goes on and ends well.
func TestSweepRefusedPoint(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "p.yaml", "name: p\ntitle: P\ndescription: d\nset: {workload.accesses: 500}\naxes:\n"+
		"  - {key: scheme, values: [pinned, odp]}\n  - {key: pressure.overcommit, values: [1, 2]}\nfigures: [latency]\n")
	got := tool(t, dir, "sweep", "p.yaml", "--out", "o")
	if got.code != 0 || !strings.Contains(got.stdout, "4 points: 3 ok, 1 refused") {
		t.Fatalf("exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if table := read(t, dir, "o/sweep.csv"); !strings.Contains(table, "pinned,2,refused,") {
		t.Error("no refused row in", table[:200])
	}
}

// Ctrl-C: what has finished is kept in valid files, and the summary says so.
func TestInterruptedRun(t *testing.T) {
	dir := t.TempDir()
	c := command(t.Context(), dir, "run", "--set", "workload.accesses=1000000000", "--out", "a", "--json")
	var out bytes.Buffer
	c.Stdout = &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, filepath.Join(dir, "a", ".accesses.parquet.*.tmp"))
	time.Sleep(500 * time.Millisecond)
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit %d, want 130", code)
	}
	sum, err := measure.ReadSummary(filepath.Join(dir, "a", "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	rows := uint64(0)
	if err := measure.ReadAccesses(filepath.Join(dir, "a", "accesses.parquet"), func(a []measure.Access) { rows += uint64(len(a)) }); err != nil {
		t.Fatal(err)
	}
	if !sum.Interrupted || rows == 0 || rows != sum.Accesses.Completed || len(sum.Violations) != 0 {
		t.Errorf("interrupted %v, %d rows, %d completed, %d violations", sum.Interrupted, rows, sum.Accesses.Completed, len(sum.Violations))
	}
}

// A sweep stopped by Ctrl-C, and one killed outright, go on with --resume.
func TestInterruptedSweep(t *testing.T) {
	dir := t.TempDir()
	accesses := "400000" // a second or so a point
	if testing.Short() {
		accesses = "40000" // the race detector takes ten times as long
	}
	put(t, dir, "long.yaml", strings.Replace(experimentText, "3000", accesses, 1))
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		out := signal.String()
		c := command(t.Context(), dir, "sweep", "long.yaml", "--out", out, "--jobs", "1")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, filepath.Join(dir, out, "points/*/summary.json"))
		_ = c.Process.Signal(signal)
		_ = c.Wait()
		got := tool(t, dir, "sweep", "long.yaml", "--out", out, "--resume")
		if got.code != 0 || !strings.Contains(got.stdout, "3 ok") {
			t.Errorf("%v: resumed: exit %d %s%s", signal, got.code, got.stdout, got.stderr)
		}
	}
	if read(t, dir, "interrupt/sweep.csv") != read(t, dir, "killed/sweep.csv") {
		t.Error("the resumed sweeps differ")
	}
}

func waitFor(t *testing.T, pattern string) {
	t.Helper()
	for range 600 {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("no %s in 30 s", pattern)
}
