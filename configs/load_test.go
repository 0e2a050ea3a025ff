package configs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"rnicmmu/model"
)

// TestLoad runs the transcripts. `load` takes a file as input, --set pairs in
// set=(…) and environment pairs in env=(…), and prints the parameters that
// differ from their defaults with the place of each, or the errors.
func TestLoad(t *testing.T) {
	datadriven.Walk(t, "testdata/load", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			src := Sources{Files: []Document{{Name: "configs/mine.yaml", Data: []byte(strings.ReplaceAll(d.Input, `\t`, "\t"))}}}
			for _, arg := range d.CmdArgs {
				switch arg.Key {
				case "set":
					src.Set = arg.Vals
				case "env":
					src.Env = arg.Vals
				case "profile":
					src.Profile = arg.Vals[0]
				}
			}
			var spec testSpec
			resolved, err := Load(&spec, src)
			if err != nil {
				return err.Error()
			}
			return differences(t, &spec, resolved)
		})
	})
}

// differences prints what a source gave.
func differences(t *testing.T, spec *testSpec, resolved *Resolved) string {
	tr, v := mustTree(t, spec), must(target(spec))
	var out strings.Builder
	for _, n := range tr.params {
		if resolved.Given(n.path) {
			fmt.Fprintf(&out, "%s = %s (%s)\n", n.path, n.kind.format(v.FieldByIndex(n.index)), resolved.Place(n.path))
		}
	}
	if out.Len() == 0 {
		return "all defaults"
	}
	return out.String()
}

func mustTree(t testing.TB, spec any) *tree {
	t.Helper()
	tr, err := treeOf(spec)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestDefaults(t *testing.T) {
	var s testSpec
	if err := Defaults(&s); err != nil {
		t.Fatal(err)
	}
	switch {
	case s.Seed != 1, s.Scheme != "pinned", s.Adapters.Count != 1, s.NotOurs != 0, s.Temperature != -5:
	case s.TPT.Clock != 800_000_000, s.TPT.Page != 4096, s.TPT.MPT != (TestCache{256, 8, "lru"}):
	case s.TPT.MTT != (testMTT{TestCache{2048, 4, "lru"}, 2}), s.PCIe.ReadLatency != 450_000:
	case s.PCIe.Link != (testLink{16e9, 100e9, true}), s.Pressure != (testPressure{0.5, 1_500_000, 20 << 30}):
	default:
		return
	}
	t.Errorf("defaults: %+v", s)
}

func TestTagsThatContradictThemselves(t *testing.T) {
	for want, spec := range map[string]any{
		"configs: a: no default": struct {
			A int `key:"a"`
		}{},
		"configs: a: default: 9: out of range; 0 to 5": struct {
			A int `key:"a" default:"9" max:"5"`
		}{},
		"configs: a: declared twice": struct {
			A int `key:"a" default:"1"`
			B int `key:"a" default:"1"`
		}{},
		"configs: a: no parameter can be a float32": struct {
			A float32 `key:"a" default:"1"`
		}{},
		"configs: a.b and a_b share RNICMMU_A_B": struct {
			A struct {
				B int `key:"b" default:"1"`
			} `key:"a"`
			C int `key:"a_b" default:"1"`
		}{},
		"configs: profile: reserved for the file itself": struct {
			A string `key:"profile" default:""`
		}{},
		"configs: A-b: a key is lower-case letters, digits and _, on an exported field": struct {
			A string `key:"A-b" default:""`
		}{},
		"configs: int is not a Spec: a struct is due":   3,
		"configs: <nil> is not a Spec: a struct is due": nil,
	} {
		if _, err := Params(spec); err == nil || err.Error() != want {
			t.Errorf("got %v; want %s", err, want)
		}
	}
	if err := Defaults(testSpec{}); err == nil {
		t.Error("a Spec by value was filled")
	}
}

func TestErrorsLeaveTheSpecAlone(t *testing.T) {
	s := testSpec{Seed: 77}
	if _, err := Load(&s, Sources{Set: []string{"seed=5", "tpt.clock=800"}}); err == nil || s.Seed != 77 {
		t.Errorf("seed %d, error %v", s.Seed, err)
	}
}

func TestSetAndWithOverrides(t *testing.T) {
	var s testSpec
	if err := Defaults(&s); err != nil {
		t.Fatal(err)
	}
	if err := set(&s, "adapters", "[{tpt.mtt.entries: 64}, {}]"); err != nil {
		t.Fatal(err)
	}
	first, err := WithOverrides(s, s.Adapters.Overrides[0])
	if err != nil || first.TPT.MTT.Entries != 64 || s.TPT.MTT.Entries != 2048 {
		t.Errorf("first adapter has %d entries, all have %d (%v)", first.TPT.MTT.Entries, s.TPT.MTT.Entries, err)
	}
	err = set(&s, "tpt.mtt", "3")
	if want := "tpt.mtt: a group: set one of its keys (entries, ways, replacement, levels)"; err == nil || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
}

func TestIgnoredEnvironment(t *testing.T) {
	var s testSpec
	src := Sources{Env: []string{"RNICMMU_OTHER=/tmp", "RNICMMU_SEED=9"}, IgnoreEnv: []string{"RNICMMU_OTHER"}}
	if _, err := Load(&s, src); err != nil || s.Seed != 9 {
		t.Errorf("seed %d, error %v", s.Seed, err)
	}
	src.IgnoreEnv = nil
	_, err := Load(&s, src)
	if want := "RNICMMU_OTHER: sets no parameter"; err == nil || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
}

func TestReplicasInText(t *testing.T) {
	for value, want := range map[string]string{
		"[{}, {tpt.clock: 1GHz}]":     "",
		"3":                           "",
		"17":                          "adapters: 17: out of range; 1 to 16",
		"x":                           "adapters: x: an integer is due, or a list of settings",
		"[{tpt.clock: 1}]":            "adapters: adapters[0].tpt.clock: 1: a unit is due, e.g. 1MHz",
		"[{seed: 1}]":                 "adapters: adapters[0].seed: cannot differ; only keys of tpt, pcie.link can",
		"[":                           "adapters: YAML syntax: did not find expected node content",
		"[{}]\nseed: 3":               `adapters: "[{}]\nseed: 3": a count or a list of settings is due`,
		"[{tpt.clock: 1GHz}, {a: 1}]": "adapters: adapters[1].a: unknown key",
	} {
		s := must(WithOverrides(testSpec{}, nil))
		err := set(&s, "adapters", value)
		if got := fmt.Sprint(err); got != want && (err != nil || want != "") {
			t.Errorf("adapters=%s: %s; want %s", value, got, want)
		}
	}
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	_, err := ReadFile(path)
	if want := path + ": no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
	if err := os.WriteFile(path, []byte("seed: 2\nlabel: \"\\xff\"\n\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s testSpec
	_, err = Load(&s, Sources{Files: []Document{doc}})
	if want := path + ":3: not UTF-8 text"; err == nil || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{"tpt:\n  clock: 1GHz\n", "adapters: [{tpt: {mtt: {entries: 64}}}, {}]", "a: &x {b: *x}",
		"tpt: *y", "? [a]\n: b\n", "- 1", "seed: 1\n---\nseed: 2", "\"\\xff\": 1", "tpt: &a\n  mtt: *a", "<<: {seed: 2}", "%YAML 1.9\n---\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s testSpec
		doc := Document{Name: "f.yaml", Data: []byte(text)}
		if _, err := Load(&s, Sources{Files: []Document{doc}}); err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "f.yaml") && !strings.HasPrefix(line, "… and ") {
					t.Fatalf("a line without its place: %q in %q", line, err)
				}
			}
			return
		}
		checkRoundTrip(t, s)
		_, _ = LoadExperiment(&s, doc, nil)
	})
}

// set gives one parameter the value that the text spells.
func set(spec any, key, value string) error {
	return apply(spec, []model.Setting{{Key: key, Value: value}})
}
