package docs_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	invariant   = regexp.MustCompile(`(?:^|[^-A-Za-z0-9])((?:ATS|FLT|FRW|INV|KEY|OVR|PRE|RC|SUS)-[0-9]+)\b`) // not the end of a rule's id
	scenarios   = regexp.MustCompile(`\bscenarios? [A-F][0-9]+(?: and [A-F][0-9]+)?`)
	scenarioID  = regexp.MustCompile(`\b[A-F][0-9]+\b`)
	firstCell   = regexp.MustCompile(`(?m)^\| ([A-Z]+-?[0-9]+) \|`)
	comment     = regexp.MustCompile(`(?m)^\s*(?://|#) .*$`)
	leading     = regexp.MustCompile(`(?m)^\s*(?://|#) (?:[A-Z]+-?[0-9]+(?:, | and )?)+:`)
	function    = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	scenarioRow = regexp.MustCompile(`(?m)^\| ([A-F][0-9]+) \|.*\| ([a-z/]+: .*) \|$`)
)

// ids are the invariants and scenarios of a page's tables: first cells.
func ids(t *testing.T, page string) map[string]bool {
	t.Helper()
	text, _, _ := strings.Cut(string(read(t, page)), "\n## Out of scope")
	all := map[string]bool{}
	for _, m := range firstCell.FindAllStringSubmatch(text, -1) {
		if all[m[1]] {
			t.Errorf("%s: %s stands twice", page, m[1])
		}
		all[m[1]] = true
	}
	return all
}

// comments are the lines of a test file or transcript that may name ids.
func comments(text string) string {
	return strings.Join(comment.FindAllString(text, -1), "\n")
}

// tests calls visit with the comments of every test file, transcript and scenario.
func tests(t *testing.T, visit func(path, comments string)) {
	t.Helper()
	goFiles(t, func(path, text string) {
		if strings.HasSuffix(path, "_test.go") {
			visit(path, comments(text))
		}
	})
	files, err := filepath.Glob("../components/*/testdata/transcripts/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	scenarios, err := filepath.Glob("../verify/scenarios/*.txt")
	if err != nil || len(scenarios) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, f := range append(files, scenarios...) {
		visit(f, comments(string(read(t, f))))
	}
}

// Every invariant and scenario that the code names is listed.
func TestIDsAreListed(t *testing.T) {
	rules, inputs := ids(t, "invariants.md"), ids(t, "scenarios.md")
	goFiles(t, func(path, text string) {
		for _, m := range invariant.FindAllStringSubmatch(text, -1) {
			if id := m[1]; !rules[id] {
				t.Errorf("%s names %s, which is not in docs/invariants.md", path, id)
			}
		}
		for _, list := range append(leading.FindAllString(text, -1), scenarios.FindAllString(text, -1)...) {
			for _, id := range scenarioID.FindAllString(list, -1) {
				if !inputs[id] {
					t.Errorf("%s names %s, which is not in docs/scenarios.md", path, id)
				}
			}
		}
	})
}

// Every invariant is named by a test.
func TestInvariantsAreTested(t *testing.T) {
	orphans := ids(t, "invariants.md")
	if len(orphans) < 60 {
		t.Fatalf("%d invariants found", len(orphans))
	}
	tests(t, func(_, text string) {
		for _, m := range invariant.FindAllStringSubmatch(text, -1) {
			delete(orphans, m[1])
		}
	})
	for _, id := range slices.Sorted(maps.Keys(orphans)) {
		t.Errorf("no test names %s", id)
	}
}

// Every test that scenarios.md names for a scenario exists and names it.
func TestScenariosAreTested(t *testing.T) {
	named := map[string][]string{} // comments of the files with a test, by package and name
	goFiles(t, func(path, text string) {
		for _, m := range function.FindAllStringSubmatch(text, -1) {
			key := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../") + ": " + m[1]
			named[key] = append(named[key], comments(text))
		}
	})
	tests(t, func(path, text string) {
		if dir, name, ok := strings.Cut(strings.TrimPrefix(filepath.ToSlash(path), "../"), "/testdata/transcripts/"); ok {
			named[dir+": "+name] = []string{text}
		}
		if name, ok := strings.CutSuffix(filepath.Base(path), ".txt"); ok {
			named["verify/scenarios: "+name] = []string{text}
		}
	})
	rows := scenarioRow.FindAllStringSubmatch(string(read(t, "scenarios.md")), -1)
	if len(rows) != len(ids(t, "scenarios.md")) {
		t.Errorf("%d rows name tests", len(rows))
	}
	for _, row := range rows {
		word := regexp.MustCompile(`\b` + row[1] + `\b`)
		for list := range strings.SplitSeq(row[2], "; ") {
			dir, names, _ := strings.Cut(list, ": ")
			for name := range strings.SplitSeq(names, ", ") {
				if !slices.ContainsFunc(named[dir+": "+name], word.MatchString) {
					t.Errorf("%s: there is no %s %s that names it", row[1], dir, name)
				}
			}
		}
	}
}
