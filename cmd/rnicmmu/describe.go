package main

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/platform"
)

func describeCommand() *cobra.Command {
	var schema, page bool
	c := &cobra.Command{
		Use:   "describe [UNIT]",
		Short: "parameters with unit, range, default and source; causes of latency",
		Long: "Describe the parameters of a unit (tpt, pcie, host.pager …), one parameter, or all.\n" +
			"describe causes lists what latency is split into.",
		Args: atMost("UNIT"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case schema:
				return write(configs.Schema(&platform.Spec{}))
			case page:
				return write(configs.ParametersPage(&platform.Spec{}))
			case len(args) == 1 && args[0] == "causes":
				return describeCauses()
			}
			unit := ""
			if len(args) == 1 {
				unit = args[0]
			}
			return configs.Describe(os.Stdout, &platform.Spec{}, unit)
		},
	}
	c.Flags().BoolVar(&schema, "schema", false, "print a JSON Schema of configuration files, for editors")
	c.Flags().BoolVar(&page, "markdown", false, "print docs/parameters.md")
	return c
}

func write(text []byte, err error) error {
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	return err
}

func describeCauses() error {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for c := range measure.NumCauses {
		fmt.Fprintf(t, "%s\t%s\n", c, c.Doc())
	}
	return t.Flush()
}
