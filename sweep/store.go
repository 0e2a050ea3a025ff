package sweep

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rnicmmu/measure"
)

// store is the folder of a sweep.
type store struct {
	dir     string
	plan    *Plan
	resume  bool
	started time.Time
}

// Manifest is a sweep's manifest.json.
type Manifest struct {
	measure.Manifest
	Experiment  string   `json:"experiment"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Axes        []string `json:"axes"`
	Figures     []string `json:"figures"`
	Points      int      `json:"points"`
}

// openStore makes the folder and writes manifest.json first, so that the folder
// is known as this sweep's from the start. One that holds another sweep is refused:
// results never mix.
func openStore(dir string, plan *Plan, resume bool) (*store, error) {
	s := &store{dir: dir, plan: plan, resume: resume, started: time.Now()}
	if Holds(dir) {
		if err := plan.Continues(dir); err != nil {
			return nil, err
		}
		if !resume {
			return nil, fmt.Errorf("%s: holds this sweep already; use --resume to go on with it or another --out", dir)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "summary.json")); err == nil {
		return nil, fmt.Errorf("%s: holds the results of a run; choose another --out", dir)
	}
	if err := measure.MakeFolder(dir); err != nil {
		return nil, err
	}
	if err := s.writeManifest(); err != nil {
		return nil, err
	}
	return s, measure.MakeFolder(filepath.Join(dir, "points"))
}

// Holds tells whether a folder is a sweep's, be its manifest.json good or not.
func Holds(dir string) bool {
	for _, name := range []string{"points", "sweep.csv"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	m, err := readManifest(dir)
	return err == nil && m.Experiment != ""
}

// Continues is nil where dir holds this very sweep, made by this very program:
// what is there is as if it were made now. The error is one line.
func (plan *Plan) Continues(dir string) error {
	m, err := readManifest(dir)
	switch build := measure.ThisBuild(Version); {
	case err != nil:
		return fmt.Errorf("%s: holds a sweep, but no good manifest.json that tells which; choose another --out", dir)
	case m.ConfigHash != plan.Hash:
		return fmt.Errorf("%s: holds a sweep of another experiment, other settings or another trace; give --resume the same ones, or choose another --out", dir)
	case m.Build != build:
		return fmt.Errorf("%s: holds a sweep of another build of rnicmmu (%s; this is %s); resume with that one, or choose another --out", dir, buildName(m.Build), buildName(build))
	}
	return nil
}

func readManifest(dir string) (m Manifest, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	return m, err
}

// finished is the summary of a point that an earlier run of this sweep
// completed, or nil; the error says why one that is there is not good.
func (s *store) finished(j *Job) (*measure.Summary, error) {
	if !s.resume {
		return nil, nil
	}
	sum, m, err := measure.ReadComplete(j.Dir)
	if sum == nil {
		return nil, err
	}
	resolved, err := j.resolved()
	if err != nil {
		return nil, err
	}
	if m.ConfigHash != measure.HashBytes(resolved) || m.TraceHash != traceHash(j.Input) || m.Build != measure.ThisBuild(Version) {
		return nil, fmt.Errorf("%s: is of another point or another build", filepath.Join(j.Dir, measure.ManifestFile))
	}
	return sum, nil
}

// finish writes sweep.csv and manifest.json.
func (s *store) finish(results []Result) error {
	table, err := s.table(results)
	if err != nil {
		return err
	}
	if err := measure.WriteFile(filepath.Join(s.dir, "sweep.csv"), table); err != nil {
		return err
	}
	return s.writeManifest()
}

func (s *store) writeManifest() error {
	m, err := s.manifest()
	if err != nil {
		return err
	}
	return measure.WriteFile(filepath.Join(s.dir, "manifest.json"), m)
}

// table is sweep.csv: axes, status, the flattened summary, then the point's
// folder and its error.
func (s *store) table(results []Result) ([]byte, error) {
	var out strings.Builder
	w := csv.NewWriter(&out)
	names, _ := measure.Flatten(measure.Summary{})
	header := make([]string, 0, len(names)+8)
	for _, a := range s.plan.Experiment.Axes {
		header = append(header, a.Key)
	}
	header = append(header, "status")
	header = append(header, names...)
	_ = w.Write(append(header, "point", "error"))
	for i := range results {
		_ = w.Write(s.row(&s.plan.Points[i], &results[i], len(names)))
	}
	w.Flush()
	return []byte(out.String()), w.Error()
}

func (s *store) row(p *Point, r *Result, columns int) []string {
	row := make([]string, 0, columns+8)
	for _, v := range p.Settings {
		row = append(row, v.Value)
	}
	row = append(row, r.Status)
	if r.Summary != nil {
		_, values := measure.Flatten(*r.Summary)
		row = append(row, values...)
	} else {
		row = append(row, make([]string, columns)...)
	}
	return append(row, p.ID, r.Error)
}

func (s *store) manifest() ([]byte, error) {
	e := s.plan.Experiment
	m := Manifest{Experiment: e.Name, Title: e.Title, Description: e.Description, Figures: e.Figures,
		Points: len(s.plan.Points)}
	m.Manifest = measure.NewManifest(Version, nil, s.plan.Points[0].Spec.Seed, traceHash(s.plan.Input), s.started)
	if s.plan.Input != nil {
		m.Trace = s.plan.Input.Name
	}
	m.ConfigHash = s.plan.Hash
	for _, a := range e.Axes {
		m.Axes = append(m.Axes, a.Key)
	}
	data, err := json.MarshalIndent(m, "", "  ")
	return append(data, '\n'), err
}
