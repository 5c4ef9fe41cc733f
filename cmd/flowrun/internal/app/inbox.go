package app

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newInboxCommand() *cobra.Command {
	var r args.Inbox
	c := &cobra.Command{
		Use: "inbox", Short: "List the questions for people", Args: between(0, 0, ""),
		Long: `inbox lists the questions for people in all runs of the store, the oldest first: the question and its content, who can answer, until when, and the command to answer. With --json it is one object.`,
		RunE: func(*cobra.Command, []string) error { return a.runInbox(&r) },
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runInbox(r *args.Inbox) error {
	v, err := a.askShared(event.StoreRequest{Asks: true}, readsStore)
	if err != nil {
		return err
	}
	asks, err := ui.ReadAsks(v)
	if err != nil {
		return err
	}
	flags := a.nameWorkflows(asks)
	now := time.Now()
	if r.JSON {
		for i := range asks {
			asks[i].Decide = asks[i].Line(flags, now)
		}
		return ui.WriteJSON(a.out, struct {
			Inbox []ui.Ask `json:"inbox"`
		}{asks})
	}
	ui.Inbox(a.out, asks, flags, now)
	if len(asks) == 0 {
		a.err.Printf("There are no questions for people.\n")
	}
	return nil
}
