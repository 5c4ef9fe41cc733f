package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newDispatchShowCommand() *cobra.Command {
	var r args.DispatchShow
	c := &cobra.Command{
		Use: "show ID", Short: "Show work that was handed in", Args: between(1, 1, "ID"),
		Long: "show prints all of a piece of work: who handed it in, who has it, and the document of its hand-over.",
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
	a.printDispatchShow("", o, "by", "created_at", "ended", "labels", "capabilities", "url", "body")
	if claim, is := o["claim"].(map[string]any); is {
		a.out.Printf("  claim:\n")
		a.printDispatchShow("  ", claim, "token", "loop", "agent", "run", "until", "failures", "lost")
	}
	if h, is := o["handoff"].(map[string]any); is {
		a.out.Printf("  handed over:\n")
		a.printDispatchShow("  ", h, "to", "ticket", "summary", "next", "files_changed", "decisions", "open_questions", "acceptance", "blockers", "artifacts", "run", "node", "at")
	}
	return nil
}

// printDispatchShow prints the members of an object that are there, a line each.
func (a *app) printDispatchShow(indent string, o map[string]any, names ...string) {
	for _, name := range names {
		switch v := o[name].(type) {
		case nil:
		case string:
			if v != "" {
				a.out.Printf("%s  %s: %s\n", indent, name, ui.CleanLines(v))
			}
		case []any:
			if len(v) > 0 {
				a.out.Printf("%s  %s: %s\n", indent, name, joinWords(v))
			}
		case map[string]any:
			for _, key := range value.Keys(v) {
				a.out.Printf("%s  %s %s: %s\n", indent, name, ui.Clean(key), ui.CleanLines(value.Text(v[key])))
			}
		default:
			a.out.Printf("%s  %s: %s\n", indent, name, ui.CleanLines(value.Text(v)))
		}
	}
}
