package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newRoutinesPauseCommand() *cobra.Command {
	var r args.RoutinesChange
	c := &cobra.Command{
		Use: "pause NAME", Short: "Let no moment of a routine start a run", Args: between(1, 1, "NAME"),
		Long: "pause holds a routine until flowrun routines resume. Moments that pass in between start nothing, and do not count as missed. Runs that have started continue.",
		RunE: func(_ *cobra.Command, names []string) error {
			r.Name = names[0]
			return a.changeRoutine(&r, event.RoutinePause, "is paused", "was paused already")
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}
