package docs_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/platform"
)

// entry is a source as sources.md describes it.
type entry struct{ usedBy []string }

var (
	heading   = regexp.MustCompile(`(?m)^### \[([A-Za-z][A-Za-z0-9-]*)\]\n`)
	tag       = regexp.MustCompile(`\[([A-Za-z][A-Za-z0-9-]*)\]`)
	code      = regexp.MustCompile("`([^`]+)`")
	elsewhere = regexp.MustCompile(`\b[a-z_]+\.(?:md|csv)\b`)
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// bibliography reads sources.md.
func bibliography(t *testing.T) map[string]entry {
	t.Helper()
	text := string(read(t, "sources.md"))
	at := heading.FindAllStringSubmatchIndex(text, -1)
	all := map[string]entry{}
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		name, body := text[m[2]:m[3]], text[m[1]:end]
		if _, twice := all[name]; twice {
			t.Errorf("sources.md: [%s] stands twice", name)
		}
		if !strings.Contains(body, "\n- Trust: ") {
			t.Errorf("sources.md: [%s] does not say how far it can be trusted", name)
		}
		var e entry
		if _, used, ok := strings.Cut(body, "\n- Used by: "); ok {
			for _, c := range code.FindAllStringSubmatch(used, -1) {
				e.usedBy = append(e.usedBy, c[1])
			}
		}
		all[name] = e
	}
	return all
}

// covers tells whether keys name the parameter or a group above it. The peer's
// link and that of a switch are described as the adapter's.
func covers(keys []string, param string) bool {
	param = strings.TrimPrefix(param, "peer.")
	if link, ok := strings.CutPrefix(param, "host.switch.pcie."); ok {
		param = "pcie." + link
	}
	return slices.ContainsFunc(keys, func(k string) bool {
		return param == k || strings.HasPrefix(param, k+".")
	})
}

// Every parameter has a source, every tag in it an entry of sources.md that
// names the parameter or its group, and every key there cites the entry.
func TestSourcesOfParameters(t *testing.T) {
	params, err := configs.Params(&platform.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	sources := bibliography(t)
	cited := map[string][]string{}
	for _, p := range params {
		if p.Source == "" {
			t.Errorf("%s has no source", p.Key)
		}
		for _, m := range tag.FindAllStringSubmatch(p.Source, -1) {
			e, ok := sources[m[1]]
			switch {
			case !ok:
				t.Errorf("%s: [%s] is not in docs/sources.md", p.Key, m[1])
			case !covers(e.usedBy, p.Key):
				t.Errorf("%s cites [%s], whose entry in docs/sources.md does not say that it is used by it", p.Key, m[1])
			}
			cited[m[1]] = append(cited[m[1]], p.Key)
		}
	}
	for name, e := range sources {
		for _, key := range e.usedBy {
			if !slices.ContainsFunc(cited[name], func(p string) bool { return covers([]string{key}, p) }) {
				t.Errorf("docs/sources.md: [%s] is said to be used by %s, which does not cite it", name, key)
			}
		}
	}
}

// goFiles calls visit with every Go file of the module.
func goFiles(t *testing.T, visit func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || filepath.Dir(path) == "../docs" {
			return err
		}
		text, err := os.ReadFile(path)
		visit(path, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The tags in tables of rules and scenarios are entries of sources.md, and a
// source tag names no file but those of the project.
func TestReferencesLeadSomewhere(t *testing.T) {
	sources := bibliography(t)
	for _, page := range []string{"invariants.md", "scenarios.md"} {
		for line := range strings.Lines(string(read(t, page))) {
			if !strings.HasPrefix(line, "|") {
				continue
			}
			for _, m := range tag.FindAllStringSubmatch(line, -1) {
				if _, ok := sources[m[1]]; !ok {
					t.Errorf("%s: [%s] is not in docs/sources.md", page, m[1])
				}
			}
		}
	}
	params, err := configs.Params(&platform.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range params {
		for _, name := range elsewhere.FindAllString(p.Source, -1) {
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s: its source names %s, which is not in docs", p.Key, name)
			}
		}
	}
}

// parameters.md is what describe prints.
func TestParametersPageIsCurrent(t *testing.T) {
	want, err := configs.ParametersPage(&platform.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("parameters.md")
	if err != nil || !bytes.Equal(got, want) {
		t.Error("docs/parameters.md is out of date; in the repository's root run:\n" +
			"\tgo run ./cmd/rnicmmu describe --markdown > docs/parameters.md")
	}
}

// columns are the names of a table that a run writes, in its order.
func columns(t *testing.T, path string) (names []string) {
	t.Helper()
	text := read(t, path)
	f, err := parquet.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Schema().Columns() {
		names = append(names, strings.Join(c, "."))
	}
	return names
}

// results.md explains every column and every figure by its name, once, and
// none that does not exist.
func TestResultsPageIsComplete(t *testing.T) {
	dir := t.TempDir()
	rec, err := measure.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	var sum measure.Summary
	rec.Finish(&sum)
	if err := rec.Write(&sum, measure.Manifest{}, nil); err != nil {
		t.Fatal(err)
	}
	figures, _ := measure.Flatten(measure.Summary{})
	want := map[string][]string{ // by section of the page
		measure.AccessesFile:         columns(t, filepath.Join(dir, measure.AccessesFile)),
		measure.InvalidationsFile:    columns(t, filepath.Join(dir, measure.InvalidationsFile)),
		"summary.json and sweep.csv": figures,
	}
	got := explained(string(read(t, "results.md")))
	for section, names := range want {
		for _, name := range names {
			if n := got[section][name]; n != 1 {
				t.Errorf("results.md: %s: %s is explained %d times", section, name, n)
			}
		}
		for name := range got[section] {
			if !slices.Contains(names, name) {
				t.Errorf("results.md: %s: there is no %s", section, name)
			}
		}
	}
}

// explained counts, by section, the names in the first cells of a page's
// tables. Totals of causes stand beside their columns, in the second cell, and
// count as figures.
func explained(page string) map[string]map[string]int {
	const figures = "summary.json and sweep.csv"
	all := map[string]map[string]int{figures: {}}
	section := ""
	for _, line := range strings.Split(page, "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = title
			if all[section] == nil {
				all[section] = map[string]int{}
			}
		}
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(line, "|")
		for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
			all[section][m[1]]++
		}
		if section != figures && strings.HasPrefix(cells[2], " `accesses.") {
			all[figures][strings.Trim(cells[2], " `")]++
		}
	}
	return all
}
