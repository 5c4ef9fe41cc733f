package app

import "github.com/spf13/cobra"

func (a *app) newRoutinesCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "routines", Short: "Say when a schedule is due",
		Long: `A schedule has five cron fields: minute, hour, day of the month, month and day of the week.

  flowrun routines next --cron "0 2 * * MON-FRI" --timezone Europe/Berlin   its next moments`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newRoutinesNextCommand())
	return c
}
