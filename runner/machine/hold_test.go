package machine_test

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// What came in while nobody drove shares a batch with driver_changed. What it starts is asked for once: a
// host that had two requests with one key would grant one of them to a ticket that nobody waits for.
func TestWhatStartsBeforeDriverChangedIsAskedForOnce(t *testing.T) {
	p, err := load(`
		quota "db" { capacity = 1 }
		workflow "w" {
			step "a" { run = ["a"] }
			sequence "g" {
				depends_on = [step.a]
				quota      = quota.db
				step "inside" { run = ["inside"] }
			}
			step "b" {
				depends_on = [step.a]
				run        = ["b"]
			}
			step "c" {
				depends_on = [step.a]
				call       = workflow.d
			}
		}
		workflow "d" {
			step "x" { run = ["x"] }
		}`)
	if err != nil {
		t.Fatal(err)
	}
	g, err := plan.Build(p, "w")
	if err != nil {
		t.Fatal(err)
	}
	fold := engine.NewFold(journal.Header{Run: "once"}, machine.New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules()))
	feed := func(events ...event.Event) []event.Command {
		var out event.Reaction
		if _, err := fold.Feed(epoch, events, &out); err != nil {
			t.Fatal(err)
		}
		return out.Commands
	}
	first := feed(event.Event{RunStarted: &event.RunStarted{Run: "once", Workflow: "w", Dir: "/repo"}})[0].Start
	started := map[string]int{}
	for _, c := range feed(
		event.Event{AttemptFinished: &event.AttemptFinished{Ticket: first.Ticket, Node: first.Node, Attempt: first.Attempt, Outcome: event.OK}},
		event.Event{DriverChanged: &event.DriverChanged{}},
	) {
		switch {
		case c.Start != nil:
			started[c.Start.Node]++
		case c.StartChild != nil:
			started[c.StartChild.Node]++
		}
	}
	for _, node := range []string{"g", "b", "c"} {
		if started[node] != 1 {
			t.Errorf("%q is asked for %d times", node, started[node])
		}
	}
}
