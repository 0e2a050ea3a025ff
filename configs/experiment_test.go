package configs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestExperiment runs the transcripts: `experiment` reads one, and prints its
// points or its errors.
func TestExperiment(t *testing.T) {
	datadriven.RunTest(t, "testdata/experiment", func(t *testing.T, d *datadriven.TestData) string {
		e, err := LoadExperiment(testSpec{}, Document{Name: "e.yaml", Data: []byte(d.Input)}, nil)
		if err != nil {
			return err.Error()
		}
		var out strings.Builder
		fmt.Fprintf(&out, "%s: %d points, set %v, figures %v\n", e.Name, e.Size(), e.Set, e.Figures)
		for _, p := range e.Points() {
			fmt.Fprintln(&out, e.Overrides(p))
		}
		return out.String()
	})
}

func TestEmbeddedExperiments(t *testing.T) {
	if list := Experiments(); len(list) == 0 || len(Profiles()) == 0 {
		t.Fatalf("experiments %v, profiles %v", list, Profiles())
	}
	for _, l := range append(Experiments(), Profiles()...) {
		if l.Description == "" {
			t.Errorf("%s has no description", l.Name)
		}
	}
	// Keys are checked where the product's Spec is known; here, that a name
	// leads to the experiment that calls itself so.
	for _, l := range Experiments() {
		doc, err := ExperimentDocument(l.Name)
		if err != nil || !strings.Contains(string(doc.Data), "name: "+l.Name+"\n") {
			t.Errorf("%s: %v in %s", l.Name, err, doc.Name)
		}
	}
	_, err := ExperimentDocument("tlb-siz")
	if want := "tlb-siz: unknown experiment; did you mean tlb-size?"; err == nil || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
}

// Names of figures are checked with all else, and told by line.
func TestFiguresAreCheckedWithTheRest(t *testing.T) {
	text := "name: e\nset: {seed: x}\nfigures:\n  - latncy\n  - overview\n"
	_, err := LoadExperiment(testSpec{}, Document{Name: "e.yaml", Data: []byte(text)}, []string{"overview", "latency"})
	want := "e.yaml:2: seed: x: an integer is due\ne.yaml:4: figures: latncy: not one of overview, latency; did you mean latency?"
	if err == nil || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
}

func TestLoadTakesTheExperimentBelowSet(t *testing.T) {
	e, err := LoadExperiment(testSpec{}, Document{Name: "e.yaml", Data: []byte("name: e\nset: {seed: 2, scheme: odp}\n")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var s testSpec
	file := Document{Name: "c.yaml", Data: []byte("seed: 1\ntpt: {page: 2MiB}\n")}
	r, err := Load(&s, Sources{Files: []Document{file}, Experiment: e, Set: []string{"scheme=sva"}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Seed != 2 || s.Scheme != "sva" || s.TPT.Page != 2<<20 || r.Place("seed") != "e.yaml:2" {
		t.Errorf("seed %d from %s, scheme %s, page %d", s.Seed, r.Place("seed"), s.Scheme, s.TPT.Page)
	}
	err = r.Problem("tpt.page", "larger than %s", "host.page")
	if want := "c.yaml:2: tpt.page: larger than host.page"; err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
}

func FuzzExperiment(f *testing.F) {
	for _, seed := range []string{"name: a\naxes: [{key: seed, values: [1, 2]}]", "axes: [{key: seed, from: 1, to: 9, times: 2}]",
		"name: a\naxes: [{key: seed, values: [1, 2], with: {scheme: [odp, sva]}}]",
		"name: a\naxes: [{key: pressure.overcommit, from: 0.1, to: 60, times: 1.01}]", "set: {seed: 1}\naxes: 3", "figures: [a, [b]]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := LoadExperiment(testSpec{}, Document{Name: "f.yaml", Data: []byte(text)}, nil)
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "f.yaml") && !strings.HasPrefix(line, "… and ") {
					t.Fatalf("a line without its place: %q", line)
				}
			}
			return
		}
		if e.Size() > maxPoints {
			t.Fatalf("%d points", e.Size())
		}
	})
}
