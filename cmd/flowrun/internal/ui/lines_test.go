package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// A run that moves fast is not written line by line; what stands alone, a failure and the end are there at once.
func TestLinesAreWrittenTogether(t *testing.T) {
	s := newStage(shipWorkflow, 80, 24, func(t *Term, s Scene) Progress { return NewLines(t, s) })
	show := func(after time.Duration, tr event.Transition) {
		tr.At = t0.Add(after)
		s.p.Update(s.run, s.run.Apply(nil, &event.Reaction{Transitions: []event.Transition{tr}}), false)
	}
	written := func(what string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(s.out.String(), w) {
				t.Errorf("%s: %q is not written: %q", what, w, s.out)
			}
		}
		if len(want) == 0 && s.out.Len() > 0 {
			t.Errorf("%s: %q is written", what, s.out)
		}
		s.out.Reset()
	}
	show(0, event.Transition{Node: "design", To: event.Running})
	written("the first", "design: running")
	show(HeldTime-1, event.Transition{Node: "design", To: event.Succeeded})
	written("soon after it")
	s.tick(HeldTime)
	written("a tick", "design: succeeded")
	show(HeldTime, event.Transition{Node: "a", To: event.Running})
	written("what comes HeldTime after the last", "a: running")
	show(HeldTime, event.Transition{Node: "b", To: event.Running})
	show(HeldTime, event.Transition{Node: "a", To: event.FailedS, Result: &event.Result{ExitCode: 1}})
	written("a failure", "b: running\n", "a: failed")
	show(HeldTime, event.Transition{Node: "b", To: event.Succeeded})
	s.p.Say("a word")
	written("a word", "b: succeeded\na word\n")
	show(HeldTime, event.Transition{Node: "c", To: event.Running})
	s.p.Close(t0.Go())
	written("the end of it", "c: running")
	for range HeldBytes / 8 {
		show(HeldTime, event.Transition{Node: "c", To: event.Waiting})
	}
	if n := s.out.Len(); n < HeldBytes/2 {
		t.Errorf("of more than %d bytes %d are written", HeldBytes, n)
	}
}
