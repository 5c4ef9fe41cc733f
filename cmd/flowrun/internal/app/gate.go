package app

import (
	"github.com/spf13/cobra"
)

func (a *app) newGateCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "gate", Short: "Show and accept the figures that benchmarks are compared with",
		Long: `gate has commands for the gates of all programs of a store: the baselines of gates with a benchmark block.`,
		Args: unknownCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newGateBaselineCommand())
	return c
}
