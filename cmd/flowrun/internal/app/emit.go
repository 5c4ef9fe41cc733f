package app

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newEmitCommand() *cobra.Command {
	var r args.Emit
	c := &cobra.Command{
		Use: "emit NAME", Short: "Publish an event for runs that wait for it", Args: between(1, 1, "NAME"),
		Long: `emit publishes an event, as a step with an emit block does. Each live run whose workflow waits for the name gets it. The event is durable when the command ends.

  flowrun emit review.done --data '{"change": "1234", "passed": true}'
  flowrun emit build.done --key 1234            the same key again within 7 days publishes nothing

A value is JSON; other text is a string. Text that begins with {, [ or " must be JSON.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.Name = words[0]
			return a.runEmit(&r)
		},
	}
	c.Flags().StringVar(&r.Data, "data", "null", "the data of the event, as `JSON`")
	c.Flags().StringVar(&r.Key, "key", "", "a `key`: an event with the same name and key is published only once")
	c.Flags().StringVar(&r.Run, "run", "", "the only `run` that gets the event (default: all runs that wait for this event)")
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runEmit(r *args.Emit) error {
	data, err := valueOf("--data", r.Data)
	if err != nil {
		return err
	}
	q := &event.EmitRequest{Name: r.Name, Data: data, Key: r.Key}
	if r.Run != "" {
		s, info, err := a.openRun(r.Run, nil)
		if err != nil {
			return err
		}
		s.Close()
		if info.Ended != 0 {
			return &args.Error{Message: fmt.Sprintf("run %s has ended: no step of it waits for an event", info.Run)}
		}
		q.Run = info.Run
	}
	v, err := a.askShared(event.StoreRequest{Emit: q}, makesStore)
	if err != nil {
		return err
	}
	if o, _ := v.(map[string]any); o["receivers"] == 0.0 {
		a.err.Printf("No live run waits for %s, and no registered program starts a run for it. Runs that start later do not get this event.\n", ui.Clean(r.Name))
	}
	return a.printAdded(v, "was published before with this key", r.JSON)
}
