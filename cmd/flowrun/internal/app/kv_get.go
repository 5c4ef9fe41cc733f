package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newKvGetCommand() *cobra.Command {
	var r args.KV
	c := &cobra.Command{
		Use: "get KEY", Short: "Print the value of a key as JSON", Args: between(1, 1, "KEY"),
		Long: "get prints the value of a key as JSON. The exit code is 1 if the key has no value, or null.",
		RunE: func(_ *cobra.Command, words []string) error {
			r.Key = words[0]
			return a.runKvGet(&r)
		},
	}
	kvFlags(c, &r)
	return c
}

func (a *app) runKvGet(r *args.KV) error {
	v, err := a.askKV(r, &event.KVRequest{Operation: ir.KVGet})
	switch {
	case err != nil:
		return err
	case r.JSON:
		err = ui.WriteJSON(a.out, kvJSON{r.Namespace, r.Key, v})
	case v == nil:
		a.err.Printf("the key %s has no value in the namespace %s\n", ui.Quote(r.Key), ui.Clean(r.Namespace))
	default:
		a.out.Printf("%s\n", ui.JSONText(v))
	}
	if err == nil && v == nil {
		err = &ended{exitNo}
	}
	return err
}
