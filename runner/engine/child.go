package engine

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
)

// MaxDepth is how many runs can be above a child. The check
// refuses circles of calls; MaxDepth limits chains without a circle.
const MaxDepth = limits.MaxCallDepth

// Child is the start of the run that a parent asks for: of the parent's program, with its variables, folder, environment and
// bound on attempts at once.
func Child(parent Start, c event.StartChild) Start {
	s := parent
	s.Header.Run, s.Header.Workflow, s.Header.Created = c.Run, c.Workflow, 0
	s.First.Run, s.First.Workflow, s.First.Inputs, s.First.Late = c.Run, c.Workflow, c.Inputs, c.Late
	s.First.Secrets = Variables(s.First.Secrets)
	s.First.Targets, s.First.Reused, s.First.Results, s.First.RetryOf = nil, nil, nil, "" // which are the parent's nodes and run
	s.First.ExpectedUS, s.First.ExpectedTimes = nil, nil
	s.First.Parent, s.First.ParentNode, s.First.Depth = parent.Header.Run, c.Node, parent.First.Depth+1
	s.First.Loop, s.First.Traceparent = nil, ""
	s.First.Held = c.Held
	if c.Dir != "" {
		s.First.Program, s.First.Dir = cmp.Or(s.First.Program, s.First.Dir), c.Dir
	}
	s.First.Budget, s.First.Asks = c.Budget, c.Asks
	if s.First.Cause = c.Cause; c.Cause == nil {
		s.First.Cause = event.CallCause(&parent.First)
	}
	return s
}

// Variables returns those of the secrets of a run that are of variables, and not of inputs.
func Variables(secrets map[string]event.Secret) map[string]event.Secret {
	out := maps.Clone(secrets)
	maps.DeleteFunc(out, func(name string, _ event.Secret) bool { return !strings.HasPrefix(name, "var.") })
	return out
}

// Finished returns the event that tells a parent the end of a child.
func Finished(c event.StartChild, end event.End) event.ChildFinished {
	return event.ChildFinished{Run: c.Run, Node: c.Node, Status: end.Status, Outputs: end.Outputs, Error: end.Error, Usage: end.Usage}
}

// TooDeep answers for a child that would have more than [MaxDepth] runs above it; nil if it has not.
func TooDeep(parent event.RunStarted, c event.StartChild) *event.ChildFinished {
	if parent.Depth < MaxDepth {
		return nil
	}
	message := fmt.Sprintf("calls nest at most %d deep, and this is one more", MaxDepth)
	return &event.ChildFinished{Run: c.Run, Node: c.Node, Status: event.FailedS,
		Error: &event.Error{Kind: event.Fatal, Reason: event.ReasonLimit, Message: message, ExitCode: -1}}
}

// Unmade answers for a child that is not wanted any more and has not been made.
func Unmade(c event.StartChild) event.ChildFinished {
	return event.ChildFinished{Run: c.Run, Node: c.Node, Status: event.Cancelled, Error: beforeItStarted()}
}

// Wish is how often a child shall have been cancelled: not, once, or twice, which is at once.
type Wish struct {
	Cancels int
	Reason  string
}

// Add takes a command in. It reports whether that asks for more than before.
func (w *Wish) Add(c event.CancelChild) bool {
	n := 1
	if c.Now {
		n = 2
	}
	if n <= w.Cancels {
		return false
	}
	w.Cancels, w.Reason = n, c.Reason
	return true
}

// Wishes gathers what commands ask of children, by run, so that one that the same commands start and cancel is not begun.
func Wishes(commands []event.Command) map[string]Wish {
	var wishes map[string]Wish
	for _, c := range commands {
		if c.CancelChild == nil {
			continue
		}
		if wishes == nil {
			wishes = map[string]Wish{}
		}
		w := wishes[c.CancelChild.Run]
		w.Add(*c.CancelChild)
		wishes[c.CancelChild.Run] = w
	}
	return wishes
}

// Successor is the start of the run of a loop that goes on where another one has ended, with the same program and surroundings; ok is false
// if no run does so at once.
func Successor(ended Start, end *event.End) (next Start, ok bool) {
	if end.Loop == nil || !end.Loop.GoesOn {
		return next, false
	}
	next = ended
	loop := end.Loop.Next
	next.Header.Run, next.Header.Created = event.LoopRun(ended.Header.Workflow, loop.Number), 0
	next.First.Run, next.First.Loop = next.Header.Run, &loop
	return next, true
}
