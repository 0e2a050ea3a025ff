package docs_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var importLine = regexp.MustCompile(`(?m)^    ([a-z/]+) +([a-z/ ]+)$`)

// allowedImports is the table of architecture.md.
func allowedImports(t *testing.T) map[string][]string {
	t.Helper()
	_, text, ok := strings.Cut(string(read(t, "architecture.md")), "\nImports go one way.")
	if !ok {
		t.Fatal("architecture.md does not say who may import whom")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	allowed := map[string][]string{}
	for _, m := range importLine.FindAllStringSubmatch(text, -1) {
		allowed[m[1]] = strings.Fields(m[2])
	}
	return allowed
}

func within(pkg, folder string) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") }

// mayImport judges by the line of the nearest folder that has one.
func mayImport(allowed map[string][]string, pkg, imported string) bool {
	for folder := pkg; folder != "."; folder = filepath.ToSlash(filepath.Dir(folder)) {
		line, ok := allowed[folder]
		for _, name := range line {
			if within(imported, name) {
				return true
			}
		}
		if ok {
			return false
		}
	}
	return false
}

// Who imports whom is as architecture.md has it.
func TestImportsGoOneWay(t *testing.T) {
	allowed := allowedImports(t)
	used := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
		for folder := range allowed {
			used[folder] = used[folder] || within(pkg, folder)
		}
		for _, i := range file.Imports {
			ours, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "rnicmmu/")
			if ok && !mayImport(allowed, pkg, ours) {
				t.Errorf("%s imports %s, which architecture.md does not allow", path, ours)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, seen := range used {
		if !seen {
			t.Errorf("architecture.md: no package lies in %s", folder)
		}
	}
	for _, never := range [][2]string{{"model/key", "clocked"}, {"clocked", "model"}, {"measure", "components/msg"},
		{"components/tpt", "components/pcie"}, {"components/msg", "components/tpt"}, {"workload", "clocked"}} {
		if mayImport(allowed, never[0], never[1]) {
			t.Errorf("architecture.md lets %s import %s", never[0], never[1])
		}
	}
}
