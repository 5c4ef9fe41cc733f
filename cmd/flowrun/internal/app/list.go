package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
)

func (a *app) newListCommand() *cobra.Command {
	var r args.List
	c := &cobra.Command{
		Use: "list", Short: "List runs, newest first", Args: between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if err := r.Check(); err != nil {
				return err
			}
			return a.listRuns(&r)
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	c.Flags().IntVar(&r.Limit, "limit", 0, "at most `N` runs (0: all)")
	c.Flags().StringArrayVar(&r.Status, "status", nil, "only runs with this `status`; can be repeated")
	c.Flags().StringVar(&r.Workflow, "workflow", "", "only runs of this workflow, by its `name`")
	c.Flags().StringVar(&r.Since, "since", "", "only runs that began since this `time`: an age such as 24h or 7d, a date, or a time such as 2026-01-05T08:00:00Z")
	c.Flags().StringVar(&r.Cause, "cause", "", "only runs with this `kind` of cause: manual, call, event, routine, loop or retry")
	return c
}
