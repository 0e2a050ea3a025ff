package sweep

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rnicmmu/measure"
)

const twoPoints = "name: e\ntitle: E\ndescription: d\nset: {workload.accesses: 300}\naxes:\n" +
	"  - {key: tpt.mtt.entries, values: [16, 64]}\n"

// sweepInto runs the plan and wants it to succeed.
func sweepInto(t *testing.T, p *Plan, dir string, resume bool) []Result {
	t.Helper()
	results, err := p.Run(t.Context(), Options{Dir: dir, Jobs: 1, Resume: resume})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// replace changes the first match of old in a file.
func replace(t *testing.T, path, old, replacement string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), old) {
		t.Fatalf("%s: no %s (%v)", path, old, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), old, replacement, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}

// refused wants a plan's error in one line that has all of want.
func refused(t *testing.T, p *Plan, o Options, want ...string) {
	t.Helper()
	_, err := p.Run(context.Background(), o)
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%+v: %v, want one line", o, err)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%+v: %v, want %q in it", o, err, w)
		}
	}
}

// What another program computed is not gone on with: neither one of another
// version or commit, nor one whose code differs from its commit.
func TestAnotherBuild(t *testing.T) {
	p := plan(t, twoPoints)
	build := measure.ThisBuild(Version)
	for _, c := range []struct{ key, value string }{
		{"version", build.Version}, {"commit", build.Commit}, {"binary", build.Binary},
	} {
		dir := filepath.Join(t.TempDir(), "s")
		sweepInto(t, p, dir, false)
		if err := p.Continues(dir); err != nil {
			t.Fatal(err)
		}
		replace(t, filepath.Join(dir, "manifest.json"), `"`+c.key+`": "`+c.value+`"`, `"`+c.key+`": "other"`)
		refused(t, p, Options{Dir: dir, Resume: true}, dir+": ", "another build", "other", "choose another --out")
		if p.Continues(dir) == nil {
			t.Errorf("another %s is the same build", c.key)
		}
	}
}

// A point of which a file is not as its run wrote it runs again, and says so
// once; the others are kept.
func TestBadPointRunsAgain(t *testing.T) {
	p := plan(t, twoPoints)
	dir := filepath.Join(t.TempDir(), "s")
	want := sweepInto(t, p, dir, false)
	first, second := filepath.Join(dir, "points", p.Points[0].ID), filepath.Join(dir, "points", p.Points[1].ID)
	cut := func(name string, size int64) error { return os.Truncate(filepath.Join(first, name), size) }
	for _, c := range []struct {
		file   string
		damage func() error
	}{
		{"accesses.parquet", func() error { return cut("accesses.parquet", 0) }},
		{"accesses.parquet", func() error { return cut("accesses.parquet", 1000) }},
		{"invalidations.parquet", func() error { return cut("invalidations.parquet", 11) }},
		{"invalidations.parquet", func() error { return os.Remove(filepath.Join(first, "invalidations.parquet")) }},
		{"config.resolved.yaml", func() error { return os.Remove(filepath.Join(first, "config.resolved.yaml")) }},
		{"summary.json", func() error { return cut("summary.json", 100) }},
		{"summary.json", func() error { return copyFiles(first, second, "summary.json") }},
		{"manifest.json", func() error { return cut("manifest.json", 10) }},
		{"manifest.json", func() error { return copyFiles(first, second, "summary.json", "manifest.json") }},
	} {
		if err := c.damage(); err != nil {
			t.Fatal(err)
		}
		got := sweepInto(t, p, dir, true)
		if again := got[0].Again; !strings.Contains(again, filepath.Join(first, c.file)) || strings.Contains(again, "\n") || got[1].Again != "" {
			t.Errorf("%s damaged: %q and %q", c.file, again, got[1].Again)
		}
		if got[0].Status != StatusOK || got[0].Summary.ResultHash != want[0].Summary.ResultHash {
			t.Errorf("%s damaged: ran again as %+v", c.file, got[0])
		}
		if got = sweepInto(t, p, dir, true); got[0].Again != "" {
			t.Errorf("%s mended: %s", c.file, got[0].Again)
		}
	}
}

// copyFiles puts files of one folder into the place of another's.
func copyFiles(into, from string, names ...string) error {
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(into, name), data, 0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A folder stays a sweep's whatever has happened to its manifest: nothing is
// written into it, with --resume or without.
func TestSpoiltManifest(t *testing.T) {
	p := plan(t, twoPoints)
	for _, left := range []string{"points/a/summary.json", "sweep.csv"} {
		for _, text := range []string{"", "{", "[]", "missing"} {
			dir := t.TempDir()
			put(t, dir, left, "kept")
			if text != "missing" {
				put(t, dir, "manifest.json", text)
			}
			for _, resume := range []bool{false, true} {
				refused(t, p, Options{Dir: dir, Resume: resume}, dir+": holds a sweep", "manifest.json", "choose another --out")
			}
			job := Job{Spec: p.Points[0].Spec, Dir: dir}
			if _, err := job.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "holds a sweep") {
				t.Errorf("a run into it: %v", err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, left)); string(got) != "kept" {
				t.Errorf("%s: %q, %v", left, got, err)
			}
		}
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
