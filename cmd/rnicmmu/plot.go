package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"rnicmmu/plots"
)

func plotCommand() *cobra.Command {
	var formats []string
	c := &cobra.Command{
		Use:   "plot DIR",
		Short: "draw the figures of a run or a sweep",
		Args:  exactly("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			files, err := plots.Draw(args[0], formats, plots.Options{})
			for _, f := range files {
				fmt.Fprintln(c.OutOrStdout(), f)
			}
			return err
		},
	}
	c.Flags().StringSliceVar(&formats, "format", []string{"png", "svg"}, "svg, png or pdf; several with commas")
	return c
}
