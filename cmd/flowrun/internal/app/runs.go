package app

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

func (a *app) runs() *cobra.Command {
	list := a.runsList()
	c := &cobra.Command{Use: "runs", Short: "Look at runs", Args: unknownCommand, RunE: list.RunE}
	c.Flags().AddFlagSet(list.Flags())
	c.AddCommand(list, a.runsShow(), a.runsLogs())
	return c
}

func (a *app) runsList() *cobra.Command {
	var r args.Runs
	c := &cobra.Command{
		Use: "list", Short: "List runs, newest first", Args: between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if err := r.Check(); err != nil {
				return err
			}
			dir, err := a.storeDir("")
			if err != nil {
				return err
			}
			s, err := a.readStore(dir)
			if errors.Is(err, local.ErrNoStore) {
				if !r.JSON {
					a.err.Printf("Nothing has run in %s yet.\n", ui.Clean(dir))
					return nil
				}
				ui.List(a.out, nil, 0, true)
				return nil
			}
			if err != nil {
				return err
			}
			defer s.Close()
			infos, err := s.List(context.Background(), r.Limit)
			if err != nil {
				return err
			}
			rows := make([]ui.Listed, len(infos))
			for i := range infos {
				rows[i] = listed(&infos[i])
			}
			ui.List(a.out, rows, event.At(time.Now()), r.JSON)
			return nil
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	c.Flags().IntVar(&r.Limit, "limit", 0, "at most `N` runs (0: all)")
	return c
}

func listed(i *local.Info) ui.Listed {
	return ui.Listed{Run: i.Run, Workflow: i.Workflow, Status: i.Status, StartedAt: view.Moment(i.Created),
		FinishedAt: view.Moment(i.Ended), Driver: i.Driver,
		Parent: i.Parent, ParentNode: i.ParentNode, RetryOf: i.RetryOf, RetriedBy: i.RetriedBy}
}
