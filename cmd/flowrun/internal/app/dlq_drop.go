package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newDlqDropCommand() *cobra.Command {
	var r args.DlqDrop
	c := &cobra.Command{
		Use: "drop ID…", Short: "Remove dead letters", Args: between(1, 1000, "ID…"),
		Long: "drop removes the entries. It removes no run and sends no message.",
		RunE: func(_ *cobra.Command, words []string) error {
			r.IDs = words
			return a.runDlqDrop(&r)
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runDlqDrop(r *args.DlqDrop) error {
	for _, id := range r.IDs {
		if _, err := a.askShared(event.StoreRequest{Dead: &event.DeadRequest{ID: id, Close: true}}, changesStore); err != nil {
			return err
		}
		if !r.JSON {
			a.out.Printf("%s is dropped\n", id)
		}
	}
	if r.JSON {
		return ui.WriteJSON(a.out, map[string]any{"dropped": r.IDs})
	}
	return nil
}
