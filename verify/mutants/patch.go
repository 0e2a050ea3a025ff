package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Mutant is a fault of the design.
type Mutant struct {
	ID     string
	Fault  string
	Caught []string // by any of these
	Seen   []string // arguments of rnicmmu
	Cycle  string   // of a fault that the explorer sees: what the cycle model makes of its counterexample
	Patch  string   // file
	files  []*gitdiff.File
}

// Read reads a patch. The error names file and mend.
func Read(path string) (*Mutant, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := &Mutant{Patch: path}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimPrefix(line, "#"), ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "id":
			m.ID = value
		case "fault":
			m.Fault = value
		case "caught by":
			m.Caught = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		case "cycle model":
			m.Cycle = value
		case "seen with":
			m.Seen = arguments(strings.TrimPrefix(value, "rnicmmu "))
		}
		if !strings.HasPrefix(line, "#") {
			break
		}
	}
	if m.ID == "" || m.Fault == "" || len(m.Caught) == 0 || len(m.Seen) == 0 {
		return nil, fmt.Errorf("%s: its head needs id, fault, caught by and seen with", path)
	}
	if want := strings.TrimSuffix(filepath.Base(path), ".patch"); m.ID != want {
		return nil, fmt.Errorf("%s: id %s: must be %s", path, m.ID, want)
	}
	if m.files, _, err = gitdiff.Parse(strings.NewReader(string(text))); err != nil || len(m.files) == 0 {
		return nil, fmt.Errorf("%s: not a unified diff: %v", path, err)
	}
	return m, nil
}

// arguments splits a command line; what stands in single quotes is one argument.
func arguments(line string) (args []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	return args
}

// Apply gives the patched text of each file, by its path from the root. A hunk
// may have moved: it goes to the nearest place that has its lines.
func (m *Mutant) Apply(root string) (map[string][]byte, error) {
	patched := map[string][]byte{}
	for _, f := range m.files {
		text, err := os.ReadFile(filepath.Join(root, f.OldName))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Patch, err)
		}
		lines := slices.Collect(strings.Lines(string(text)))
		for _, hunk := range f.TextFragments {
			if lines, err = change(lines, hunk); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", m.Patch, f.OldName, err)
			}
		}
		patched[f.NewName] = []byte(strings.Join(lines, ""))
	}
	return patched, nil
}

func change(lines []string, hunk *gitdiff.TextFragment) ([]string, error) {
	var before, after []string
	for _, l := range hunk.Lines {
		if l.Op != gitdiff.OpAdd {
			before = append(before, l.Line)
		}
		if l.Op != gitdiff.OpDelete {
			after = append(after, l.Line)
		}
	}
	at, wanted := -1, int(hunk.NewPosition)-1
	for i := 0; i+len(before) <= len(lines); i++ {
		if slices.Equal(lines[i:i+len(before)], before) && (at < 0 || abs(i-wanted) < abs(at-wanted)) {
			at = i
		}
	}
	if at < 0 {
		return nil, fmt.Errorf("the lines of the hunk at line %d are there no more: make the patch again", hunk.OldPosition)
	}
	return slices.Replace(slices.Clone(lines), at, at+len(before), after...), nil
}

func abs(n int) int { return max(n, -n) }
