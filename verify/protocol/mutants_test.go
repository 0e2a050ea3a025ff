package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rnicmmu/verify/protocol/explore"
)

// root is the repository.
const root = "../.."

var (
	mutantName = regexp.MustCompile(`(?m)^# id: (protocol-[a-z-]+)$`)
	caughtBy   = regexp.MustCompile(`(?m)^# caught by: protocol ([a-z]+)$`)
	touched    = regexp.MustCompile(`(?m)^\+\+\+ b/(\S+)$`)
)

// longest is the most messages that a mutant's counterexample may have.
const longest = 25

// Each mutant of a rule has a short counterexample.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program a mutant")
	}
	patches, err := filepath.Glob(root + "/verify/mutants/protocol-*.patch")
	if err != nil || len(patches) < 12 {
		t.Fatalf("%d mutants of protocols, error %v", len(patches), err)
	}
	for _, path := range patches {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".patch"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			id, by := mutantName.FindSubmatch(text), caughtBy.FindSubmatch(text)
			if id == nil || by == nil || string(id[1])+".patch" != filepath.Base(path) {
				t.Fatal("its head does not say who it is and what catches it")
			}
			r := exploreMutant(t, path, text, string(by[1]))
			if r.Verdict != Broken || len(r.Steps) > longest || len(r.Steps) == 0 {
				t.Errorf("%s after %d messages: %s", r.Verdict, len(r.Steps), r.Text())
			}
		})
	}
}

// exploreMutant explores a protocol in a program with a patch.
func exploreMutant(t *testing.T, path string, text []byte, name string) (r Report) {
	t.Helper()
	folder := t.TempDir()
	replace := map[string]string{}
	for _, m := range touched.FindAllStringSubmatch(string(text), -1) {
		original, err := filepath.Abs(filepath.Join(root, m[1]))
		if err != nil {
			t.Fatal(err)
		}
		code, err := os.ReadFile(original)
		if err != nil {
			t.Fatal(err)
		}
		mutant := filepath.Join(folder, m[1])
		if err := os.MkdirAll(filepath.Dir(mutant), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(mutant, code, 0o666); err != nil {
			t.Fatal(err)
		}
		replace[original] = mutant
	}
	patch, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	apply := exec.Command("git", "apply", patch)
	apply.Dir = folder
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("go", "test", "-vet=off", "-count=1", "-overlay", file, "-run", "^TestExploreOne$", ".")
	c.Env = append(os.Environ(), "PROTOCOL="+name, "REPORT="+filepath.Join(folder, "report"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	report, err := os.ReadFile(filepath.Join(folder, "report"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(bytes.NewReader(report)).Decode(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Explore the protocol that the environment names, up to the first broken rule, for
// TestMutants.
func TestExploreOne(t *testing.T) {
	name := os.Getenv("PROTOCOL")
	if name == "" {
		t.Skip("no protocol is named")
	}
	var r Report
	var err error
	for _, s := range Systems(name, Small) {
		if r, err = Check(context.Background(), name, s, explore.Options{}); err != nil || r.Verdict == Broken {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(os.Getenv("REPORT"), text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}
