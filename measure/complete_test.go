package measure

import (
	"os"
	"path/filepath"
	"testing"
)

// A table is whole where both ends have the magic number and the footer that
// the last one announces has room between them.
func TestTableEnds(t *testing.T) {
	for text, good := range map[string]bool{
		"":                                   false,
		"PAR1":                               false,
		"PAR1\x00\x00\x00PAR1":               false, // a byte short
		"PAR1\x00\x00\x00\x00PAR1":           true,
		"PAR1f\x01\x00\x00\x00PAR1":          true,
		"PAR1f\x02\x00\x00\x00PAR1":          false,
		"PAR1f\xff\xff\xff\xffPAR1":          false,
		"PAR2f\x01\x00\x00\x00PAR1":          false,
		"PAR1f\x01\x00\x00\x00PAR2":          false,
		"PAR1 and some rows, then no footer": false,
	} {
		path := filepath.Join(t.TempDir(), "t.parquet")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkTable(path); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A folder without results, and one of an interrupted run, are not complete
// and not damaged.
func TestNotComplete(t *testing.T) {
	dir := t.TempDir()
	for _, what := range []string{"nothing", "interrupted"} {
		if s, m, err := ReadComplete(dir); s != nil || m != nil || err != nil {
			t.Errorf("%s: %v, %v, %v", what, s, m, err)
		}
		r, err := Create(dir)
		if err != nil {
			t.Fatal(err)
		}
		s := Summary{Interrupted: true}
		r.Finish(&s)
		if err := r.Write(&s, Manifest{}, nil); err != nil {
			t.Fatal(err)
		}
	}
}
