package app

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newKvSetCommand() *cobra.Command {
	var r args.KV
	c := &cobra.Command{
		Use: "set KEY VALUE", Short: "Write a value to a key", Args: between(2, 2, "KEY VALUE"),
		Long: "set writes a value to a key. A value is JSON; text that is not JSON is a string. Text that begins with {, [ or \" must be JSON.",
		RunE: func(_ *cobra.Command, words []string) error {
			r.Key = words[0]
			ttl, err := r.Lifetime()
			if err != nil {
				return err
			}
			return a.runKvSet(&r, words[1], ttl)
		},
	}
	kvFlags(c, &r)
	c.Flags().StringVar(&r.TTL, "ttl", "", "the value expires after this `duration`, such as 1h or 7d (default: never)")
	return c
}

func (a *app) runKvSet(r *args.KV, text string, ttl time.Duration) error {
	v, err := valueOf("VALUE", text)
	if err != nil {
		return err
	}
	v, err = a.askKV(r, &event.KVRequest{Operation: ir.KVSet, Value: v, TTL: ttl})
	if err == nil && r.JSON {
		err = ui.WriteJSON(a.out, kvJSON{r.Namespace, r.Key, v})
	}
	return err
}
