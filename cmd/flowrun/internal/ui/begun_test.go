package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// begin plays a run up to where a step runs and another one waits.
func (s *stage) begin() {
	s.batch(0, event.Event{RunStarted: &event.RunStarted{Run: "abc", Workflow: "ship"}}, nil,
		event.Transition{To: event.Running},
		event.Transition{Node: "design", To: event.Running, Attempt: 1},
		event.Transition{Node: "release", To: event.Waiting, Reason: "it waits"})
	s.run.Node("release").Due = t0.Add(100 * time.Second)
}

// The tree of a run that nobody drives says so; its clock stands, its spinner too, and what waits goes by real time.
func TestTreeOfAnInterruptedRun(t *testing.T) {
	s := newStage(shipWorkflow, 80, 24, func(t *Term, s Scene) Progress { return NewTree(t, s) })
	s.begin()
	s.run.Stands = t0.Add(5 * time.Second)
	for _, now := range []time.Duration{40 * time.Second, 60 * time.Second} {
		s.out.Reset()
		s.tick(now)
		have := s.out.String()
		for _, want := range []string{"‖ design     5.0s  interrupted", "abc: interrupted, ", ", 5.0s", " to go)"} {
			if !strings.Contains(have, want) {
				t.Errorf("after %v, there is no %q in\n%s", now, want, have)
			}
		}
		if left := Seconds(100*time.Second - now); !strings.Contains(have, left) {
			t.Errorf("the wait has not %s left in\n%s", left, have)
		}
	}
	s.run.Stands = 0
	s.out.Reset()
	s.tick(70 * time.Second)
	if have := s.out.String(); strings.Contains(have, "interrupted") || !strings.Contains(have, "1m10s") {
		t.Errorf("once it is driven again:\n%s", have)
	}
}

// Where there is no tree, nothing is said to be still running while nobody drives the run; otherwise, what is known of it from outside.
func TestLinesOfAnInterruptedRun(t *testing.T) {
	s := newStage(shipWorkflow, 80, 24, func(t *Term, s Scene) Progress { return NewLines(t, s) })
	s.begin()
	s.tick(time.Second)
	s.out.Reset()
	s.run.Stands = t0.Add(5 * time.Second)
	s.tick(40 * time.Second)
	if s.out.Len() > 0 {
		t.Errorf("it says %q", s.out.String())
	}
	s.run.Stands = 0
	s.p.Work(&view.Begun{Node: "design", Attempt: 1, Process: 42, Stdout: "one\ntwo\x1b[2J\n"})
	s.tick(41 * time.Second)
	if have, want := s.out.String(), "design: still running after 41.0s (process 42): two\\x1b[2J\n"; have != want {
		t.Errorf("it says %q, want %q", have, want)
	}
}
