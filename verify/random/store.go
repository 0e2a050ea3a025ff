package random

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"rnicmmu/clocked"
	"rnicmmu/configs"
	"rnicmmu/platform"
	"rnicmmu/sweep"
)

// Files of a campaign.
const (
	SeedsFile    = "seeds.csv"
	SummaryFile  = "summary.json"
	manifestFile = "campaign.json"
)

// Row is a seed in seeds.csv.
type Row struct {
	Seed uint32
	Outcome
}

var columns = []string{"seed", "status", "bucket", "simulated_ps", "accesses", "result_hash", "what"}

func (r *Row) fields() []string {
	return []string{strconv.FormatUint(uint64(r.Seed), 10), r.Status, r.Bucket, strconv.FormatInt(int64(r.Simulated), 10),
		strconv.FormatUint(r.Accesses, 10), r.Hash, r.What}
}

func parseRow(f []string) (r Row, err error) {
	seed, e1 := strconv.ParseUint(f[0], 10, 32)
	at, e2 := strconv.ParseInt(f[3], 10, 64)
	accesses, e3 := strconv.ParseUint(f[4], 10, 64)
	return Row{uint32(seed), Outcome{Status: f[1], Bucket: f[2], Simulated: clocked.Time(at), Accesses: accesses, Hash: f[5], What: f[6]}},
		errors.Join(e1, e2, e3)
}

// manifest says of which campaign the rows are.
type manifest struct {
	Version       string `json:"version"`
	Configuration string `json:"configuration"` // hash of what the drawn settings stand on
}

func (c *Campaign) manifest() (text []byte, err error) {
	var spec platform.Spec
	if _, err = configs.Load(&spec, c.Base); err != nil {
		return nil, err
	}
	m := manifest{Version: sweep.Version}
	if m.Configuration, err = configs.Hash(&spec); err != nil {
		return nil, err
	}
	text, err = json.Marshal(m)
	return append(text, '\n'), err
}

// store writes rows as seeds end, a write each: what is there outlives a kill.
type store struct {
	file *os.File // nil: nowhere
}

// open makes a campaign's folder, or reads the rows that a resumed one has.
func (c *Campaign) open() (*store, []Row, error) {
	if c.Dir == "" {
		return &store{}, nil, nil
	}
	mine, err := c.manifest()
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(c.Dir, SeedsFile)
	var rows []Row
	switch text, err := os.ReadFile(path); {
	case err == nil && !c.Resume:
		return nil, nil, fmt.Errorf("%s: holds a campaign; go on with --resume, or choose another --out", c.Dir)
	case err == nil:
		if rows, err = c.resumed(path, text, mine); err != nil {
			return nil, nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, nil, err
	default:
		if err := c.begin(path, mine); err != nil {
			return nil, nil, err
		}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o666)
	return &store{file}, rows, err
}

// begin makes the files of a new campaign; the rows come last, for they are what
// shows that there is one.
func (c *Campaign) begin(path string, mine []byte) error {
	if err := os.MkdirAll(c.Dir, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.Dir, manifestFile), mine, 0o666); err != nil {
		return err
	}
	return os.WriteFile(path, line(columns), 0o666)
}

// resumed reads rows, and drops a last one that is cut.
func (c *Campaign) resumed(path string, text, mine []byte) ([]Row, error) {
	theirs, err := os.ReadFile(filepath.Join(c.Dir, manifestFile))
	if err != nil || !bytes.Equal(mine, theirs) {
		return nil, fmt.Errorf("%s: is of another configuration or version; choose another --out", c.Dir)
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if err := os.Truncate(path, int64(whole)); err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(text[:whole])).ReadAll()
	if err != nil || len(lines) == 0 || len(lines[0]) != len(columns) {
		return nil, fmt.Errorf("%s: is no list of seeds; choose another --out", path)
	}
	var rows []Row
	for i, f := range lines[1:] {
		r, err := parseRow(f)
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", path, i+1, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func line(fields []string) []byte {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write(fields) // to memory
	w.Flush()
	return text.Bytes()
}

func (s *store) add(r *Row) error {
	if s.file == nil {
		return nil
	}
	_, err := s.file.Write(line(r.fields()))
	return err
}

func (s *store) close() {
	if s.file != nil {
		_ = s.file.Close() // each row is written already
	}
}

// Write puts the summary beside the rows.
func (s *Summary) Write() error {
	if s.campaign.Dir == "" {
		return nil
	}
	text, err := s.JSON()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.campaign.Dir, SummaryFile), text, 0o666)
}

// JSON is the summary as summary.json holds it.
func (s *Summary) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}
