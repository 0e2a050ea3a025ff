package plots

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rnicmmu/measure"
)

// Names of a sweep's files and of the folder that figures go to.
const (
	SweepFile  = "sweep.csv"
	FiguresDir = "figures"
)

// Options choose what Draw draws.
type Options struct {
	// Figures by name; with none, those that the sweep's manifest names, or
	// else the natural set of the folder.
	Figures []string
}

// Figures lists the figures of a sweep by name: what an experiment's figures may
// name. Draw refuses others, and skips those that the sweep has no data for while
// it has for one.
func Figures() []string { return slices.Clone(sweepNames) }

// Draw draws the figures of a run folder (summary.json) or a sweep folder
// (sweep.csv) into dir/figures/NAME.FORMAT and returns the files in order. With
// no formats it draws png. Files are replaced one by one, each in one step.
func Draw(dir string, formats []string, o Options) (files []string, err error) {
	defer func() {
		if x := recover(); x != nil { // Parquet readers and scales panic on damaged data
			err = fmt.Errorf("%s: the results are damaged (%v); run again", dir, x)
		}
	}()
	if len(formats) == 0 {
		formats = []string{"png"}
	}
	if err := CheckFormats(formats); err != nil {
		return nil, err
	}
	figures, err := load(dir, o)
	if err != nil {
		return nil, err
	}
	if len(figures) == 0 {
		return nil, fmt.Errorf("%s: no access completed: nothing to draw; give the run more accesses or a shorter warmup", dir)
	}
	return writeFigures(dir, formats, figures)
}

// writeFigures draws figures into dir's folder of figures, one by one.
func writeFigures(dir string, formats []string, figures []*figure) (files []string, err error) {
	out := filepath.Join(dir, FiguresDir)
	if err := measure.MakeFolder(out); err != nil {
		return nil, err
	}
	for _, f := range figures {
		for _, format := range formats {
			data, err := f.render(format)
			if err != nil {
				return files, err
			}
			path := filepath.Join(out, f.name+"."+format)
			if err := measure.WriteFile(path, data); err != nil {
				return files, err
			}
			files = append(files, path)
		}
	}
	return files, nil
}

// CheckFormats refuses formats that are not of Formats.
func CheckFormats(formats []string) error {
	for _, f := range formats {
		if !slices.Contains(Formats(), f) {
			return fmt.Errorf("unknown figure format %q; use %s", f, strings.Join(Formats(), ", "))
		}
	}
	return nil
}

// load makes the figures of whichever folder dir is.
func load(dir string, o Options) ([]*figure, error) {
	sweep, run := filepath.Join(dir, SweepFile), filepath.Join(dir, measure.SummaryFile)
	switch {
	case exists(sweep):
		return sweepFigures(dir, o)
	case exists(run):
		return runFigures(dir, o)
	case !exists(dir):
		return nil, fmt.Errorf("%s: no such folder; name the --out folder of a run or a sweep", dir)
	}
	return nil, fmt.Errorf("%s: neither %s nor %s here; name the --out folder of a finished run or of a sweep",
		dir, measure.SummaryFile, SweepFile)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// origin is what figures need of a manifest.json, a run's or a sweep's.
type origin struct {
	Version    string      `json:"version"`
	Commit     string      `json:"commit"`
	ConfigHash string      `json:"config_hash"`
	Seed       json.Number `json:"seed"`
	Trace      string      `json:"trace"`
	TraceHash  string      `json:"trace_hash"`
	Experiment string      `json:"experiment"`
	Title      string      `json:"title"`
	Figures    []string    `json:"figures"`
}

// readOrigin reads a manifest; without one the origin is empty, because a sweep
// writes it last and may have been interrupted.
func readOrigin(dir string) (origin, error) {
	var o origin
	path := filepath.Join(dir, measure.ManifestFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, readError(path, err)
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return o, fmt.Errorf("%s: not a manifest: %w; run again", path, err)
	}
	return o, nil
}

// smallPrint tells where a figure comes from, without dates.
func (o origin) smallPrint() string {
	parts := []string{strings.TrimSpace("rnicmmu " + o.Version)}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	add("commit", shortHash(o.Commit))
	add("experiment", o.Experiment)
	add("config", o.ConfigHash)
	add("seed", o.Seed.String())
	if o.Trace != "" {
		add("trace", filepath.Base(o.Trace))
	}
	add("trace hash", o.TraceHash)
	if o.ConfigHash == "" {
		parts = append(parts, "origin unknown: no "+measure.ManifestFile)
	}
	return oneLine(strings.Join(parts, " · "))
}

// shortHash keeps the first 10 digits of a commit, and "-dirty".
func shortHash(commit string) string {
	hash, dirty, _ := strings.Cut(commit, "-")
	if dirty != "" {
		dirty = "-" + dirty
	}
	return hash[:min(len(hash), 10)] + dirty
}

// chosen filters the natural figures by the names asked for.
func chosen(natural []*figure, names, known []string) ([]*figure, error) {
	if len(names) == 0 {
		return natural, nil
	}
	var out []*figure
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("unknown figure %q; use %s", name, strings.Join(known, ", "))
		}
		for _, f := range natural {
			if f.name == name {
				out = append(out, f)
			}
		}
	}
	if len(out) == 0 && len(natural) > 0 {
		return nil, fmt.Errorf("no data here for figure %s; there is data for %s", strings.Join(names, ", "), namesOf(natural))
	}
	return out, nil
}

func namesOf(figures []*figure) string {
	var names []string
	for _, f := range figures {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}
