package measure

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Names of a run's files.
const (
	AccessesFile      = "accesses.parquet"
	InvalidationsFile = "invalidations.parquet"
	ConfigFile        = "config.resolved.yaml"
	ManifestFile      = "manifest.json"
	SummaryFile       = "summary.json"
)

// createFunc opens a new file for writing.
type createFunc func(path string) (io.WriteCloser, error)

func createFile(path string) (io.WriteCloser, error) { return os.Create(path) }

// output is the set of a run's files. Each is written under a temporary name
// in the target folder; commit renames them all.
type output struct {
	dir           string
	create        createFunc
	started       []string // names of the files that have a temporary
	tableFiles    [2]io.Closer
	accesses      *table[Access]
	invalidations *table[Invalidation]
	closed        bool
}

func createOutput(dir string, create createFunc) (*output, error) {
	if err := MakeFolder(dir); err != nil {
		return nil, err
	}
	leftovers(dir, AccessesFile, InvalidationsFile, ConfigFile, ManifestFile, SummaryFile)
	o := &output{dir: dir, create: create}
	accesses, err := o.open(AccessesFile)
	if err != nil {
		return nil, err
	}
	invalidations, err := o.open(InvalidationsFile)
	if err != nil {
		_ = accesses.Close()
		o.remove()
		return nil, err
	}
	o.tableFiles = [2]io.Closer{accesses, invalidations}
	o.accesses = newTable(accesses, "accesses", accessColumns())
	o.invalidations = newTable(invalidations, "invalidations", invalidationColumns())
	return o, nil
}

func (o *output) open(name string) (io.WriteCloser, error) {
	f, err := o.create(o.temporary(name))
	if err != nil {
		return nil, fileError(filepath.Join(o.dir, name), err)
	}
	o.started = append(o.started, name)
	return f, nil
}

func (o *output) temporary(name string) string {
	return temporaryName(filepath.Join(o.dir, name))
}

func (o *output) err() error {
	if err := o.accesses.err(); err != nil {
		return fileError(filepath.Join(o.dir, AccessesFile), err)
	}
	if err := o.invalidations.err(); err != nil {
		return fileError(filepath.Join(o.dir, InvalidationsFile), err)
	}
	return nil
}

// finish completes all files and renames them, or removes them and says why.
func (o *output) finish(s *Summary, m Manifest, config []byte) error {
	err := o.closeTables()
	if err == nil {
		err = o.writeSmall(s, m, config)
	}
	if err == nil {
		err = o.commit()
	}
	if err != nil {
		o.remove()
	}
	return err
}

func (o *output) closeTables() error {
	if o.closed {
		return fmt.Errorf("%s: the files of this run are closed", o.dir)
	}
	o.closed = true
	tableErrs := [2]error{o.accesses.close(), o.invalidations.close()}
	for i, name := range [2]string{AccessesFile, InvalidationsFile} {
		if err := firstError(tableErrs[i], o.tableFiles[i].Close()); err != nil {
			tableErrs[i] = fileError(filepath.Join(o.dir, name), err)
		}
	}
	return firstError(tableErrs[0], tableErrs[1])
}

func (o *output) writeSmall(s *Summary, m Manifest, config []byte) error {
	summary, err := s.JSON()
	if err != nil {
		return fileError(filepath.Join(o.dir, SummaryFile), err)
	}
	m.SummaryHash = HashBytes(summary)
	manifest, err := indented(m)
	if err != nil {
		return fileError(filepath.Join(o.dir, ManifestFile), err)
	}
	// The summary comes last: where it is, the run is complete.
	for _, f := range []struct {
		name string
		data []byte
	}{{ConfigFile, config}, {ManifestFile, manifest}, {SummaryFile, summary}} {
		if err := o.writeFile(f.name, f.data); err != nil {
			return err
		}
	}
	return nil
}

func (o *output) writeFile(name string, data []byte) error {
	f, err := o.open(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = firstError(err, f.Close()); err != nil {
		return fileError(filepath.Join(o.dir, name), err)
	}
	return nil
}

func (o *output) commit() error {
	for len(o.started) > 0 {
		name := o.started[0]
		final := filepath.Join(o.dir, name)
		if err := os.Rename(o.temporary(name), final); err != nil {
			return fileError(final, err)
		}
		o.started = o.started[1:]
	}
	return nil
}

// holdsComplete tells whether the folder has the files of a run that was not
// interrupted.
func (o *output) holdsComplete() bool {
	s, err := ReadSummary(filepath.Join(o.dir, SummaryFile))
	return err == nil && !s.Interrupted
}

// discard stops writing and removes the temporaries; finished files stay.
func (o *output) discard() {
	if o.closed {
		return
	}
	o.closed = true
	o.accesses.stop()
	o.invalidations.stop()
	for _, f := range o.tableFiles {
		_ = f.Close() // the file is removed next
	}
	o.remove()
}

func (o *output) remove() {
	for _, name := range o.started {
		_ = os.Remove(o.temporary(name)) // nothing better can be done about a left-over
	}
	o.started = nil
}

// firstError is the first error that is not nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
