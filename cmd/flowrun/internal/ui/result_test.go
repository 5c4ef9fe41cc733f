package ui

import (
	"bytes"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

func TestOutputs(t *testing.T) {
	var b bytes.Buffer
	Outputs(NewTerm(&b, "auto", none), map[string]any{"z": "plain text", "a": 3.5, "list": []any{"x", nil}, "two": "a\nb", "evil": "\x1b[2J\u202e", "none": nil})
	want := "a = 3.5\nevil = \"\\u001b[2J\\u{202e}\"\nlist = [\"x\",null]\nnone = null\ntwo = \"a\\nb\"\nz = plain text\n"
	if b.String() != want {
		t.Errorf("have\n%swant\n%s", b.String(), want)
	}
}

func TestShow(t *testing.T) {
	s := newStage(shipWorkflow, 80, 24, func(t *Term, s Scene) Progress { return NewEvents(t) })
	s.play()
	s.out.Reset()
	s.term.UTC = true
	Show(s.term, s.run, nil, Scene{}, t0.Add(time.Hour), Shown{})
	golden(t, "show", s.out.String())
}

func TestList(t *testing.T) {
	var b bytes.Buffer
	term := NewTerm(&b, "auto", none)
	term.UTC = true
	runs := []Listed{
		{Run: "abcdefghijkl", Workflow: "release", Status: event.Running, StartedAt: view.Moment(t0), Driven: true, Driver: 7,
			Begun: []*view.Begun{{Node: "build", StartedAt: t0.Add(time.Second), Process: 4242, Stdout: "one\ntwo\x1b[2J\n"}, {}, {}}},
		{Run: "abcdefghijkm", Workflow: "release", Status: event.Waiting, StartedAt: view.Moment(t0), Stands: t0.Add(7 * time.Second)},
		{Run: "mnopqrstuvwx", Workflow: "日本", Status: event.Succeeded, StartedAt: view.Moment(t0), FinishedAt: view.Moment(t0.Add(time.Second))},
		NewListed(&engine.Info{Run: "mnopqrstuvwy", Workflow: "release", Status: event.FailedS, Created: t0, Ended: t0.Add(time.Second),
			Summary: engine.Summary{Error: &event.Error{Node: "build", Message: "exit code 2"}}}),
	}
	List(term, runs, t0.Add(time.Minute), " --store x", false)
	List(term, runs, 0, "", true)
	List(term, nil, 0, "", true)
	golden(t, "list", b.String())
}
