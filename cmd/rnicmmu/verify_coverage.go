package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rnicmmu/sweep"
	"rnicmmu/verify"
	"rnicmmu/verify/coverage"
	"rnicmmu/verify/random"
)

// coverageFlags are those of verify coverage.
type coverageFlags struct {
	common
	seeds   uint
	merge   []string
	verbose bool
}

func verifyCoverageCommand() *cobra.Command {
	var f coverageFlags
	c := &cobra.Command{
		Use:   "coverage [CONFIG]",
		Short: "which situations runs come to",
		Long: "Run configurations with a collector of covergroups beside each, merge what it\n" +
			"counted and print covered bins by group. Without CONFIG those are a list that\n" +
			"uses every part of the system, directed ones for rare races, the scenarios that\n" +
			"ship and, with --seeds, random systems (verify random); with it, that one alone,\n" +
			"with as many seeds. With --merge alone nothing is run.",
		Example: "  rnicmmu verify coverage --seeds 100 --out results\n  rnicmmu verify coverage mine.yaml -v\n" +
			"  rnicmmu verify coverage --merge a/coverage.json --merge b/coverage.json",
		Args: atMost("CONFIG"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	f.register(c)
	c.Flags().UintVar(&f.seeds, "seeds", 0, "random systems, of seeds from 1 on; of CONFIG: seeds from its own on, at least one")
	c.Flags().StringArrayVar(&f.merge, "merge", nil, "a coverage.json to be merged in, repeatable")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "name the bins that were not hit")
	return c
}

func (f *coverageFlags) run(c *cobra.Command, args []string) error {
	total := coverage.Empty(sweep.Version)
	if err := f.read(&total); err != nil {
		return err
	}
	simulating.Store(true)
	var err error
	switch {
	case len(args) > 0:
		err = f.one(c, args, &total)
	case len(f.merge) == 0 || c.Flags().Changed("seeds"):
		err = f.all(c, &total)
	}
	if err != nil {
		return err
	}
	if err := f.write(total); err != nil {
		return err
	}
	if err := printCoverage(c.OutOrStdout(), total, f.verbose); err != nil {
		return err
	}
	if broken := total.Broken(); len(broken) > 0 {
		fmt.Fprintf(c.OutOrStdout(), "\nmust not occur:\n  %s\n", strings.Join(broken, "\n  "))
		return errViolation
	}
	return nil
}

// read merges the files that --merge names.
func (f *coverageFlags) read(total **coverage.Report) error {
	for _, path := range f.merge {
		r, err := coverage.Read(path)
		if err == nil {
			*total, err = coverage.Merge(*total, r)
		}
		if err != nil {
			return fmt.Errorf("--merge: %w", err)
		}
	}
	return nil
}

// one runs the given configuration.
func (f *coverageFlags) one(c *cobra.Command, args []string, total **coverage.Report) error {
	src, err := sources(args)
	if err != nil {
		return err
	}
	spec, resolved, err := f.load(c, src)
	if err != nil {
		return err
	}
	in, err := f.input(&spec, resolved)
	if err != nil {
		return err
	}
	for n := range max(1, f.seeds) {
		job := sweep.Job{Spec: spec, Input: in, Watch: verify.Attach}
		job.Spec.Seed += uint64(n)
		r, broken, err := coverage.Cover(c.Context(), &job)
		if err != nil {
			return err
		}
		if len(broken) > 0 {
			fmt.Fprintf(c.OutOrStdout(), "seed %d: %s at %v: %s\n", job.Spec.Seed, broken[0].Rule, broken[0].TimePS, broken[0].What)
			return errViolation
		}
		if *total, err = coverage.Merge(*total, r); err != nil {
			return err
		}
	}
	return nil
}

// all runs the lists, the scenarios and random systems.
func (f *coverageFlags) all(c *cobra.Command, total **coverage.Report) error {
	if len(f.set) > 0 || f.trace != "" || c.Flags().Changed("seed") {
		return errors.New("--set, --trace and --seed go with CONFIG; the lists have settings of their own")
	}
	inputs := slices.Concat(coverage.Inputs, coverage.Corners)
	for n := range f.seeds {
		inputs = append(inputs, coverage.Input{Name: fmt.Sprintf("random system %d", n+1), Set: random.Settings(uint32(n) + 1)})
	}
	for _, in := range inputs {
		if err := add(c.Context(), in, total); err != nil {
			return err
		}
	}
	r, err := coverage.Scenarios(c.Context())
	if err == nil {
		*total, err = coverage.Merge(*total, r)
	}
	return err
}

func add(ctx context.Context, in coverage.Input, total **coverage.Report) error {
	r, err := coverage.Run(ctx, in)
	if err == nil {
		*total, err = coverage.Merge(*total, r)
	}
	return err
}

// write leaves coverage.json and coverage.html in --out.
func (f *coverageFlags) write(r *coverage.Report) error {
	if f.out == "" {
		return nil
	}
	data, err := r.JSON()
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := r.HTML(&page); err != nil {
		return err
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(f.out, "coverage.json"), data, 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.out, "coverage.html"), page.Bytes(), 0o666)
}

func printCoverage(w io.Writer, r *coverage.Report, verbose bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "covergroup\tcovered\tof\t%%\n")
	row := func(name string, covered, total int) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\n", name, covered, total, covered*100/max(1, total))
	}
	for i := range r.Groups {
		row(r.Groups[i].Name, r.Groups[i].Covered, r.Groups[i].Total)
	}
	covered, total := r.Covered()
	row(fmt.Sprintf("all, %d runs", r.Runs), covered, total)
	if err := t.Flush(); err != nil || !verbose {
		return err
	}
	for i := range r.Groups {
		for _, name := range r.Groups[i].Missing() {
			fmt.Fprintf(w, "%s: %s\n", r.Groups[i].Name, name)
		}
	}
	return nil
}
