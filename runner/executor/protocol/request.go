package protocol

import (
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Version stands in every request, so that an agent can tell what it is spoken to in.
const Version = "flowrun/1"

// Request is what an agent is told, on its standard input or as the body of a POST: one line of JSON, or for input = "text"
// the task, and after a blank line what with holds, as JSON.
func Request(a *event.Attempt) []byte {
	g := a.Agent
	if g.Input == "text" {
		b := append([]byte(g.Task), '\n')
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
		"feedback":        g.Feedback,
		"idempotency_key": a.Key,
	}), '\n')
}
