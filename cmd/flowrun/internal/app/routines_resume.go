package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newRoutinesResumeCommand() *cobra.Command {
	var r args.RoutinesChange
	c := &cobra.Command{
		Use: "resume NAME", Short: "Resume a paused routine", Args: between(1, 1, "NAME"),
		Long: "After resume, a routine starts runs again.",
		RunE: func(_ *cobra.Command, names []string) error {
			r.Name = names[0]
			return a.changeRoutine(&r, event.RoutineResume, "continues", "was not paused")
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}
