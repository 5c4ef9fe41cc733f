package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newDispatchShowCommand() *cobra.Command {
	var r args.DispatchShow
	c := &cobra.Command{
		Use: "show ID", Short: "Show a piece of work", Args: between(1, 1, "ID"),
		Long: "show prints all about a piece of work: who added it, who has it, and the document of its hand-over.",
		RunE: func(_ *cobra.Command, words []string) error {
			r.ID = words[0]
			return a.runDispatchShow(&r)
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runDispatchShow(r *args.DispatchShow) error {
	v, err := a.askShared(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchShow, Queue: serve.QueueOf(r.ID), ID: r.ID}}, readsStore)
	if err != nil {
		return err
	}
	if r.JSON {
		return ui.WriteJSON(a.out, v)
	}
	o, _ := v.(map[string]any)
	a.out.Printf("%s\n", workWords(v))
	a.printWork(o)
	if claim, is := o["claim"].(map[string]any); is {
		a.out.Printf("  claim:\n")
		a.printMembers("  ", claim, "token", "loop", "agent", "run", "until", "failures", "lost")
	}
	return nil
}
