package app

import (
	"github.com/spf13/cobra"
)

func (a *app) newRunsCommand() *cobra.Command {
	list := a.newListCommand()
	c := &cobra.Command{Use: "runs", Short: "List and show runs", Args: unknownCommand, RunE: list.RunE}
	c.Flags().AddFlagSet(list.Flags())
	c.AddCommand(list, a.newShowCommand(), a.newDiffCommand(), a.newTimelineCommand(), a.newLogsCommand(), a.newWatchCommand(), a.newPruneCommand())
	return c
}
