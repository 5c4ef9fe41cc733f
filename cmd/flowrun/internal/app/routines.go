package app

import "github.com/spf13/cobra"

func (a *app) newRoutinesCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "routines", Short: "List, pause and run the routines, which start runs on a schedule",
		Long: `A routine block starts a workflow on a schedule. flowrun apply registers the routines of its program. flowrun serve starts the runs that become due; a running apply does so for its own program. On a Temporal server, workers start them.

  flowrun routines list                      each routine of the store, its next and last run
  flowrun routines next nightly              the next times of a routine
  flowrun routines next --cron "0 2 * * *"   the next times of a schedule
  flowrun routines pause nightly             from now on, the routine starts no runs
  flowrun routines resume nightly            from now on, the routine starts runs
  flowrun routines run nightly               a run of the routine, now`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newRoutinesListCommand(), a.newRoutinesNextCommand(), a.newRoutinesPauseCommand(), a.newRoutinesResumeCommand(), a.newRoutinesRunCommand())
	return c
}
