package view

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// A blocked node names the node that failed, and not only its blocked neighbour.
func TestBlockedNamesTheCause(t *testing.T) {
	r := New(&ir.Workflow{Name: "w", Nodes: []ir.Node{
		{Name: "load", Kind: ir.Step, ForEach: &ir.Expr{}},
		{Name: "report", Kind: ir.Step, Needs: []string{"load"}},
		{Name: "ship", Kind: ir.Sequence, Needs: []string{"report"}, Children: []ir.Node{
			{Name: "pack", Kind: ir.Step},
			{Name: "send", Kind: ir.Step},
		}},
	}})
	exit := &event.Result{ExitCode: 1, Stderr: "no route\n", Error: &event.Error{Kind: event.Recoverable, Reason: event.ReasonExit, Message: "exit code 1"}}
	child := &event.Result{Error: &event.Error{Kind: event.Recoverable, Reason: event.ReasonChild, Message: "1 failed"}}
	blocked := func(path, needs string) event.Transition {
		return event.Transition{Node: path, To: event.Blocked, Reason: `it needs "` + needs + `", which is blocked`}
	}
	lines := r.Apply([]event.Event{{Seq: 1, RunStarted: &event.RunStarted{Run: "abc", Workflow: "w"}}}, &event.Reaction{Transitions: []event.Transition{
		{To: event.Running}, {Node: "load", To: event.Running}, {Node: "load[3]", Name: "load", To: event.FailedS, Result: exit},
		{Node: "load", To: event.FailedS, Result: child},
		{Node: "report", To: event.Blocked, Reason: `it needs "load", which failed`},
		blocked("ship", "report"), blocked("ship/pack", "ship"), blocked("ship/send", "pack"), {To: event.FailedS},
	}, Commands: []event.Command{{End: &event.End{Status: event.FailedS}}}})
	for path, want := range map[string]string{
		"report":    `it needs "load", which failed`,
		"ship":      `it needs "report", which is blocked because "load[3]" failed`,
		"ship/pack": `it needs "ship", which is blocked because "load[3]" failed`,
		"ship/send": `it needs "pack", which is blocked because "load[3]" failed`,
	} {
		if n := r.Node(path); r.Why(n) != want {
			t.Errorf("%s: %s", path, r.Why(n))
		}
	}
	last := lines[len(lines)-1]
	if last.Failed != 1 || last.Failures[0] != (Failure{"load[3]", "", "exit code 1", "no route"}) {
		t.Errorf("the last line has %d failures, %v", last.Failed, last.Failures)
	}
	if l := lines[5]; l.Node != "ship" || l.Reason != r.Why(r.Node("ship")) {
		t.Errorf("the line of ship says %q", l.Reason)
	}
}
