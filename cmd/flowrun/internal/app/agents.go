package app

import "github.com/spf13/cobra"

func (a *app) newAgentsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "agents", Short: "Show the agents that runs share, stop them and start them",
		Long: `An agent that is stopped gets no new attempts, in any run of the store, until it is started again. Attempts that it carries out
already go on. Steps that need the agent wait, whether the file bounds the agent or not: "flowrun runs show" says busy. Runs of other
processes hear of it within 10 ms.

  flowrun agents list
  flowrun agents stop coder
  flowrun agents start coder`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newAgentsListCommand(), a.newAgentsStopCommand(), a.newAgentsStartCommand())
	return c
}
