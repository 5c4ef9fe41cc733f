package app

import "github.com/spf13/cobra"

func (a *app) newLoopCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "loop", Short: "Run a loop that finds the next piece of work for its agents",
		Long: `A block loop names agents, sources of work, and which workflow does an item of work. These commands run a loop and look at it.

  flowrun loop run engineering                  until somebody stops it
  flowrun loop run engineering --until-idle     until there is nothing to do`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newLoopRunCommand())
	return c
}
