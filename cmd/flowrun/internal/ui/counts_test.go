package ui

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// A for_each of 60 instances, of which 29 have ended, one badly, one runs and 30 have not begun, has these counts in the live tree, in
// its last line, and on the page of the run.
func TestCounts(t *testing.T) {
	w := &ir.Workflow{Name: "many", Nodes: []ir.Node{{Name: "shard", Kind: ir.Step, ForEach: &ir.Expr{}}}}
	s := newStage(w, 100, 60, func(t *Term, s Scene) Progress { return NewTree(t, s) })
	ts := []event.Transition{{To: event.Running}, {Node: "shard", To: event.Running, Members: 60}}
	for i := range 30 {
		tr := event.Transition{Node: fmt.Sprintf("shard[%d]", i), Name: "shard", To: event.Succeeded, Attempt: 1, Result: &event.Result{Attempts: 1}}
		switch i {
		case 3:
			tr.To, tr.Result.Error = event.FailedS, &event.Error{Kind: event.Recoverable, Reason: event.ReasonExit, Message: "exit code 3"}
		case 29:
			tr.To, tr.Result = event.Running, nil
		}
		ts = append(ts, tr)
	}
	s.batch(0, event.Event{RunStarted: &event.RunStarted{Run: "abc", Workflow: "many"}}, nil, ts...)
	lines := s.p.(*Tree).lines(100, 60)
	if row := lines[0]; !strings.Contains(row, "shard") || !strings.Contains(row, "29 of 60") {
		t.Errorf("the row of the for_each is %q", row)
	}
	if last := lines[len(lines)-1]; !strings.Contains(last, "28 succeeded, 1 failed, 1 running, 30 pending") {
		t.Errorf("the last line is %q", last)
	}
	page := func(r *view.Run) string {
		var b bytes.Buffer
		Show(NewTerm(&b, "never", none), r, nil, Scene{}, t0.Add(time.Second), Shown{})
		return b.String()
	}
	if text := page(s.run); !strings.Contains(text, "29 of 60") || !strings.Contains(text, "not shown: ") {
		t.Errorf("the page of the run says\n%s", text)
	}
	s.at(time.Second, event.Transition{Node: "shard[29]", Name: "shard", To: event.Succeeded, Attempt: 1, Result: &event.Result{Attempts: 1}})
	if text := page(s.run); !strings.Contains(text, "30 of 60") {
		t.Errorf("after another end the page says\n%s", text)
	}
}
