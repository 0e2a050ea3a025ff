package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"rnicmmu/workload"
)

func traceCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "trace",
		Short: "look into traces and captures",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(traceInfoCommand(), traceConvertCommand())
	return c
}

func traceInfoCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "info FILE",
		Short: "what a trace or capture holds",
		Args:  exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			t, err := open(args[0])
			if err != nil {
				return err
			}
			defer t.Close()
			info, err := t.Info()
			if err != nil {
				return err
			}
			return showInfo(c.OutOrStdout(), info, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func showInfo(w io.Writer, info *workload.Info, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(info)
	}
	return info.Print(w)
}

func traceConvertCommand() *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:   "convert FILE",
		Short: "print the accesses of a trace or capture as CSV",
		Args:  exactly("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if to != "csv" {
				return fmt.Errorf("--to %q: csv is due", to)
			}
			t, err := open(args[0])
			if err != nil {
				return err
			}
			defer t.Close()
			out := bufio.NewWriter(os.Stdout)
			err = workload.Convert(out, t)
			if e := out.Flush(); err == nil {
				err = e
			}
			for _, line := range t.Warnings() {
				fmt.Fprintln(os.Stderr, line)
			}
			return err
		},
	}
	c.Flags().StringVar(&to, "to", "csv", "format to print: csv")
	return c
}
