package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newKvDeleteCommand() *cobra.Command {
	var r args.KV
	c := &cobra.Command{
		Use: "delete KEY", Short: "Remove a key", Args: between(1, 1, "KEY"),
		Long: "delete removes a key and its value. The exit code is 1 if the key had no value.",
		RunE: func(_ *cobra.Command, words []string) error {
			r.Key = words[0]
			return a.runKvDelete(&r)
		},
	}
	kvFlags(c, &r)
	return c
}

func (a *app) runKvDelete(r *args.KV) error {
	v, err := a.askKV(r, &event.KVRequest{Operation: ir.KVDelete})
	deleted := v == true
	switch {
	case err != nil:
		return err
	case r.JSON:
		err = ui.WriteJSON(a.out, struct {
			Namespace string `json:"namespace"`
			Key       string `json:"key"`
			Deleted   bool   `json:"deleted"`
		}{r.Namespace, r.Key, deleted})
	case !deleted:
		a.err.Printf("the key %s has no value in the namespace %s\n", ui.Quote(r.Key), ui.Clean(r.Namespace))
	}
	if err == nil && !deleted {
		err = &ended{exitNo}
	}
	return err
}
