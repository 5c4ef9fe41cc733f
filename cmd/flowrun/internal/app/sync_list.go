package app

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newSyncListCommand() *cobra.Command {
	var r args.SyncList
	c := &cobra.Command{
		Use: "list", Short: "List the sync points with their parties", Args: between(0, 0, ""),
		Long: "list prints each sync point of the store in the order of the names: whether the parties have met, each party, and the nodes that wait. With --json it is one object.",
		RunE: func(*cobra.Command, []string) error { return a.runSyncList(&r) },
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runSyncList(r *args.SyncList) error {
	v, err := a.askShared(event.StoreRequest{Points: true}, readsStore)
	if err != nil {
		return err
	}
	points, _ := v.(map[string]value.Value)
	if r.JSON {
		return ui.WriteJSON(a.out, struct {
			Points map[string]value.Value `json:"points"`
		}{points})
	}
	if len(points) == 0 {
		a.err.Printf("No run in this store has used a sync point.\n")
	}
	for _, name := range value.Keys(points) {
		a.out.Printf("%s", describeSyncList(name, points[name].(map[string]any)))
	}
	return nil
}

// describeSyncList is a point in lines.
func describeSyncList(name string, point map[string]any) string {
	var b strings.Builder
	b.WriteString(ui.Clean(name))
	if point["met"] == true {
		b.WriteString("  met")
	}
	b.WriteString("\n")
	parties, _ := point["parties"].(map[string]any)
	needs, _ := point["needs"].([]any)
	for _, need := range needs {
		if name, _ := need.(string); parties[name] == nil {
			b.WriteString("  " + ui.Clean(name) + "  not here yet\n")
		}
	}
	for _, name := range value.Keys(parties) {
		p, _ := parties[name].(map[string]any)
		b.WriteString("  " + ui.Clean(name))
		reason, _ := p["reason"].(string)
		switch {
		case p["ready"] == true:
			b.WriteString("  ready\n")
		case reason != "":
			b.WriteString("  blocked: " + ui.Clean(reason) + "\n")
		default:
			b.WriteString("  blocked\n")
		}
	}
	waits, _ := point["waiting"].([]any)
	for _, wait := range waits {
		o, _ := wait.(map[string]any)
		run, _ := o["run"].(string)
		node, _ := o["node"].(string)
		b.WriteString("  run " + ui.Clean(run) + " waits in " + ui.Clean(node) + "\n")
	}
	return b.String()
}
