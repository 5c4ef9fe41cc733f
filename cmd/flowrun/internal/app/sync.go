package app

import "github.com/spf13/cobra"

func (a *app) newSyncCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "sync", Short: "List sync points, and check in at one",
		Long: `Steps with a sync block check in at a sync point as a party and wait until all needed parties are ready. All runs of a store share the points.

  flowrun sync list                                                  each point, its parties, and who waits
  flowrun sync check-in release --as docs                            the party is ready
  flowrun sync check-in release --as docs --blocked "a page is missing"`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newSyncListCommand(), a.newSyncCheckInCommand())
	return c
}
