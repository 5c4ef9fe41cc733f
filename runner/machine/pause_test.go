package machine_test

import (
	"slices"
	"testing"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// A run of behaviour number 1 fails at the first event that a gate inside a wait refuses. One of number 2 waits for the next event.
func TestOldPausesFailAtOnce(t *testing.T) {
	p, err := load(`
		workflow "w" {
			step "job" {
				wait { event = "job" }
				gate "big" {
					check   = "result.output.size > 2"
					on_fail = "retry"
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
	for number, want := range map[int][]event.Status{1: {event.Waiting, event.FailedS}, 2: {event.Waiting, event.Waiting, event.Waiting, event.Succeeded}} {
		rules := ir.RulesOf(number)
		fold := engine.NewFold(journal.Header{Run: "r"}, machine.New(g, expr.NewEvaluator(rules), rules))
		var got []event.Status
		for i, ev := range []event.Event{
			{RunStarted: &event.RunStarted{Run: "r"}},
			published("e1", 1),
			published("e2", 3),
		} {
			var out event.Reaction
			if _, err := fold.Feed(epoch, []event.Event{ev}, &out); err != nil {
				t.Fatalf("number %d, event %d: %v", number, i, err)
			}
			for _, tr := range out.Transitions {
				if tr.Node == "job" && tr.Gate == nil && tr.Note == "" {
					got = append(got, tr.To)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("number %d: %v, want %v", number, got, want)
		}
	}
}

// published is an event "job" with a size.
func published(id string, size float64) event.Event {
	return event.Event{External: &event.External{Kind: event.ExternalEvent,
		Data: map[string]any{"name": "job", "id": id, "at": epoch.String(), "source": "outside", "data": map[string]any{"size": size}}}}
}
