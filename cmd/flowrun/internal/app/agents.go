package app

import "github.com/spf13/cobra"

func (a *app) newAgentsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "agents", Short: "Show agents, try them, pin their tools, stop them and start them",
		Long: `An agent that is stopped gets no new attempts, in any run of the store, until it is started again. Its running attempts
continue. Steps that need the agent wait, with or without a limit in the file: "flowrun runs show" says busy. Runs of other
processes notice within 10 ms.

  flowrun agents list
  flowrun agents stop coder
  flowrun agents start coder
  flowrun agents show coder --expanded
  flowrun agents test coder
  flowrun agents pin search --out search.tool.json`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newAgentsListCommand(), a.newAgentsShowCommand(), a.newAgentsPinCommand(), a.newAgentsStopCommand(), a.newAgentsStartCommand(), a.newAgentsTryCommand())
	return c
}
