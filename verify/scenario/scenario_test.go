package scenario

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// files are the scenarios that ship.
func files(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob("../scenarios/*.txt")
	if err != nil || len(all) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	return all
}

// Every shipped scenario runs as it expects, and its output is what the file has;
// -rewrite writes the output.
func TestScenarios(t *testing.T) {
	for _, path := range files(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			next := 0
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				if d.Cmd != "scenario" {
					return ""
				}
				s := f.Scenarios[next]
				next++
				r, err := s.Run(t.Context(), 0)
				if err != nil {
					t.Fatalf("%s: %v", d.Pos, err)
				}
				for _, x := range r.Failures {
					t.Errorf("%s:%d: %s", path, x.Line, x.Text)
				}
				return r.Output()
			})
		})
	}
}

// F23: the units' order within an instant decides nothing: shuffled runs print
// the same.
func TestShuffled(t *testing.T) {
	for _, path := range files(t) {
		f, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range f.Scenarios {
			for seed := uint64(1); seed < 3; seed++ {
				r, err := s.Run(t.Context(), seed)
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				if r.Output() != s.output {
					t.Errorf("%s: %s, shuffled by %d:\n%s", path, s.Name, seed, r.Output())
				}
			}
		}
	}
}

// No text makes the reader panic, and each error is a line with its place.
func FuzzParse(f *testing.F) {
	for _, path := range files(f) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse("fuzz.txt", text)
		if err == nil && len(file.Scenarios) == 0 {
			t.Error("no scenario and no error")
		}
	})
}

// The examples of the documentation run, and print what stands there.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/scenario.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```text\n(.*?)```").FindAllSubmatch(text, -1)
	if len(examples) != 10 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, e := range examples {
		f, err := Parse("docs/scenario.md", e[1])
		if err != nil {
			t.Error(err)
			continue
		}
		for _, s := range f.Scenarios {
			if r, err := s.Run(t.Context(), 0); err != nil || r.Output() != s.output {
				t.Errorf("%s: %v; it prints\n%s", s.Name, err, r.Output())
			}
		}
	}
}
