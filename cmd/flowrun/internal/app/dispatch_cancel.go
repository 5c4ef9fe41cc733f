package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newDispatchCancelCommand() *cobra.Command {
	var r args.DispatchCancel
	c := &cobra.Command{
		Use: "cancel ID…", Short: "Take work back", Args: between(1, 1000, "ID…"),
		Long: `cancel removes work from the queue. Other work no longer waits for it. A loop that has claimed the work notices when it next renews its claim, and
cancels the run.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.IDs = words
			return a.runDispatchCancel(&r)
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runDispatchCancel(r *args.DispatchCancel) error {
	cancelled := []string{}
	for _, id := range r.IDs {
		v, err := a.askShared(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchCancel, Queue: serve.QueueOf(id), ID: id}}, changesStore)
		if err != nil {
			return err
		}
		o, _ := v.(map[string]any)
		state, _ := o["state"].(string)
		if o["cancelled"] == true {
			cancelled = append(cancelled, id)
		}
		switch {
		case r.JSON:
		case o["cancelled"] == true:
			a.out.Printf("%s is cancelled\n", ui.Clean(id))
		default:
			a.out.Printf("%s was %s before\n", ui.Clean(id), ui.Clean(state))
		}
	}
	if r.JSON {
		return ui.WriteJSON(a.out, map[string]any{"cancelled": cancelled})
	}
	return nil
}
