package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newDispatchListCommand() *cobra.Command {
	var r args.DispatchList
	c := &cobra.Command{
		Use: "list", Short: "List the open work", Args: between(0, 0, ""),
		Long: `list prints each piece of open work and who has it, in order: the highest priority first, then the oldest. With --json it is one object.`,
		RunE: func(*cobra.Command, []string) error { return a.runDispatchList(&r) },
	}
	c.Flags().BoolVar(&r.All, "all", false, "also closed and cancelled work")
	c.Flags().BoolVar(&r.Tickets, "tickets", false, "instead, the tickets of the store's own backlog, which loops created")
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runDispatchList(r *args.DispatchList) error {
	queue := event.QueueDispatch
	if r.Tickets {
		queue = event.QueueTicket
	}
	v, err := a.askShared(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: queue, All: r.All}}, readsStore)
	if err != nil {
		return err
	}
	o, _ := v.(map[string]any)
	items, _ := o["items"].([]any)
	left, _ := o["left"].(float64)
	if r.JSON {
		return ui.WriteJSON(a.out, struct {
			Items []value.Value `json:"items"`
			Left  float64       `json:"left"`
		}{items, left})
	}
	shown := 0
	for _, item := range items {
		if o, _ := item.(map[string]any); r.All || o["closed"] != true { // the list has closed work that open work needs
			a.out.Printf("%s\n", workWords(item))
			shown++
		}
	}
	switch {
	case left > 0:
		a.err.Printf("%g more are not shown.\n", left)
	case shown == 0:
		a.err.Printf("There is no open work in this store.\n")
	}
	return nil
}
