package main

import "github.com/spf13/cobra"

func verifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify",
		Short: "check the rules that the model keeps",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(verifyRandomCommand())
	return c
}
