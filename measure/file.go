package measure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// WriteFile writes a file so that it is there whole or not at all: under a
// temporary name beside it, which then replaces path. The folder must exist. An
// error is one line that names path and the mend.
func WriteFile(path string, data []byte) error {
	temporary := temporaryName(path)
	err := os.WriteFile(temporary, data, 0o666)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		_ = os.Remove(temporary) // nothing better can be done about a left-over
		return fileError(path, err)
	}
	return nil
}

// MakeFolder makes a folder of results, with those above it. An error is one
// line that names it and the mend.
func MakeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fileError(dir, err)
	}
	return nil
}

// temporaryName carries the process id, so that two processes that were given
// the same folder do not write into one file.
func temporaryName(path string) string {
	dir, name := filepath.Split(path)
	return filepath.Join(dir, "."+name+"."+strconv.Itoa(os.Getpid())+".tmp")
}

// leftovers removes the temporaries of the named files in dir whose process no
// longer exists: it was killed. The id may have gone to another process, then
// the file stays. Errors do not matter: a left-over does no harm.
func leftovers(dir string, names ...string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		for _, name := range names {
			rest, ours := strings.CutPrefix(e.Name(), "."+name+".")
			number, temporary := strings.CutSuffix(rest, ".tmp")
			pid, err := strconv.Atoi(number)
			if ours && temporary && err == nil && pid > 0 && gone(pid) {
				_ = os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}

// gone tells whether there is no process with this id.
func gone(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false // the system does not tell
	}
	return errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// fileError names the file that the user asked for, not the temporary, and the
// mend that fits the cause.
func fileError(path string, err error) error {
	at := path
	var inner *fs.PathError
	var link *os.LinkError // of a rename
	switch {
	case errors.As(err, &inner):
		at, err = inner.Path, inner.Err
	case errors.As(err, &link):
		err = link.Err
	}
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s: cannot write: %s is a file; choose another --out", path, fileOf(at))
	case errors.Is(err, syscall.EEXIST): // of a folder to make, where there is neither folder nor file
		return fmt.Errorf("%s: cannot write: %s is a symbolic link to nowhere; choose another --out", path, at)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%s: cannot write: %w; free space or choose another --out", path, err)
	}
	return fmt.Errorf("%s: cannot write: %w; choose another --out", path, err)
}

// fileOf is the part of a path that is no folder, though more parts follow.
func fileOf(path string) string {
	for {
		parent := filepath.Dir(path)
		if _, err := os.Stat(path); err == nil || parent == path {
			return path
		}
		path = parent
	}
}
