package configs

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestReadFileRefusesWhatIsNoSmallRegularFile(t *testing.T) {
	dir := t.TempDir()
	fifo, large, full := filepath.Join(dir, "fifo"), filepath.Join(dir, "large.yaml"), filepath.Join(dir, "full.yaml")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip("no FIFO here:", err)
	}
	for path, size := range map[string]int64{large: maxFile + 1, full: maxFile} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	for path, problem := range map[string]string{
		fifo:        "is not a regular file; write it to disk first",
		"/dev/zero": "is not a regular file; write it to disk first",
		dir:         "is a directory; name a file in it",
		large:       "is larger than 16MiB; is it a configuration?",
	} {
		_, err := ReadFile(path)
		if want := show(path) + ": " + problem; err == nil || err.Error() != want {
			t.Errorf("got %v; want %s", err, want)
		}
	}
	if doc, err := ReadFile(full); err != nil || len(doc.Data) != maxFile {
		t.Errorf("%d bytes of the largest file, error %v", len(doc.Data), err)
	}
}

// within fails when f takes longer; each of these took minutes once.
func within(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	begun := time.Now()
	f()
	if took := time.Since(begun); took > limit {
		t.Errorf("took %v", took)
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	var keys, replicas, axes strings.Builder
	env := make([]string, 100_000)
	for i := range 100_000 {
		fmt.Fprintf(&keys, "tpt.mtt.entries%d: 64\n", i)
		env[i] = fmt.Sprintf("RNICMMU_TPT_MTT_ENTRIES%06d=64", i)
	}
	replicas.WriteString("adapters: [" + strings.Repeat("{tpt.nothing: 1},", 100_000) + "]\n")
	axes.WriteString("name: e\naxes: [" + strings.Repeat("{key: tpt.nothing, values: [1]},", 100_000) + "]\n")
	within(t, 20*time.Second, func() {
		var s testSpec
		_, err := Load(&s, Sources{Files: []Document{{Name: "a.yaml", Data: []byte(keys.String())}}, Env: env})
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != maxProblems+1 || lines[maxProblems] != "… and 199980 more problems" {
			t.Errorf("%d lines, the last: %s", len(lines), lines[len(lines)-1])
		}
		if want := "a.yaml:20: tpt.mtt.entries19: unknown key; did you mean tpt.mtt.entries?"; lines[maxProblems-1] != want {
			t.Errorf("line 20: %s; want %s", lines[maxProblems-1], want)
		}
		_, err = Load(&s, Sources{Files: []Document{{Name: "a.yaml", Data: []byte(replicas.String())}}})
		if want := "a.yaml:1: adapters: 100000: out of range; 1 to 16"; err == nil || err.Error() != want {
			t.Errorf("got %v; want %s", err, want)
		}
		_, err = LoadExperiment(testSpec{}, Document{Name: "e.yaml", Data: []byte(axes.String())}, nil)
		if want := "e.yaml:2: axes: 100000 axes: there are not as many parameters"; err == nil || err.Error() != want {
			t.Errorf("got %v; want %s", err, want)
		}
	})
}

// The limit is a number of lines: 20 are printed, of 21 and 22 the rest counted.
func TestProblemsAtTheLimit(t *testing.T) {
	for n, last := range map[int]string{
		20: "a.yaml:20: x19: unknown key", 21: "… and 1 more problem", 22: "… and 2 more problems",
	} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "x%d: 1\n", i)
		}
		var s testSpec
		_, err := Load(&s, Sources{Files: []Document{{Name: "a.yaml", Data: []byte(text.String())}}})
		lines := strings.Split(err.Error(), "\n")
		if got := lines[len(lines)-1]; got != last || len(lines) != min(n, 21) {
			t.Errorf("%d problems: %d lines, the last: %s; want %s", n, len(lines), got, last)
		}
	}
}

func TestLongAxesAreRefusedAtOnce(t *testing.T) {
	const want = "e.yaml:2: pressure.overcommit: too many values; an axis has at most 4096"
	for _, axis := range []string{
		"from: 0.1, to: 10, times: 1.0000001",
		"from: 0.1, to: 10, times: 1.0000000000000000000000000000000000001",
		"from: 0.1, to: 10, step: 0.000000001",
		"from: 0, to: 10, step: 5e-324",
		"values: [" + strings.Repeat("1,", 100_000) + "]",
	} {
		within(t, 5*time.Second, func() {
			text := "name: e\naxes: [{key: pressure.overcommit, " + axis + "}]\n"
			_, err := LoadExperiment(testSpec{}, Document{Name: "e.yaml", Data: []byte(text)}, nil)
			if err == nil || err.Error() != want {
				t.Errorf("%.60s: got %v; want %s", axis, err, want)
			}
		})
	}
}

// A range holds what exact fractions give.
func TestRangesAreExact(t *testing.T) {
	p := mustTree(t, &testSpec{}).byPath["pressure.overcommit"].parameter
	rapid.Check(t, func(t *rapid.T) {
		hundredths := func(name string, least, most int) (string, *big.Rat) {
			n := rapid.IntRange(least, most).Draw(t, name)
			text := fmt.Sprintf("%d.%02d", n/100, n%100)
			return text, big.NewRat(int64(n), 100)
		}
		a := axisText{}
		var x, to, by *big.Rat
		a.from, x = hundredths("from", 1, 300)
		a.to, to = hundredths("to", 300, 6400)
		advance := new(big.Rat).Add
		if rapid.Bool().Draw(t, "product") {
			a.times, by = hundredths("times", 103, 300)
			advance = new(big.Rat).Mul
		} else {
			a.step, by = hundredths("step", 20, 300)
		}
		var want []string
		for ; x.Cmp(to) <= 0; x = new(big.Rat).Set(advance(x, by)) {
			f, _ := x.Float64()
			want = append(want, Format(f))
		}
		if got, problem := p.span(a); problem != "" || !slices.Equal(got, want) {
			t.Fatalf("%+v: %v %s; want %v", a, got, problem, want)
		}
	})
}
