package ir

import (
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
)

// On starts a workflow for each event of a name. Its expressions read var, local and event, the data of the event.
type On struct {
	Event    string      `json:"event"` // the name, or its beginning with .* behind it
	Workflow string      `json:"workflow"`
	When     *Expr       `json:"when,omitempty"` // a condition; nil: true
	With     *Expr       `json:"with,omitempty"` // an object of inputs; nil: none
	Data     *value.Type `json:"data,omitempty"` // nil: any
}

// EventPatterns are the names that match the name of an event: itself, and each beginning of it up to a dot, with .* behind it.
func EventPatterns(event string) []string {
	out := []string{event}
	for i := len(event) - 1; i > 0; i-- {
		if event[i] == '.' {
			out = append(out, event[:i]+".*")
		}
	}
	return out
}

// Subscription returns what the program does for events of a name, by the name as it is written and the workflow; nil if nothing.
func (p *Program) Subscription(event, workflow string) *On {
	for i := range p.Ons {
		if o := &p.Ons[i]; o.Event == event && o.Workflow == workflow {
			return o
		}
	}
	return nil
}

// IsEventPattern reports whether a name stands for all events that begin so.
func IsEventPattern(name string) bool { return strings.HasSuffix(name, ".*") }
