package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Build makes the program with a mutant's fault, or without one for nil, in
// folder dir, from the module at root.
func Build(ctx context.Context, root, dir string, m *Mutant) (program string, err error) {
	program = filepath.Join(dir, "rnicmmu")
	args := []string{"build", "-ldflags=-s -w", "-o", program}
	if m != nil {
		program = filepath.Join(dir, m.ID)
		overlay, err := m.overlay(root, dir)
		if err != nil {
			return "", err
		}
		args = []string{"build", "-ldflags=-s -w", "-overlay", overlay, "-o", program}
	}
	c := exec.CommandContext(ctx, "go", append(args, "./cmd/rnicmmu")...)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

// overlay writes the patched files and go's list of them.
func (m *Mutant) overlay(root, dir string) (string, error) {
	patched, err := m.Apply(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range patched {
		to := filepath.Join(dir, m.ID+"-"+strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(to, text, 0o666); err != nil {
			return "", err
		}
		replace[filepath.Join(root, name)] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, m.ID+".json")
	return file, os.WriteFile(file, list, 0o666)
}

// Outcome is how a command of the program ended.
type Outcome struct {
	Exit int
	Text string // both outputs
	Wall time.Duration
}

// Run runs the program. Only a program that cannot be run, or does not end
// before the context, is an error.
func Run(ctx context.Context, root, program string, args []string) (Outcome, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = root
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "RNICMMU_") }) // they set parameters
	var text bytes.Buffer
	c.Stdout, c.Stderr = &text, &text
	began := time.Now()
	err := c.Run()
	o := Outcome{Exit: c.ProcessState.ExitCode(), Text: text.String(), Wall: time.Since(began)}
	var exit *exec.ExitError
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	if err != nil && !errors.As(err, &exit) {
		return o, err
	}
	return o, nil
}

var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_/-]*`)

// Catcher is the check that has seen a mutant, and the line in which it says so;
// empty: none of those named.
func (m *Mutant) Catcher(o *Outcome) (check, line string) {
	if o.Exit != 1 && o.Exit != 3 {
		return "", ""
	}
	for line := range strings.Lines(o.Text) {
		words := word.FindAllString(line, -1)
		for _, name := range m.Caught {
			if slices.Contains(words, name) {
				return name, strings.TrimSpace(line)
			}
		}
	}
	return "", ""
}
