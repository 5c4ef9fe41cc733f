package view

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// A story says of each attempt what it was asked to do. Long parts are cut, what is computed from secrets is named and not shown, and
// requests of many attempts are forgotten.
func TestRequests(t *testing.T) {
	r := New(&ir.Workflow{Name: "w", Nodes: []ir.Node{{Name: "a", Kind: ir.Step}, {Name: "b", Kind: ir.Step}}})
	r.Apply(nil, &event.Reaction{Transitions: []event.Transition{{Node: "a", Name: "a", Kind: "step", To: event.Running}}})
	s := r.Story("a")
	start := func(a event.Attempt) {
		s.Apply(event.Event{}, &event.Reaction{Commands: []event.Command{{Start: &a}}})
	}
	long := strings.Repeat("x", MaxAsked+1)
	start(event.Attempt{Ticket: 1, Node: "a", Attempt: 1, Agent: &event.AgentRequest{Name: "sam", Task: "Build it.", With: map[string]any{"n": 1.0}, Feedback: long}})
	start(event.Attempt{Ticket: 2, Node: "b", Attempt: 1, Script: "not of a"})
	start(event.Attempt{Ticket: 3, Node: "a", Attempt: 2, Argv: []string{"make", "all"}, Values: []string{"v", long}, Late: []event.Late{{What: "stdin"}, {What: "stdin"}}})
	s.Apply(event.Event{AttemptFinished: &event.AttemptFinished{Ticket: 1, Node: "a", Attempt: 1, Outcome: event.OK, Learned: []event.Learned{{Lesson: "Read first."}}}}, &event.Reaction{})
	d := s.With([]*Begun{{Ticket: 3, Node: "a", Attempt: 2}}).Document()
	first, err := json.Marshal(d.Tries[0].Request)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"kind":"","agent":"sam","task":"Build it.","with":{"n":1},"feedback":"` + long[:MaxAsked] + `","cut":["feedback"]}`; string(first) != want {
		t.Errorf("the request of the first attempt is %s", first)
	}
	if l := d.Tries[0].Learned; len(l) != 1 || l[0].Lesson != "Read first." {
		t.Errorf("it learned %v", l)
	}
	second, err := json.Marshal(d.Tries[1].Request)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"kind":"","command":"make all","hidden":["stdin"],"cut":["values"]}`; string(second) != want {
		t.Errorf("the request of the second attempt is %s", second)
	}
	for i := range 3 * MaxTries {
		start(event.Attempt{Ticket: uint64(10 + i), Node: "a", Attempt: i})
	}
	if len(s.asked) > 2*MaxTries || s.asked[uint64(9+3*MaxTries)] == nil {
		t.Errorf("%d requests are kept", len(s.asked))
	}
}
