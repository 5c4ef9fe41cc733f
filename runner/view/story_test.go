package view

import (
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// A story keeps the last tries and counts the first; it names what a node waits for where that stands nearest, and what waits for it.
func TestStory(t *testing.T) {
	w := &ir.Workflow{Name: "w", Nodes: []ir.Node{
		{Name: "s", Kind: ir.Sequence, ForEach: ir.Lit([]any{1.0}, ir.Expr{}.Type), Children: []ir.Node{
			{Name: "a", Kind: ir.Step}, {Name: "b", Kind: ir.Step}, {Name: "c", Kind: ir.Step, Needs: []string{"a", "far"}}}},
		{Name: "far", Kind: ir.Step},
	}}
	r := New(w)
	re := &event.Reaction{}
	for _, key := range []string{"0", "1"} {
		for _, name := range []string{"a", "b", "c"} {
			re.Transitions = append(re.Transitions, event.Transition{Node: fmt.Sprintf("s[%s]/%s", key, name), Name: name, Kind: "step", To: event.Running})
		}
	}
	re.Transitions = append(re.Transitions, event.Transition{Node: "s[1]/a", Name: "a", To: event.Succeeded})
	r.Apply(nil, re)
	s := r.Story("s[1]/c")
	if have, want := fmt.Sprint(s.Awaits()), "[{a s[1]/a succeeded} {far far pending} {b s[1]/b running}]"; have != want {
		t.Errorf("it waits for %s\nwant %s", have, want)
	}
	if have := fmt.Sprint(r.Story("s[1]/a").Dependents(), r.Story("far").Dependents(), r.Story("s[0]/c").Dependents()); have != "[c b] [c] []" {
		t.Errorf("it is needed by %s", have)
	}
	for i := range MaxTries + 5 {
		s.Apply(event.Event{At: event.Time(i), AttemptFinished: &event.AttemptFinished{Node: "s[1]/c", Attempt: i + 1, Outcome: event.Failed}},
			&event.Reaction{Transitions: []event.Transition{{Node: "s[1]/c", Attempt: i + 1, Gate: &event.Verdict{Gate: "g"}}}})
	}
	s.Apply(event.Event{AttemptFinished: &event.AttemptFinished{Node: "s[1]/c", Attempt: 1}}, &event.Reaction{})
	d := s.Document()
	if len(d.Tries) != MaxTries || d.Left != 6 || len(d.Gates) != MaxTries || d.Tries[0].Attempt != 7 || !d.Tries[MaxTries-1].Dropped {
		t.Errorf("%d tries, %d left out, %d verdicts, the first is %+v", len(d.Tries), d.Left, len(d.Gates), d.Tries[0])
	}
}
