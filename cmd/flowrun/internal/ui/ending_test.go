package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// What happens to nodes after their end is told: what is undone, what could not be, how much of a deadline has passed.
func TestNotes(t *testing.T) {
	w := &ir.Workflow{Name: "ship", Nodes: []ir.Node{{Name: "move", Kind: ir.Step}, {Name: "check", Kind: ir.Step}},
		Finally: &ir.Finally{Nodes: []ir.Node{{Name: "clean", Kind: ir.Step}}}}
	note := func(node string, s event.Status, n event.Note, reason string, res *event.Result) event.Transition {
		return event.Transition{Node: node, From: s, To: s, Note: n, Reason: reason, Attempt: 1, Result: res}
	}
	for name, make := range map[string]func(*Term, Scene) Progress{
		"notes_lines":  func(t *Term, s Scene) Progress { return NewLines(t, s) },
		"notes_tree":   func(t *Term, s Scene) Progress { return NewTree(t, s) },
		"notes_events": func(t *Term, s Scene) Progress { return NewEvents(t) },
	} {
		s := newStage(w, 80, 24, make)
		bad := &event.Error{Kind: event.Recoverable, Reason: event.ReasonExit, Message: "exit code 1", ExitCode: 1}
		s.batch(0, event.Event{RunStarted: &event.RunStarted{Run: "abc", Workflow: "ship"}}, nil,
			event.Transition{To: event.Running}, event.Transition{Node: "move", To: event.Running, Attempt: 1})
		s.at(time.Second, note("move", event.Running, event.Progress, "50% of its deadline has passed", nil))
		s.at(time.Second, note("move", event.Running, event.Warned, "degrade.output: no number", nil))
		s.at(2*time.Second, event.Transition{Node: "move", To: event.Succeeded, Result: &event.Result{Attempts: 1}},
			event.Transition{Node: "check", To: event.Running, Attempt: 1})
		s.at(3*time.Second, event.Transition{Node: "check", To: event.FailedS, Result: &event.Result{Attempts: 1, ExitCode: 1, Error: bad}},
			note("check", event.FailedS, event.Compensating, "", nil))
		s.at(4*time.Second, note("check", event.FailedS, event.NotCompensated, "exit code 1",
			&event.Result{ExitCode: 1, Error: bad, Stderr: "no way back\n"}), note("move", event.Succeeded, event.Compensating, "", nil))
		s.at(5*time.Second, note("move", event.Succeeded, event.Compensated, "", &event.Result{}),
			event.Transition{Node: "clean", To: event.Running, Attempt: 1})
		s.batch(6*time.Second, event.Event{}, &event.End{Status: event.FailedS},
			event.Transition{Node: "clean", To: event.Succeeded, Result: &event.Result{Attempts: 1}}, event.Transition{To: event.FailedS})
		s.p.Close(t0.Add(6 * time.Second).Go())
		golden(t, name, strings.ReplaceAll(s.out.String(), "\x1b", "^"))
	}
}
