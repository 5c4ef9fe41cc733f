package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
)

func (a *app) newKvNamespacesCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "namespaces", Short: "List the namespaces that have keys, with the number of keys", Args: between(0, 0, ""),
		Long: "namespaces prints a namespace and the number of its keys on each line, in the order of the names. With --json it is one object.",
		RunE: func(*cobra.Command, []string) error { return a.runKvNamespaces(asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func (a *app) runKvNamespaces(asJSON bool) error {
	found, err := a.askNamespaces()
	if err != nil {
		return err
	}
	if asJSON {
		return ui.WriteJSON(a.out, struct {
			Namespaces map[string]value.Value `json:"namespaces"`
		}{found})
	}
	if len(found) == 0 {
		a.err.Printf("No namespace has keys.\n")
	}
	for _, name := range value.Keys(found) {
		a.out.Printf("%s\t%s\n", ui.Clean(name), ui.JSONText(found[name]))
	}
	return nil
}
