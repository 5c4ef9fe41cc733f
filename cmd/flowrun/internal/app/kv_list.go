package app

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

func (a *app) newKvListCommand() *cobra.Command {
	var r args.KV
	c := &cobra.Command{
		Use: "list [PREFIX]", Short: "List the keys with a prefix and their values", Args: between(0, 1, "[PREFIX]"),
		Long: "list prints a key and its value as JSON on each line, in the order of the keys. With --json it is one object.",
		RunE: func(_ *cobra.Command, words []string) error {
			if len(words) > 0 {
				r.Key = words[0]
			}
			return a.runKvList(&r)
		},
	}
	kvFlags(c, &r)
	c.Flags().IntVar(&r.Limit, "limit", shared.DefaultScanned, fmt.Sprintf("at most `N` keys, up to %d", limits.MaxKVScanned))
	return c
}

func (a *app) runKvList(r *args.KV) error {
	if err := r.CheckLimit(); err != nil {
		return err
	}
	v, err := a.askKV(r, &event.KVRequest{Operation: ir.KVScan, Limit: r.Limit})
	if err != nil {
		return err
	}
	found, _ := v.(map[string]value.Value)
	if r.JSON {
		return ui.WriteJSON(a.out, struct {
			Namespace string                 `json:"namespace"`
			Values    map[string]value.Value `json:"values"`
		}{r.Namespace, found})
	}
	if len(found) == 0 {
		none := fmt.Sprintf("No key of the namespace %s begins with %q.", r.Namespace, r.Key)
		if r.Key == "" {
			none = fmt.Sprintf("The namespace %s has no keys.", r.Namespace)
		}
		others := ""
		if names, err := a.askNamespaces(); err == nil && len(names) > 0 { // a worker of an older release cannot say
			others = " Namespaces with keys: " + strings.Join(value.Keys(names), ", ") + "."
		}
		a.err.Printf("%s%s Name another namespace with --namespace.\n", ui.Clean(none), ui.Clean(others))
	}
	for _, key := range value.Keys(found) {
		a.out.Printf("%s\t%s\n", ui.Clean(key), ui.JSONText(found[key]))
	}
	return nil
}
