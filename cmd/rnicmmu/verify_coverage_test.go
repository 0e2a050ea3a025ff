package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rnicmmu/verify/coverage"
)

// One configuration with two seeds: a table of groups, the bins that were not hit,
// and both files; merged with themselves the counts double and coverage stays.
func TestVerifyCoverage(t *testing.T) {
	dir := t.TempDir()
	set := []string{"--set", "workload.accesses=200", "--set", "scheme=odp", "--set", "workload.working_set=64KiB"}
	got := tool(t, dir, append([]string{"verify", "coverage", "default", "--seeds", "2", "-v", "--out", "a"}, set...)...)
	if got.code != 0 || !regexp.MustCompile(`(?m)^all, 2 runs +\d+ +\d+ +\d+$`).MatchString(got.stdout) || !strings.Contains(got.stdout, "\nrace_key: sent × walk\n") {
		t.Fatalf("code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	a, err := coverage.Read(filepath.Join(dir, "a", "coverage.json"))
	if err != nil || a.Runs != 2 || len(a.Seeds) != 2 {
		t.Fatalf("%+v: %v", a, err)
	}
	if page, err := os.ReadFile(filepath.Join(dir, "a", "coverage.html")); err != nil || !strings.Contains(string(page), "race_invalidate") {
		t.Errorf("page: %v", err)
	}
	got = tool(t, dir, "verify", "coverage", "--merge", "a/coverage.json", "--merge", "a/coverage.json", "--out", "b")
	b, err := coverage.Read(filepath.Join(dir, "b", "coverage.json"))
	if got.code != 0 || err != nil || b.Runs != 4 {
		t.Fatalf("code %d, %v: %s", got.code, err, got.stderr)
	}
	for i := range a.Groups {
		if a.Groups[i].Covered != b.Groups[i].Covered || 2*a.Groups[i].Bins[0].Hits != b.Groups[i].Bins[0].Hits {
			t.Errorf("%s: not twice the same", a.Groups[i].Name)
		}
	}
}

// What cannot be is refused in a line that names the flag.
func TestVerifyCoverageRefuses(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "other.json", `{"schema": "x"}`)
	for _, c := range []struct{ args, want string }{
		{"--merge missing.json", "--merge: open missing.json"},
		{"--merge other.json", "--merge: other.json: layout"},
		{"--set workload.accesses=1", "--set, --trace and --seed go with CONFIG"},
		{"--seeds -1", "--seeds"},
		{"a b", "one CONFIG at most"},
	} {
		got := tool(t, dir, append([]string{"verify", "coverage"}, strings.Fields(c.args)...)...)
		if got.code != exitUsage || !strings.Contains(got.stderr, c.want) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%s: code %d: %s", c.args, got.code, got.stderr)
		}
	}
}
