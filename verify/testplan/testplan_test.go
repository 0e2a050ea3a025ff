package testplan

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rnicmmu/verify"
	"rnicmmu/verify/coverage"
)

const root = "../.."

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// found are the first groups of what a pattern finds, each once.
func found(pattern, text string) (all []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		if !slices.Contains(all, m[1]) {
			all = append(all, m[1])
		}
	}
	return all
}

// files are the names of a folder's files, without what ends them.
func files(t *testing.T, folder, end string) (all []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, folder, "*"+end))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		all = append(all, strings.TrimSuffix(filepath.Base(p), end))
	}
	return all
}

// tests are all Go tests and transcripts.
func tests(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		folder, _ := filepath.Rel(root, filepath.Dir(path))
		folder = filepath.ToSlash(folder)
		if of, yes := strings.CutSuffix(folder, "/testdata/transcripts"); yes {
			all = append(all, of+": "+d.Name())
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, name := range found(`(?m)^func (Test\w+)\(`, string(text)) {
			all = append(all, folder+": "+name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// there is what the tree has.
func there(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{
		Test:      tests(t),
		Invariant: found(`(?m)^\| ([A-Z]+-[0-9]+) \|`, read(t, "docs/invariants.md")),
		Mutant:    files(t, "verify/mutants", ".patch"),
		Scenario:  files(t, "verify/scenarios", ".txt"),
	}
	ids, _, _ := strings.Cut(read(t, "docs/scenarios.md"), "\n## Out of scope")
	all[Scenario] = append(all[Scenario], found(`(?m)^\| ([A-Z][0-9]+) \|`, ids)...)
	for _, r := range verify.Rules() {
		all[Rule] = append(all[Rule], r.ID)
	}
	for _, g := range coverage.Groups() {
		all[Covergroup] = append(all[Covergroup], g.Name)
	}
	if text, err := os.ReadFile(filepath.Join(root, "verify/protocol/runs.go")); err == nil {
		if names := regexp.MustCompile(`(?m)^var Names = .*$`).FindString(string(text)); names != "" {
			all[Explorer] = found(`"([a-z]+)"`, names)
		}
	}
	return all
}

// TestPlan: every name of the plan is of something, everything that is to be
// planned is in a testpoint, and each testpoint has what shows it.
func TestPlan(t *testing.T) {
	points, err := Parse(read(t, "verify/testplan.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range Orphans(points, there(t)) {
		t.Error(line)
	}
	for _, p := range points {
		if len(p.Names[Test])+len(p.Names[Scenario]) == 0 {
			t.Errorf("line %d: testpoint %s has neither tests nor scenarios", p.Line, p.Name)
		}
		if len(p.Names[Covergroup]) == 0 && p.Stage != "V1" {
			t.Errorf("line %d: testpoint %s has no covergroup", p.Line, p.Name)
		}
	}
}

// TestOrphans: both directions, wildcards and files of scenarios.
func TestOrphans(t *testing.T) {
	points, err := Parse("testpoint a\n stage V2\n goal x\n goal y\n rule A-*, B-01\n scenario F2, lit-*\n test d/e: TestX, TestY\n")
	if err != nil || points[0].Goal != "x y" {
		t.Fatal(err, points)
	}
	got := Orphans(points, map[string][]string{Rule: {"A-01", "A-02", "C-01"}, Scenario: {"f02-x", "F2", "F20", "f20-y"},
		Test: {"d/e: TestX", "d/e: TestZ", "d: TestY"}, Mutant: {"m"}})
	want := []string{"line 7: testpoint a: there is no test d/e: TestY", "line 5: testpoint a: there is no rule B-01",
		"line 6: testpoint a: there is no scenario lit-*", "no testpoint names rule C-01", "no testpoint names scenario F20", "no testpoint names scenario f20-y", "no testpoint names mutant m"}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s", strings.Join(got, "\n"))
	}
}

// TestParseRefuses: what is no plan is refused with its line.
func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"rule A", "testpoint", "testpoint a b", "testpoint a\n stage V1\n goal x\ntestpoint a\n stage V1\n goal x",
		"testpoint a\n stage V4\n goal x", "testpoint a\n stage V1", "testpoint a\n stage V1\n goal x\n rules A", "testpoint a\n stage V1\n goal x\n rule",
		"testpoint a\n stage V1\n goal x\n rule A,,B", "testpoint a\n stage V1\n goal x\n test TestX", "testpoint a\n stage V1\n goal x\n rule [a"} {
		if _, err := Parse(text); err == nil || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
