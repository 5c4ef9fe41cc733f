package machine_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/machine"
)

// TestStepRefusesWhatCannotBe feeds events that no journal of this run can hold. Late answers are another matter: they
// are part of life, and of the scripts.
func TestStepRefusesWhatCannotBe(t *testing.T) {
	start := event.Event{RunStarted: &event.RunStarted{Run: "r", Workflow: "w"}}
	for name, c := range map[string]struct {
		before []event.Event
		ev     event.Event
		want   string
	}{
		"an answer before the start": {nil, event.Event{AttemptFinished: &event.AttemptFinished{Ticket: 1}}, "comes first"},
		"a second start":             {[]event.Event{start}, start, "comes first, and once"},
		"an answer to nothing":       {[]event.Event{start}, event.Event{AttemptFinished: &event.AttemptFinished{Ticket: 2}}, "attempt 2, which was never started"},
		"a timer that nobody set":    {[]event.Event{start}, event.Event{TimerFired: &event.TimerFired{Timer: 1}}, "timer 1, which was never set"},
		"a message of a kind yet unknown": {[]event.Event{start}, event.Event{External: &event.External{Kind: "decree", Node: "a", Data: true}},
			`kind "decree", which this release does not know`},
		"an unknown outcome":             {[]event.Event{start}, event.Event{Seq: 2, AttemptFinished: &event.AttemptFinished{Ticket: 1, Outcome: "fine"}}, `event 2: unknown outcome "fine"`},
		"an unknown reason":              {[]event.Event{start}, answer(&event.Error{Kind: event.Fatal, Reason: "bad luck"}), `unknown error reason "bad luck"`},
		"an unknown kind of error":       {[]event.Event{start}, answer(&event.Error{Kind: "worse"}), `unknown error kind "worse"`},
		"an unknown reason of a child":   {[]event.Event{start}, event.Event{ChildFinished: &event.ChildFinished{Run: "c", Error: &event.Error{Reason: "x"}}}, `unknown error reason "x"`},
		"an event of a kind yet unknown": {[]event.Event{start}, event.Event{}, "does not know"},
	} {
		m := machine.New(shapeGraph(t, "chain", 2), expr.NewEvaluator(ir.NewestRules()), ir.NewestRules())
		var r event.Reaction
		for _, ev := range c.before {
			if err := m.Step(ev); err != nil {
				t.Fatal(err)
			}
			for m.Advance(1, &r) {
			}
		}
		if err := m.Step(c.ev); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func answer(err *event.Error) event.Event {
	return event.Event{AttemptFinished: &event.AttemptFinished{Ticket: 1, Outcome: event.Failed, Error: err}}
}
