package ui

import (
	"bytes"
	"strings"
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

// On a narrow terminal the reasons of a run and of its nodes are broken at blanks.
func TestShowIsBroken(t *testing.T) {
	s := newStage(shipWorkflow, 80, 24, func(t *Term, s Scene) Progress { return NewEvents(t) })
	s.play()
	s.out.Reset()
	s.term.UTC, s.term.Live, s.term.size = true, true, func() (int, int) { return 50, 24 }
	Show(s.term, s.run, nil, Scene{}, t0.Add(time.Hour), Shown{})
	for line := range strings.SplitSeq(s.out.String(), "\n") {
		if line = unstyled(line); Cells(line) > 50 && len(strings.Fields(line)) > 1 {
			t.Errorf("%d cells: %s", Cells(line), line)
		}
	}
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
