package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// workFlags declares the flags that describe work.
func workFlags(c *cobra.Command, r *args.DispatchAdd) {
	f := c.Flags()
	f.StringVar(&r.Body, "body", "", "what there is to say about it, as `text`")
	f.StringVar(&r.To, "to", "", "the `agent` that is to do it (default: any)")
	f.StringArrayVar(&r.Labels, "label", nil, "a `label` of it (repeatable)")
	f.StringArrayVar(&r.Needs, "needs", nil, "the `id` of work that must be done before (repeatable)")
	f.StringArrayVar(&r.Capabilities, "capability", nil, "what an agent must be able to do, as `word` (repeatable)")
	f.IntVar(&r.Priority, "priority", 0, "the highest `number` is first")
	f.StringVar(&r.ID, "id", "", "the `id` of the work (default: the store gives one)")
	f.StringVar(&r.Key, "key", "", "of two pieces of work with the same `key`, the second one is not added")
	f.StringVar(&r.As, "as", "", "the `name` of who hands it in; by default the user of the system")
	f.BoolVar(&r.JSON, "json", false, "as JSON")
}

// addWork adds work to the queue dispatch.
func (a *app) addWork(r *args.DispatchAdd) error {
	if r.As == "" {
		r.As = strings.TrimPrefix(a.person().Author, "user:")
	}
	v, err := a.askShared(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Key: r.Key, By: r.As,
		Item: &event.Item{ID: r.ID, Title: r.Title, Body: r.Body, Labels: r.Labels, Needs: r.Needs, Capabilities: r.Capabilities, Priority: r.Priority, Assignee: r.To}}}, makesStore)
	if err != nil {
		return err
	}
	return a.printAdded(v, "is there already", r.JSON)
}

// workWords is work in a line: its id, how it stands, and what it is.
func workWords(v value.Value) string {
	o, _ := v.(map[string]any)
	text := func(o map[string]any, name string) string {
		s, _ := o[name].(string)
		return ui.Clean(s)
	}
	state := text(o, "state")
	if claim, is := o["claim"].(map[string]any); is && (state == string(event.ClaimHeld) || state == string(event.ClaimParked)) {
		state += " by " + text(claim, "agent")
	}
	about := ""
	if n, _ := o["priority"].(float64); n != 0 {
		about += fmt.Sprintf("  priority %g", n)
	}
	if to := text(o, "assignee"); to != "" {
		about += "  to " + to
	}
	if needs := joinWords(o["needs"]); needs != "" {
		about += "  needs " + needs
	}
	return fmt.Sprintf("%s  %s  %s%s", text(o, "id"), state, text(o, "title"), about)
}

// joinWords is a list of texts in words.
func joinWords(v value.Value) string {
	list, _ := v.([]any)
	words := make([]string, len(list))
	for i, one := range list {
		words[i] = ui.Clean(value.Text(one))
	}
	return strings.Join(words, ", ")
}
