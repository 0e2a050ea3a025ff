package sweep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rnicmmu/measure"
)

func hashText(text string) string { return measure.HashBytes([]byte(text)) }

// oneLine is an error without its further lines.
func oneLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// pathless drops the path that a system error repeats.
func pathless(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// writeWhole writes a file under a temporary name and renames it: it is there
// whole or not at all.
func writeWhole(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err == nil {
		_, err = f.Write(data)
		if e := f.Close(); err == nil {
			err = e
		}
		if err == nil {
			err = os.Chmod(f.Name(), 0o644)
		}
		if err == nil {
			err = os.Rename(f.Name(), path)
		}
		if err != nil {
			os.Remove(f.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("%s: cannot be written: %w; free space or choose another --out", path, pathless(err))
	}
	return nil
}

// firstFrame is the place in this module where a panic came from.
func firstFrame(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic(") {
			lines = lines[i:]
			break
		}
	}
	for i, line := range lines {
		if strings.HasPrefix(line, "rnicmmu/") && i+1 < len(lines) {
			place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
			return filepath.Base(filepath.Dir(place)) + "/" + filepath.Base(place)
		}
	}
	return "an unknown place"
}
