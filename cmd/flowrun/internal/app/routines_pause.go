package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newRoutinesPauseCommand() *cobra.Command {
	var r args.RoutinesChange
	c := &cobra.Command{
		Use: "pause NAME", Short: "Pause a routine", Args: between(1, 1, "NAME"),
		Long: "A paused routine starts no runs until flowrun routines resume. Times that pass meanwhile do not count as missed. Running runs continue.",
		RunE: func(_ *cobra.Command, names []string) error {
			r.Name = names[0]
			return a.changeRoutine(&r, event.RoutinePause, "is paused", "was paused already")
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}
