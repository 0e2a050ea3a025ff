package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/platform"
	"rnicmmu/verify"
	"rnicmmu/verify/rule"
)

func describeCommand() *cobra.Command {
	var schema, page bool
	c := &cobra.Command{
		Use:   "describe [UNIT]",
		Short: "parameters with unit, range, default and source; ports; statistics; causes of latency",
		Long: "Describe a unit (tpt, pcie, host, qp, adapter, network, peer, workload): its parameters, ports and\n" +
			"statistics; a group or parameter (tpt.mtt, host.pager.policy); or, without UNIT, all parameters.\n" +
			"describe causes lists what latency is split into, describe rules what the checks of --verify watch for.",
		Args: atMost("UNIT"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case schema:
				return write(configs.Schema(&platform.Spec{}))
			case page && len(args) > 0 && args[0] == "rules":
				return write(rule.Page(verify.Rules()), nil)
			case page:
				return write(configs.ParametersPage(&platform.Spec{}))
			case len(args) == 0:
				return configs.Describe(os.Stdout, &platform.Spec{}, "")
			case args[0] == "rules":
				return rule.List(os.Stdout, verify.Rules())
			case args[0] == "causes":
				return describeCauses(os.Stdout)
			}
			return describeUnit(os.Stdout, args[0])
		},
	}
	c.Flags().BoolVar(&schema, "schema", false, "print a JSON Schema of configuration files, for editors")
	c.Flags().BoolVar(&page, "markdown", false, "print docs/parameters.md; of rules: docs/rules.md")
	return c
}

func write(text []byte, err error) error {
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	return err
}

func describeCauses(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for c := range measure.NumCauses {
		fmt.Fprintf(t, "%s\t%s\n", c, c.Doc())
	}
	return t.Flush()
}

// described says which units of the system and which statistics belong to a
// group of parameters.
var described = map[string]struct{ units, statistics []string }{
	"tpt":      {[]string{"tpt"}, []string{"tpt.", "faults.raised", "faults.resumed", "faults.failed", "faults.qp_gone", "invalidations.hazard"}},
	"pcie":     {[]string{"pcie"}, []string{"pcie."}},
	"host":     {[]string{"memory", "kernel"}, []string{"faults.", "invalidations.", "cpu.", "advertise."}},
	"qp":       {[]string{"requester", "responder"}, []string{"transport."}},
	"adapter":  {[]string{"responder"}, []string{"transport."}},
	"network":  {[]string{"requester", "responder"}, []string{"transport."}},
	"peer":     {[]string{"peer_pcie", "peer_memory", "requester"}, nil},
	"workload": {[]string{"driver"}, []string{"accesses.", "registration."}},
}

// aliases are units that have their parameters in another's group.
var aliases = map[string]string{"kernel": "host", "memory": "host", "hostmmu": "host", "requester": "qp", "responder": "adapter", "driver": "workload"}

func describeUnit(w io.Writer, unit string) error {
	unit = cmp.Or(aliases[unit], unit)
	if err := configs.Describe(w, &platform.Spec{}, unit); err != nil {
		return err
	}
	of, ok := described[unit]
	if !ok {
		return nil
	}
	if err := describePorts(w, of.units); err != nil {
		return err
	}
	return describeStatistics(w, of.statistics)
}

// describePorts lists the wires at the units of a default system.
func describePorts(w io.Writer, units []string) error {
	var spec platform.Spec
	if err := configs.Defaults(&spec); err != nil {
		return err
	}
	system, err := platform.New([]platform.Spec{spec}, nil)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nPORT FROM\tTO\tCARRIES\tDEPTH\tLATENCY\n")
	at := func(name string) bool {
		base, _, _ := strings.Cut(name, ".")
		return slices.Contains(units, strings.TrimRight(base, "0123456789"))
	}
	for _, x := range system.Wires() {
		if at(x.From) || at(x.To) {
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\n", x.From, x.To, strings.TrimPrefix(x.Message, "*"), x.Depth, human(x.Latency))
		}
	}
	return t.Flush()
}

// describeStatistics lists the figures of summary.json and sweep.csv.
func describeStatistics(w io.Writer, prefixes []string) error {
	names, _ := measure.Flatten(measure.Summary{})
	fmt.Fprint(w, "\nSTATISTIC (in summary.json and sweep.csv; _ps is picoseconds)\n")
	for _, name := range names {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			fmt.Fprintln(w, name)
		}
	}
	return nil
}
