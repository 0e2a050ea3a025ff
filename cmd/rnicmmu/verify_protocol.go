package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rnicmmu/sweep"
	"rnicmmu/verify/protocol"
	"rnicmmu/verify/protocol/explore"
)

// protocolFlags are the flags of verify protocol as written.
type protocolFlags struct {
	bounds  string
	save    string
	json    bool
	workers int
}

const allProtocols = "all"

func verifyProtocolCommand() *cobra.Command {
	var f protocolFlags
	c := &cobra.Command{
		Use:   "protocol [" + strings.Join(protocol.Names, "|") + "|" + allProtocols + "]",
		Short: "explore every state of the paging protocols",
		Long: "Explore every reachable state of the protocols between adapter and host, over all interleavings and all\n" +
			"delays of messages that PCIe's ordering allows: notifier (invalidations and faults), ats (ATS and page\n" +
			"requests) and suspend. Checked are safety, deadlock and livelock (docs/protocols.md). A broken rule is\n" +
			"printed with a shortest sequence of messages that leads to it, and the status is 1.",
		Example: "  rnicmmu verify protocol\n" +
			"  rnicmmu verify protocol ats --bounds small",
		Args: atMost("PROTOCOL"),
		RunE: func(c *cobra.Command, args []string) error {
			names := protocol.Names
			if len(args) == 1 && args[0] != allProtocols {
				names = args
			}
			return verifyProtocols(c.Context(), c.OutOrStdout(), names, &f)
		},
	}
	c.Flags().StringVar(&f.bounds, "bounds", protocol.Normal, "how much there is of everything: "+strings.Join(protocol.Sizes, ", "))
	c.Flags().BoolVar(&f.json, "json", false, "print the reports as JSON, one a line")
	c.Flags().StringVar(&f.save, "save", "", "write each protocol's first counterexample to this folder, as a scenario (docs/scenario.md)")
	c.Flags().IntVar(&f.workers, "workers", 0, "workers; 0 is one a processor")
	return c
}

func verifyProtocols(ctx context.Context, w io.Writer, names []string, f *protocolFlags) error {
	if !slices.Contains(protocol.Sizes, f.bounds) {
		return fmt.Errorf("--bounds %q: one of %s is due", f.bounds, strings.Join(protocol.Sizes, ", "))
	}
	broken := false
	for _, name := range names {
		systems := protocol.Systems(name, f.bounds)
		if systems == nil {
			return fmt.Errorf("verify protocol: unknown protocol %q; there are %s, %s", name, strings.Join(protocol.Names, ", "), allProtocols)
		}
		saved := false
		for _, s := range systems {
			r, err := protocol.Check(ctx, name, s, explore.Options{Workers: f.workers, Progress: explored(name)})
			if ctx.Err() != nil {
				return fmt.Errorf("%w: %s was at depth %d, with %d states", sweep.ErrInterrupted, name, r.Depth, r.States)
			}
			if err != nil {
				return err
			}
			broken = broken || r.Verdict == protocol.Broken
			if err := printProtocol(w, &r, f.json); err != nil {
				return err
			}
			if r.Verdict == protocol.Broken && f.save != "" && !saved {
				saved = true
				if err := saveCounterexample(f.save, &r); err != nil {
					return err
				}
			}
		}
	}
	if broken {
		return errViolation
	}
	return nil
}

// saveCounterexample writes a counterexample as a scenario, to PROTOCOL.txt. One
// that the cycle model has no counterpart of is none; standard error says why.
func saveCounterexample(folder string, r *protocol.Report) error {
	if r.NoScenario != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", r.System, r.NoScenario)
		return nil
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, r.System+".txt"), []byte(r.Scenario), 0o666); err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	return nil
}

func printProtocol(w io.Writer, r *protocol.Report, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	_, err := io.WriteString(w, r.Text())
	return err
}

// explored prints a line every ten seconds.
func explored(name string) func(explore.Stats) {
	started := time.Now()
	last := started
	return func(s explore.Stats) {
		now := time.Now()
		if now.Sub(last) < plainInterval {
			return
		}
		last = now
		fmt.Fprintf(os.Stderr, "%s: %d states, depth %d, %.3g states/s\n", name, s.States, s.Depth, float64(s.States)/now.Sub(started).Seconds())
	}
}
