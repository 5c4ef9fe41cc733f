package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// Events that a wait has taken do not push out an event that none has. Where none is taken, the oldest goes, and a warning says so.
func TestTakenEventsMakeRoom(t *testing.T) {
	p, err := load(`
		workflow "w" {
			sequence "take" {
				repeat {
					until = "step.any.output.last"
					max   = 5000
				}
				step "any" {
					wait {
						event = "e"
						match = "event.kind == 'any'"
					}
				}
			}
			step "rare" {
				depends_on = [step.take]
				wait {
					event = "e"
					match = "event.kind == 'rare'"
				}
			}
		}`)
	if err != nil {
		t.Fatal(err)
	}
	g, err := plan.Build(p, "w")
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]event.Status{"any": event.Succeeded, "other": ""} {
		fold, now := engine.NewFold(journal.Header{Run: "heard"}, machine.New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules())), epoch
		var told []string
		feed := func(ev event.Event) {
			var out event.Reaction
			if _, err := fold.Feed(now, []event.Event{ev}, &out); err != nil {
				t.Fatal(err)
			}
			for _, tr := range out.Transitions {
				if tr.Note == event.Warned {
					told = append(told, tr.Reason)
				}
			}
		}
		comes := func(n int, kind string, last bool) {
			feed(event.Event{External: &event.External{Inbox: int64(n), Kind: event.ExternalEvent,
				Data: map[string]any{"id": fmt.Sprint("ev-", n), "name": "e", "data": map[string]any{"kind": kind, "last": last}}}})
		}
		feed(event.Event{RunStarted: &event.RunStarted{Run: "heard", Workflow: "w"}})
		comes(1, "rare", false)
		for i := range machine.MaxHeard + 10 {
			comes(2+i, kind, false)
		}
		comes(2+machine.MaxHeard+10, "any", true)
		status := event.Status("")
		if end := fold.End(); end != nil {
			status = end.Status
		}
		if status != want || (len(told) > 0) != (kind == "other") || len(told) > 0 && !strings.Contains(told[0], "were dropped") {
			t.Errorf("after events %q: the run is %q, and warns of %q", kind, status, told)
		}
	}
}
