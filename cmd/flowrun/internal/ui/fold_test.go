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

// manyShards is a run of n instances; each every-th one failed.
func manyShards(n, every int) *view.Run {
	r := view.New(&ir.Workflow{Name: "many", Nodes: []ir.Node{{Name: "shard", Kind: ir.Step, ForEach: &ir.Expr{}}}})
	ts := []event.Transition{{To: event.Running}, {Node: "shard", To: event.Running}}
	for i := range n {
		tr := event.Transition{Node: fmt.Sprintf("shard[%d]", i), Name: "shard", To: event.Succeeded, Attempt: 1, Result: &event.Result{Attempts: 1}}
		if i%every == 0 {
			tr.To, tr.Result = event.FailedS, &event.Result{Attempts: 1, ExitCode: 3, Stderr: fmt.Sprintf("noise\nbad shard %d\n", i),
				Error: &event.Error{Kind: event.Recoverable, Reason: event.ReasonExit, Message: "exit code 3", Node: fmt.Sprintf("shard[%d]", i)}}
		}
		ts = append(ts, tr)
	}
	failed := &event.Error{Kind: event.Recoverable, Reason: event.ReasonChild, Message: "some failed; first shard[0]", Node: "shard[0]"}
	ts = append(ts, event.Transition{Node: "shard", To: event.FailedS, Result: &event.Result{Error: failed}},
		event.Transition{To: event.FailedS, Result: &event.Result{Error: failed}})
	for i := range ts {
		ts[i].At = t0
	}
	started := event.Event{Seq: 1, At: t0, RunStarted: &event.RunStarted{Run: "abc", Workflow: "many"}}
	r.Apply([]event.Event{started}, &event.Reaction{Transitions: ts, Commands: []event.Command{{End: &event.End{Status: event.FailedS, Error: failed}}}})
	return r
}

// A fold of many nodes never hides a failure.
func TestFold(t *testing.T) {
	r := manyShards(2000, 400)
	page := func(which Shown) string {
		var b bytes.Buffer
		Show(NewTerm(&b, "never", none), r, nil, Scene{}, t0.Add(time.Hour), which)
		return b.String()
	}
	story := func() string {
		var b bytes.Buffer
		Story(NewTerm(&b, "never", none), r, r.Story("shard"), Scene{}, t0.Add(time.Hour), false)
		return b.String()
	}
	for name, text := range map[string]string{"show": page(Shown{}), "show STEP": story(), "show --failed": page(Shown{Failed: true})} {
		for i := 0; i < 2000; i += 400 {
			if want := fmt.Sprintf("✗ shard[%d]", i); !strings.Contains(text, want) || !strings.Contains(text, fmt.Sprintf("bad shard %d\n", i)) {
				t.Errorf("%s does not show %s:\n%s", name, want, text)
			}
		}
		if n := strings.Count(text, "\n"); n > 30 {
			t.Errorf("%s has %d lines:\n%s", name, n, text)
		}
	}
	if text := page(Shown{}); !strings.Contains(text, "… not shown: 1980 succeeded (--all)") ||
		!strings.Contains(text, "shard[0]: exit code 3: bad shard 0 (5 steps failed; also shard[400], shard[800], shard[1200], shard[1600])") {
		t.Errorf("the page says\n%s", text)
	}
	if n := strings.Count(page(Shown{All: true}), "\n"); n != 2002 {
		t.Errorf("--all shows %d lines", n)
	}
	if text := page(Shown{Failed: true, Step: "other"}); !strings.Contains(text, "No step failed.") {
		t.Errorf("of another step: %s", text)
	}
	r = manyShards(2000, 2)
	if text := page(Shown{}); strings.Count(text, "✗ shard[") != MaxFailuresShown || !strings.Contains(text, "not shown: 1000 succeeded, 900 failed") {
		t.Errorf("1,000 failures are shown as\n%s", text)
	}
	if text := page(Shown{Failed: true}); !strings.Contains(text, "not shown: 900 failures (--all)") {
		t.Errorf("1,000 failures are listed as\n%s", text)
	}
}

// Nodes that run are shown, however many are done.
func TestFoldShowsWhatRuns(t *testing.T) {
	list := make([]*view.Node, 500)
	for i := range list {
		list[i] = &view.Node{Path: fmt.Sprintf("a[%d]", i), Status: event.Succeeded}
	}
	list[3].Status = event.Running
	list[7].Children = []*view.Node{{Path: "a[7]/b", Status: event.Waiting}}
	shown, left := fold(list)
	if len(shown) != MaxParts || shown[0] != list[3] || shown[1] != list[7] || shown[2] != list[482] || left != "… not shown: 480 succeeded (--all)" {
		t.Errorf("%d are shown, the first is %s; %s", len(shown), shown[0].Path, left)
	}
}
