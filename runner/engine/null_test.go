package engine

import (
	"reflect"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

func TestAnswerNull(t *testing.T) {
	given := event.Attempt{Kind: event.NullAgentAttempt, Ticket: 7, Node: "n[1]", Attempt: 2, Gate: "g", Compensate: true, Agent: &event.AgentRequest{With: []any{"x"}}}
	want := event.AttemptFinished{Ticket: 7, Node: "n[1]", Attempt: 2, Gate: "g", Compensate: true, StartedAt: 5, Outcome: event.OK, Output: []any{"x"}}
	if f, ok := AnswerNull(&given, 5); !ok || !reflect.DeepEqual(f, want) {
		t.Errorf("the answer is %+v, %v; want %+v", f, ok, want)
	}
	for name, change := range map[string]func(*event.Attempt){
		"another agent": func(a *event.Attempt) { a.Kind = event.ExecAgentAttempt },
		"a program":     func(a *event.Attempt) { a.Agent, a.Kind = nil, event.RunAttempt },
		"a late part":   func(a *event.Attempt) { a.Late = []event.Late{{}} },
		"an admission":  func(a *event.Attempt) { a.Admission = &event.Admission{} },
		"a memory":      func(a *event.Attempt) { a.Agent = &event.AgentRequest{Memory: &event.MemoryUse{}} },
	} {
		a := given
		change(&a)
		if _, ok := AnswerNull(&a, 5); ok {
			t.Errorf("%s: the attempt needs nothing else", name)
		}
	}
}
