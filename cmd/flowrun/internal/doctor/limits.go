package doctor

import (
	"fmt"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// aboutLimits returns the findings about breakers that are not closed, and agents that a person stopped.
func aboutLimits(limits []event.Limit, flags string) (out []ui.Finding) {
	for i := range limits {
		l := &limits[i]
		if l.Health != "" && l.Health != string(shared.Closed) {
			out = append(out, odd("breaker", fmt.Sprintf("the circuit breaker of %s %s is open after failures in a row; %s", l.Kind, ui.Quote(l.Name), waitForIt(l)),
				"It tries again by itself. To close it now: flowrun limits reset "+ui.Quote(l.Name)+flags))
		}
		if l.Stopped {
			out = append(out, odd("agent", fmt.Sprintf("the agent %s was stopped; %s", ui.Quote(l.Name), waitForIt(l)),
				"To start it: flowrun agents start "+ui.Quote(l.Name)+flags))
		}
	}
	return out
}

func waitForIt(l *event.Limit) string { return ui.Count(len(l.Waiting), "attempt") + " waiting" }
