package measure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
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

// temporaryName carries the process id, so that two processes that were given
// the same folder do not write into one file.
func temporaryName(path string) string {
	dir, name := filepath.Split(path)
	return filepath.Join(dir, "."+name+"."+strconv.Itoa(os.Getpid())+".tmp")
}

// fileError names the file that the user asked for, not the temporary, and the
// mend.
func fileError(path string, err error) error {
	var inner *fs.PathError
	var link *os.LinkError // of a rename
	switch {
	case errors.As(err, &inner):
		err = inner.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("%s: cannot write: %w; free space or choose a folder that can be written", path, err)
}
