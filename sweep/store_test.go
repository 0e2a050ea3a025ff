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
