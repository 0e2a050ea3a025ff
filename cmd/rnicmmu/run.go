package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/platform"
	"rnicmmu/sweep"
	"rnicmmu/verify"
)

func runCommand() *cobra.Command {
	var f common
	var asJSON, check, verified bool
	c := &cobra.Command{
		Use:   "run [CONFIG]",
		Short: "simulate one configuration",
		Long: "Simulate one configuration and print its figures. CONFIG is a YAML file or the\n" +
			"name of an embedded profile; without it the default profile runs.",
		Example: "  rnicmmu run --set tpt.mtt.entries=512 --set workload.working_set=64MiB\n" +
			"  rnicmmu run mine.yaml --trace capture.pcap --out results",
		Args: atMost("CONFIG"),
		RunE: func(c *cobra.Command, args []string) error {
			return run(c, &f, args, asJSON, check, verified)
		},
	}
	f.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print summary.json on standard output")
	c.Flags().BoolVar(&check, "check", false, "validate the configuration and stop")
	c.Flags().BoolVar(&verified, "verify", false, "put the scoreboard and all monitors beside the run (docs/verification.md)")
	return c
}

func run(c *cobra.Command, f *common, args []string, asJSON, check, verified bool) error {
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
	job := sweep.Job{Spec: spec, Input: in, Dir: f.out}
	if verified {
		job.Watch = verify.Attach
	}
	if check {
		if err := job.Check(); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), "configuration is good")
		return nil
	}
	bar := newProgress("accesses")
	simulating.Store(true)
	sum, err := job.Run(c.Context(), bar.set)
	bar.stop()
	if sum == nil {
		return err
	}
	if e := show(sum, &spec, asJSON, f.out); e != nil {
		return e
	}
	if err == nil && len(sum.Violations) > 0 {
		return errViolation
	}
	return err
}

// sources is the file or profile that the argument names.
func sources(args []string) (configs.Sources, error) {
	if len(args) == 0 {
		return configs.Sources{Profile: "default"}, nil
	}
	_, missing := os.Stat(args[0])
	if errors.Is(missing, os.ErrNotExist) {
		if _, e := configs.Profile(args[0]); e == nil {
			return configs.Sources{Profile: args[0]}, nil
		}
	}
	doc, err := configs.ReadFile(args[0])
	if errors.Is(missing, os.ErrNotExist) {
		return configs.Sources{}, fmt.Errorf("%w; embedded profiles are %s", err, strings.Join(configs.Profiles(), ", "))
	}
	return configs.Sources{Files: []configs.Document{doc}}, err
}

func show(sum *measure.Summary, spec *platform.Spec, asJSON bool, out string) error {
	if asJSON {
		text, err := sum.JSON()
		if err == nil {
			_, err = os.Stdout.Write(text)
		}
		return err
	}
	var text bytes.Buffer
	printSummary(&text, sum, spec)
	if out != "" {
		fmt.Fprintf(&text, "\nresults in %s; next: rnicmmu plot %s\n", out, out)
	}
	_, err := os.Stdout.Write(text.Bytes())
	return err
}
