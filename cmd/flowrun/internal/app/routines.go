package app

import "github.com/spf13/cobra"

func (a *app) newRoutinesCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "routines", Short: "List, pause and run the routines that start runs by the clock",
		Long: `A block routine starts a workflow by the clock. flowrun apply registers the routines of its program. flowrun serve starts the runs that
become due, and apply does for its own program while it lives. On a Temporal server workers start them.

  flowrun routines list                      each routine of the store, its next moment and its last run
  flowrun routines next nightly              the next moments of a routine
  flowrun routines next --cron "0 2 * * *"   the next moments of a schedule
  flowrun routines pause nightly             no moment starts a run from now on
  flowrun routines resume nightly            moments from now on start runs
  flowrun routines run nightly               a run of the routine, now`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newRoutinesListCommand(), a.newRoutinesNextCommand(), a.newRoutinesPauseCommand(), a.newRoutinesResumeCommand(), a.newRoutinesRunCommand())
	return c
}
