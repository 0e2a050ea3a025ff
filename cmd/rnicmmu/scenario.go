package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/platform"
	"rnicmmu/sweep"
	"rnicmmu/verify/scenario"
)

func scenarioCommand() *cobra.Command {
	x := &scenarioRun{}
	c := &cobra.Command{
		Use:   "scenario FILE…",
		Short: "run directed scenarios with expectations",
		Long: "Run the scenarios of files: each says what happens in a system and when, and what\n" +
			"must come of it. One line a file; where an expectation does not hold, its line and\n" +
			"what was seen instead.",
		Example: "  rnicmmu scenario verify/scenarios/f24-migration.txt\n" +
			"  rnicmmu scenario --json verify/scenarios/*.txt",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s: at least one FILE is due; see %s --help", c.CommandPath(), c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return x.files(c, args)
		},
	}
	c.Flags().BoolVar(&x.asJSON, "json", false, "print the results as JSON, one document for all files")
	c.Flags().BoolVar(&x.log, "log", false, "print the log of each scenario: what happened when")
	c.Flags().Uint64Var(&x.shuffle, "shuffle", 0, "tick units in an order of this seed within each instant; results must not change")
	return c
}

// played is what is printed of a scenario.
type played struct {
	File        string             `json:"file"`
	Scenario    string             `json:"scenario"`
	Line        int                `json:"line"`
	Passed      bool               `json:"passed"`
	SimulatedPS clocked.Time       `json:"simulated_ps"`
	WallS       float64            `json:"wall_s"`
	Failures    []scenario.Failure `json:"failures"`
	Summary     *measure.Summary   `json:"summary,omitempty"`
}

// scenarioRun is the run of several files: what is wrong with one does not keep
// the others from running, and the worst outcome is the command's.
type scenarioRun struct {
	shuffle     uint64
	asJSON, log bool

	all           []played
	bad, violated error
	stuck         *platform.Stuck
}

func (x *scenarioRun) files(c *cobra.Command, names []string) error {
	simulating.Store(true)
	x.all = []played{}
	for _, name := range names {
		f, err := scenario.ReadFile(name)
		if err != nil {
			x.bad = errors.Join(x.bad, err)
			continue
		}
		started, first := time.Now(), len(x.all)
		for _, s := range f.Scenarios {
			if err := x.play(c, name, s); err != nil {
				return err
			}
		}
		if !x.asJSON {
			printPlayed(c.OutOrStdout(), name, x.all[first:], len(f.Scenarios), time.Since(started))
		}
	}
	if x.asJSON {
		text, err := json.MarshalIndent(x.all, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "%s\n", text)
	}
	if x.stuck != nil {
		return x.stuck
	}
	return cmp.Or(x.bad, x.violated)
}

// play runs one scenario; its error ends the command.
func (x *scenarioRun) play(c *cobra.Command, file string, s *scenario.Scenario) error {
	if x.log {
		s.LogAll()
	}
	r, err := s.Run(c.Context(), x.shuffle)
	if c.Context().Err() != nil {
		return sweep.ErrInterrupted
	}
	if err != nil {
		text := err.Error()
		if !strings.HasPrefix(text, file+":") {
			text = fmt.Sprintf("%s:%d: %s", file, s.Line, text)
		}
		x.bad = errors.Join(x.bad, errors.New(text))
		return nil
	}
	if x.log && !x.asJSON {
		fmt.Fprintf(c.OutOrStdout(), "%s:%d: scenario %s\n%s\n", file, s.Line, s.Name, strings.Join(r.Log, "\n"))
	} else if !x.log {
		r.Compare()
	}
	x.stuck = cmp.Or(x.stuck, r.Stuck)
	x.all = append(x.all, played{File: file, Scenario: s.Name, Line: s.Line, Passed: len(r.Failures) == 0, SimulatedPS: r.Simulated,
		WallS: r.Wall.Seconds(), Failures: append([]scenario.Failure{}, r.Failures...), Summary: r.Summary})
	if len(r.Failures) > 0 {
		x.violated = errViolation
	}
	return nil
}

// printPlayed prints a file's line, and one for each expectation that does not hold.
func printPlayed(w io.Writer, name string, all []played, of int, wall time.Duration) {
	word, simulated := "pass", clocked.Time(0)
	if len(all) < of {
		word = "FAIL"
	}
	for i := range all {
		simulated += all[i].SimulatedPS
		if !all[i].Passed {
			word = "FAIL"
		}
	}
	fmt.Fprintf(w, "%s  %s  %d of %d scenarios, %v simulated, %.3f s\n", word, name, passed(all), of, simulated, wall.Seconds())
	for i := range all {
		for _, f := range all[i].Failures {
			fmt.Fprintf(w, "      %s:%d: scenario %s: %s\n", name, f.Line, all[i].Scenario, f.Text)
		}
	}
}

func passed(all []played) (n int) {
	for i := range all {
		if all[i].Passed {
			n++
		}
	}
	return n
}
