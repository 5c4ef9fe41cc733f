package protocol

import (
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Version stands in every request, so that an agent can tell what it is spoken to in.
const Version = "flowrun/1"

// Request is what an agent is told, on its standard input or as the body of a POST: one line of JSON, or for input = "text"
// the task, and after a blank line what with holds, as JSON. Before the task stand its soul and what the memory gave, each with a
// blank line behind it.
func Request(a *event.Attempt) []byte {
	g := a.Agent
	if g.Input == "text" {
		var b []byte
		for _, part := range []string{g.Soul, g.Recalled} {
			if part != "" {
				b = append(append(b, strings.TrimRight(part, "\n")...), "\n\n"...)
			}
		}
		b = append(append(b, g.Task...), '\n')
		if g.With != nil {
			b = append(value.Append(append(b, '\n'), g.With), '\n')
		}
		return b
	}
	return append(value.Append(nil, map[string]any{
		"protocol":        Version,
		"run":             a.Run,
		"step":            a.Node,
		"attempt":         float64(a.Attempt),
		"task":            g.Task,
		"with":            g.With,
		"soul":            g.Soul,
		"memory":          g.Recalled,
		"feedback":        g.Feedback,
		"idempotency_key": a.Key,
	}), '\n')
}
