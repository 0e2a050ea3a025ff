package main

import "github.com/spf13/cobra"

func verifyCommand() *cobra.Command {
	c := &cobra.Command{Use: "verify", Short: "run the checks of this model on itself (docs/verification.md)", Args: noArgs}
	c.AddCommand(verifyCoverageCommand())
	return c
}
