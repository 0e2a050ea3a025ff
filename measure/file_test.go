package measure

import (
	"os"
	"path/filepath"
	"strings"
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
			strings.Contains(err.Error(), ".tmp") || !strings.HasSuffix(err.Error(), "free space or choose a folder that can be written") {
			t.Errorf("%s: %v", path, err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), ".*.tmp")); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	}
}
