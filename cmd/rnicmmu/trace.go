package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rnicmmu/clocked"
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
	return printInfo(w, info)
}

func traceConvertCommand() *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:   "convert FILE",
		Short: "print a trace or capture as CSV",
		Long: "Print the accesses of a trace, or every packet of a capture that names an address (RETH or AtomicETH),\n" +
			"as CSV that run --trace reads. SENDs name no address and are left out.",
		Args: exactly("FILE"),
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
			if err != nil {
				return err
			}
			info, err := t.Info()
			for _, line := range info.Warnings {
				fmt.Fprintln(os.Stderr, line)
			}
			return err
		},
	}
	c.Flags().StringVar(&to, "to", "csv", "format to print: csv")
	return c
}

// printInfo writes the trace's figures for people; counts of packets only for
// captures.
func printInfo(w io.Writer, i *workload.Info) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "file\t%s (%s)\n", i.File, i.Format)
	if i.Format.Capture() {
		fmt.Fprintf(t, "packets\t%d: %d InfiniBand, %d foreign, %d cut, %d malformed\n", i.Packets, i.IBPackets, i.Foreign, i.Cut, i.Malformed)
		for _, name := range slices.Sorted(maps.Keys(i.Opcodes)) {
			fmt.Fprintf(t, "\t%8d  %s\n", i.Opcodes[name], name)
		}
		fmt.Fprintf(t, "headers\t%d RETH, %d AtomicETH; %d ACK, %d RNR NAK, %d NAK\n", i.RETH, i.AtomicETH, i.AETH.ACK, i.AETH.RNR, i.AETH.NAK)
		fmt.Fprintf(t, "left out\t%d retransmissions, %d incomplete SENDs\n", i.Duplicates, i.Incomplete)
	}
	fmt.Fprintf(t, "accesses\t%d: %d reads, %d writes, %d sends, %d atomics\n", i.Accesses, i.Reads, i.Writes, i.Sends, i.Atomics)
	fmt.Fprintf(t, "bytes\t%d\n", i.Bytes)
	fmt.Fprintf(t, "pages\t%d of 4 KiB, referenced %d times\n", i.Pages4K, i.Refs4K)
	fmt.Fprintf(t, "hosts, QPs\t%d, %d\n", i.Hosts, i.QPs)
	if i.TimeSpanPS > 0 {
		fmt.Fprintf(t, "time\t%s\n", human(clocked.Time(i.TimeSpanPS)))
	}
	for _, line := range i.Warnings {
		fmt.Fprintf(t, "note\t%s\n", line)
	}
	return t.Flush()
}
