package main

import "github.com/spf13/cobra"

func verifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify",
		Short: "check the design: protocols without a clock, random systems, coverage",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(verifyProtocolCommand(), verifyRandomCommand(), verifyCoverageCommand())
	return c
}
