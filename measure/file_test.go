package measure

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestWriteFileReplacesWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	for _, text := range []string{"first, and longer", "second"} {
		if err := WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v; want %q", got, err, text)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%d files, %v; want one and no temporary", len(entries), err)
	}
}

func TestWriteFileFailsInOneLine(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{
		filepath.Join(dir, "gone", "a.txt"),
		dir + string(filepath.Separator) + ".", // a folder, not a file
	} {
		path = filepath.Clean(path)
		err := WriteFile(path, nil)
		if err == nil || !strings.HasPrefix(err.Error(), path+": cannot write: ") || strings.ContainsAny(err.Error(), "\n") ||
			strings.Contains(err.Error(), ".tmp") || !strings.HasSuffix(err.Error(), "; choose another --out") {
			t.Errorf("%s: %v", path, err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), ".*.tmp")); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	}
}

// The mend fits the cause.
func TestMendOfUnwritablePlaces(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	isFile := " cannot write: " + taken + " is a file; choose another --out"
	for _, path := range []string{taken, filepath.Join(taken, "a"), filepath.Join(taken, "a", "b")} {
		if _, err := Create(path); err == nil || err.Error() != path+":"+isFile {
			t.Errorf("%s: %v", path, err)
		}
	}
	below := filepath.Join(taken, "sweep.csv")
	if err := WriteFile(below, nil); err == nil || err.Error() != below+":"+isFile {
		t.Errorf("%v", err)
	}
	for cause, want := range map[syscall.Errno]string{
		syscall.ENOSPC: "out: cannot write: no space left on device; free space or choose another --out",
		syscall.EDQUOT: "out: cannot write: disk quota exceeded; free space or choose another --out",
		syscall.EACCES: "out: cannot write: permission denied; choose another --out",
		syscall.EPERM:  "out: cannot write: operation not permitted; choose another --out",
		syscall.EROFS:  "out: cannot write: read-only file system; choose another --out",
	} {
		for _, err := range []error{
			&fs.PathError{Op: "open", Path: ".out.1.tmp", Err: cause}, &os.LinkError{Op: "rename", Old: "a", New: "b", Err: cause}, cause,
		} {
			if got := fileError("out", err); got.Error() != want || !errors.Is(got, cause) {
				t.Errorf("%v; want %s", got, want)
			}
		}
	}
}

// The next run into a folder removes what a killed one left there, and nothing
// of a process that lives, or that is not a run's.
func TestLeftoversOfAKilledRun(t *testing.T) {
	ended := exec.Command(os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	dead, alive := strconv.Itoa(ended.Process.Pid), strconv.Itoa(os.Getppid())
	dir := t.TempDir()
	stay := []string{
		"." + AccessesFile + "." + alive + ".tmp", ".notes." + dead + ".tmp", "." + SummaryFile + "." + dead + ".tmp.old",
		"." + SummaryFile + ".-1.tmp", "." + SummaryFile + ".x.tmp", SummaryFile + "." + dead + ".tmp",
	}
	var all []string
	for _, name := range []string{AccessesFile, InvalidationsFile, ConfigFile, ManifestFile, SummaryFile} {
		all = append(all, "."+name+"."+dead+".tmp")
	}
	for _, name := range append(all, stay...) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	r.Discard()
	slices.Sort(stay)
	if got := fileNames(t, dir); !slices.Equal(got, stay) {
		t.Errorf("files %v, want %v", got, stay)
	}
}
