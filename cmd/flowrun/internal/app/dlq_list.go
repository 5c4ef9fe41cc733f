package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newDlqListCommand() *cobra.Command {
	var r args.DlqList
	c := &cobra.Command{
		Use: "list", Short: "List the dead letters", Args: between(0, 0, ""),
		Long: "list prints a line for each dead letter of the store, the oldest first. With --json it is one object.",
		RunE: func(*cobra.Command, []string) error { return a.runDlqList(&r) },
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runDlqList(r *args.DlqList) error {
	v, err := a.askShared(event.StoreRequest{Dead: &event.DeadRequest{}}, readsStore)
	if err != nil {
		return err
	}
	if r.JSON {
		return ui.WriteJSON(a.out, struct {
			Letters value.Value `json:"dead_letters"`
		}{v})
	}
	var list []deadLetter
	if err := readDead(v, &list); err != nil {
		return err
	}
	if len(list) == 0 {
		a.err.Printf("This store has no dead letters.\n")
	}
	for i := range list {
		a.out.Printf("%s\n", list[i].words())
	}
	return nil
}
