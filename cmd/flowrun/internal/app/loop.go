package app

import "github.com/spf13/cobra"

func (a *app) newLoopCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "loop", Short: "Run a loop that finds the next piece of work for its agents",
		Long: `A loop block names agents, sources of work, and the workflow for an item of work. These commands run and show loops.

  flowrun loop run engineering                  until it is stopped
  flowrun loop run engineering --until-idle     until there is nothing to do
  flowrun loop next engineering --dry-run       show which agent would take which item, and the reasons
  flowrun loop status engineering
  flowrun loop pause engineering --agent sam --for 10m`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newLoopRunCommand(), a.newLoopStatusCommand(), a.newLoopNextCommand(), a.newLoopItemsCommand(), a.newLoopPauseCommand(), a.newLoopResumeCommand(), a.newLoopStopCommand())
	return c
}
