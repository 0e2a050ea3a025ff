package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rnicmmu/clocked"
)

func writeRun(t testing.TB, dir string, accesses []Access, invalidations []Invalidation) Summary {
	t.Helper()
	r, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := feed(r, accesses, invalidations)
	config := []byte("seed: 7\n")
	if err := r.Write(&s, NewManifest("1.2.3", config, 7, "", time.Now()), config); err != nil {
		t.Fatal(err)
	}
	return s
}

func fileNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestRunLeavesExactlyItsFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "run")
	accesses, invalidations := sampleRun(11, 100)
	written := writeRun(t, dir, accesses, invalidations)
	want := []string{AccessesFile, ConfigFile, InvalidationsFile, ManifestFile, SummaryFile}
	if got := fileNames(t, dir); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	read, err := ReadSummary(filepath.Join(dir, SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(read), fmt.Sprint(written); got != want {
		t.Errorf("summary read back as\n%s, written as\n%s", got, want)
	}
	config, err := os.ReadFile(filepath.Join(dir, ConfigFile))
	if err != nil || string(config) != "seed: 7\n" {
		t.Errorf("configuration %q, %v", config, err)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil || !strings.Contains(string(manifest), `"config_hash": "`+HashBytes(config)+`"`) {
		t.Errorf("manifest %s, %v", manifest, err)
	}
}

func TestTablesDependOnRowsAlone(t *testing.T) {
	accesses, invalidations := sampleRun(12, 40000) // more than a row group
	dirs := [2]string{t.TempDir(), t.TempDir()}
	first := writeRun(t, dirs[0], accesses, invalidations)
	random := rand.New(rand.NewPCG(12, 1))
	second := writeRun(t, dirs[1],
		shuffleInstants(random, accesses, func(a *Access) clocked.Time { return a.Complete }),
		shuffleInstants(random, invalidations, func(v *Invalidation) clocked.Time { return v.Done }))
	for _, name := range []string{AccessesFile, InvalidationsFile} {
		a, errA := os.ReadFile(filepath.Join(dirs[0], name))
		b, errB := os.ReadFile(filepath.Join(dirs[1], name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs between two equal runs (%v, %v)", name, errA, errB)
		}
	}
	without := feed(New(), accesses, invalidations).ResultHash
	if first.ResultHash != second.ResultHash || first.ResultHash != without {
		t.Errorf("hashes %s, %s, without files %s", first.ResultHash, second.ResultHash, without)
	}
}

// fullDisk takes room bytes, then has no space.
type fullDisk struct {
	io.WriteCloser
	room int
}

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.room -= len(b); d.room < 0 {
		return 0, &fs.PathError{Op: "write", Path: "temporary", Err: syscall.ENOSPC}
	}
	return d.WriteCloser.Write(b)
}

func TestFullDiskLeavesNoFile(t *testing.T) {
	accesses, invalidations := sampleRun(13, 70000) // two row groups are written on the way
	for _, c := range []struct {
		file string
		room int
	}{
		{AccessesFile, 0}, {AccessesFile, 100_000}, {InvalidationsFile, 1000}, {InvalidationsFile, 0},
		{ConfigFile, 0}, {ManifestFile, 10}, {SummaryFile, 100},
	} {
		t.Run(fmt.Sprint(c.file, " after ", c.room), func(t *testing.T) {
			dir := t.TempDir()
			r := New()
			var err error
			r.output, err = createOutput(dir, func(path string) (io.WriteCloser, error) {
				f, err := createFile(path)
				if err == nil && strings.Contains(filepath.Base(path), c.file) {
					f = &fullDisk{f, c.room}
				}
				return f, err
			})
			if err != nil {
				t.Fatal(err)
			}
			s := feed(r, accesses, invalidations)
			err = r.Write(&s, Manifest{}, []byte("seed: 1\n"))
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("error %v is not the full disk's", err)
			}
			if !strings.HasPrefix(err.Error(), filepath.Join(dir, c.file)+": ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q does not name the file in one line", err)
			}
			if names := fileNames(t, dir); len(names) != 0 {
				t.Errorf("left behind: %v", names)
			}
		})
	}
}

func TestErrTellsOfAFullDiskDuringTheRun(t *testing.T) {
	accesses, _ := sampleRun(14, groupRows+2*batchRows)
	r := New()
	var err error
	r.output, err = createOutput(t.TempDir(), func(path string) (io.WriteCloser, error) {
		f, err := createFile(path)
		return &fullDisk{f, 0}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		t.Fatalf("before the first row: %v", err)
	}
	feed(r, accesses, nil)
	r.output.accesses.stop()
	if err := r.Err(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v is not the full disk's", err)
	}
}

func TestUnwritableTargetIsOneLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "taken")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Create(file)
	if err == nil || !strings.HasPrefix(err.Error(), file+": ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("folder that is a file: %v", err)
	}
	denied := func(path string) (io.WriteCloser, error) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	dir := t.TempDir()
	_, err = createOutput(dir, denied)
	if !errors.Is(err, fs.ErrPermission) || !strings.HasPrefix(err.Error(), filepath.Join(dir, AccessesFile)+": ") {
		t.Errorf("no permission: %v", err)
	}
}

func TestInterruptedKeepsWhatHasFinished(t *testing.T) {
	dir := t.TempDir()
	accesses, invalidations := sampleRun(15, 1500)
	r, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range accesses {
		r.Access(accesses[i].Complete, &accesses[i])
	}
	for i := range invalidations {
		r.Invalidation(invalidations[i].Done, &invalidations[i])
	}
	s := Summary{Accesses: AccessSummary{Issued: 2000}, Invalidations: InvalidationSummary{Issued: 2000}}
	s.Interrupted = true
	r.Finish(&s)
	if err := r.Write(&s, Manifest{}, nil); err != nil {
		t.Fatal(err)
	}
	read, err := ReadSummary(filepath.Join(dir, SummaryFile))
	if err != nil || !read.Interrupted || len(read.Violations) != 0 {
		t.Errorf("summary %+v, %v", read, err)
	}
	rows := 0
	if err := ReadAccesses(filepath.Join(dir, AccessesFile), func(a []Access) { rows += len(a) }); err != nil || rows != 1500 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// contents are the folder's files by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range fileNames(t, dir) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(data)
	}
	return all
}

// Complete results give way to complete ones only, interrupted ones to any.
func TestInterruptedRunKeepsCompleteResults(t *testing.T) {
	dir := t.TempDir()
	run := func(seed uint64, interrupted bool) (Summary, error) {
		r, err := Create(dir)
		if err != nil {
			t.Fatal(err)
		}
		accesses, invalidations := sampleRun(seed, 500)
		s := feed(r, accesses, invalidations)
		s.Interrupted = interrupted
		return s, r.Write(&s, Manifest{Seed: seed}, []byte("seed: 1\n"))
	}
	for i, interrupted := range []bool{true, true, false, false} {
		want, err := run(uint64(i), interrupted)
		if err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
		if got, err := ReadSummary(filepath.Join(dir, SummaryFile)); err != nil || got.ResultHash != want.ResultHash {
			t.Fatalf("run %d did not replace the one before (%v)", i, err)
		}
	}
	before := contents(t, dir)
	_, err := run(4, true)
	if want := dir + ": keeps the results of an earlier run; those of this interrupted one are dropped"; !errors.Is(err, ErrKept) || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
	if !maps.Equal(contents(t, dir), before) {
		t.Error("the earlier files changed")
	}
}

func TestDiscardLeavesNothingAndKeepsEarlierFiles(t *testing.T) {
	dir := t.TempDir()
	accesses, invalidations := sampleRun(16, 3000)
	writeRun(t, dir, accesses, invalidations)
	before := fileNames(t, dir)
	r, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	feed(r, accesses, invalidations)
	r.Discard()
	r.Discard()
	if got := fileNames(t, dir); !slices.Equal(got, before) {
		t.Errorf("files %v, before %v", got, before)
	}
	if err := r.Write(&Summary{}, Manifest{}, nil); err == nil {
		t.Error("writing after Discard gives no error")
	}
}

func TestPeakMemoryCoversWhatIsHeld(t *testing.T) {
	held := make([]byte, 64<<20)
	for i := range held {
		held[i] = 1
	}
	if got := PeakMemory(); got < uint64(len(held)) {
		t.Errorf("peak memory %d bytes with %d held", got, len(held))
	}
}
