package measure

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadComplete reads what a complete run left in dir: nil where there is no
// such run, or one that was interrupted. The error says in one line which file
// is not as it was written: missing, a table without its end, a summary that
// another run wrote. The rows of the tables are not read.
func ReadComplete(dir string) (*Summary, *Manifest, error) {
	path := filepath.Join(dir, SummaryFile)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	s, err := parseSummary(path, data)
	if err != nil || s.Interrupted {
		return nil, nil, err
	}
	m, err := readManifest(filepath.Join(dir, ManifestFile))
	if err != nil {
		return nil, nil, err
	}
	if m.SummaryHash != HashBytes(data) {
		return nil, nil, fmt.Errorf("%s: is not the one that %s belongs to", path, ManifestFile)
	}
	if _, err := os.Stat(filepath.Join(dir, ConfigFile)); err != nil {
		return nil, nil, err
	}
	for _, name := range []string{AccessesFile, InvalidationsFile} {
		if err := checkTable(filepath.Join(dir, name)); err != nil {
			return nil, nil, err
		}
	}
	return &s, &m, nil
}

func readManifest(path string) (m Manifest, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s: no manifest: %w", path, err)
	}
	return m, nil
}

// checkTable looks for what a Parquet file has at both ends: the magic number,
// and before the last one the length of the footer.
func checkTable(path string) error {
	const magic = "PAR1"
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var head [4]byte
	var tail [8]byte
	room := info.Size() - int64(len(head)+len(tail))
	if room >= 0 {
		if _, err := f.ReadAt(head[:], 0); err != nil {
			return err
		}
		if _, err := f.ReadAt(tail[:], info.Size()-int64(len(tail))); err != nil {
			return err
		}
	}
	if string(head[:]) != magic || string(tail[4:]) != magic || int64(binary.LittleEndian.Uint32(tail[:4])) > room {
		return fmt.Errorf("%s: no whole Parquet file", path)
	}
	return nil
}
