package view

import (
	"slices"

	"github.com/flowrun/flowrun/runner/event"
)

// Apply takes in one batch and returns what it showed, a line per change. Lines are numbered from 1 over the whole run,
// so a replay gives the same numbers. The lines share nothing with later calls.
func (r *Run) Apply(events []event.Event, reaction *event.Reaction) []Line {
	return r.ApplyTo(nil, events, reaction)
}

// ApplyTo is Apply that takes the memory of lines which nobody reads any more.
func (r *Run) ApplyTo(lines []Line, events []event.Event, reaction *event.Reaction) []Line {
	lines = slices.Grow(lines[:0], len(reaction.Transitions)+1) // events seldom are lines of their own
	for i := range events {
		r.work.takeEvent(&events[i])
		if l := r.event(&events[i]); l != nil {
			lines = append(lines, *l)
		}
	}
	timers := timersOf(reaction)
	for i := range reaction.Transitions {
		lines = append(lines, Line{})
		r.transition(&lines[len(lines)-1], &reaction.Transitions[i], timers)
	}
	for i := range reaction.Commands {
		r.work.takeCommand(&reaction.Commands[i])
		switch c := &reaction.Commands[i]; {
		case c.StartChild != nil:
			r.waitForChild(c.StartChild.Node, c.StartChild.Run)
		case c.SetTimer != nil && goesOn[c.SetTimer.Purpose] && r.byPath[c.SetTimer.Node] != nil:
			r.byPath[c.SetTimer.Node].Due = c.SetTimer.Due
		case c.End != nil:
			r.end(c.End, lines)
		}
	}
	if r.settle(); r.Status == event.Waiting {
		for i := range lines {
			lines[i].RunWaits = lines[i].Node != "" && lines[i].Status == event.Waiting
		}
	}
	return lines
}

func (r *Run) event(ev *event.Event) *Line {
	r.Last = ev.At
	switch {
	case ev.RunStarted != nil:
		r.ID, r.Workflow, r.Inputs = ev.RunStarted.Run, ev.RunStarted.Workflow, ev.RunStarted.Inputs
		r.Parent, r.ParentNode = ev.RunStarted.Parent, ev.RunStarted.ParentNode
		r.RetryOf, r.Targets = ev.RunStarted.RetryOf, ev.RunStarted.Targets
		if c := ev.RunStarted.Cause; c != nil && c.Kind != "" {
			r.Cause = c
		}
		if r.StartedAt == 0 {
			r.StartedAt = ev.At
		}
	case ev.DriverChanged != nil:
		r.Resumes++
		reason := "the process that ran it stopped"
		if ev.DriverChanged.Lost {
			reason = "the process that ran it died"
		}
		l := r.line(Resumed, ev.At)
		l.Reason = reason
		return l
	case ev.ChildFinished != nil:
		r.waitForChild(ev.ChildFinished.Node, "")
	case ev.External != nil && ev.External.Kind == event.ExternalCancel:
		l := r.line(CancelAsked, ev.At)
		l.Reason = ev.External.Reason
		return l
	case ev.External != nil && ev.External.Kind == event.ExternalCancelNode:
		l := r.line(NodeCancelAsked, ev.At)
		l.Node, l.Reason = ev.External.Node, event.NodeCancelOf(ev.External).Words("it")
		if n := r.byPath[l.Node]; n != nil {
			l.Name, l.Item, l.Status, l.Leaf = n.Name, n.Item, n.Status, len(n.Children) == 0
		}
		return l
	}
	return nil
}

// transition takes in a transition. timers are what the nodes wait for whose timers were set with it.
func (r *Run) transition(l *Line, t *event.Transition, timers map[string]*event.WaitsFor) {
	r.begin(l, typeOf(t), t.At)
	if c := t.Change(); c != nil && len(r.Changes) < MaxChanges {
		r.Changes = append(r.Changes, Change{At: t.At, Node: t.Node, Reason: t.Reason, Change: *c})
	}
	if t.Node == "" {
		r.runTransition(l, t)
		return
	}
	n := r.byPath[t.Node]
	if n == nil {
		n = r.add(t.Node, t.Name, t.Kind)
		if n.Name == "" {
			n.Name = Base(t.Node)
		}
	} else if n.Kind == "" { // a node below it was shown first
		n.Kind = t.Kind
	}
	if p := n.Parent; p.holds(event.Pending) {
		p.Status, p.StartedAt, p.text = event.Running, t.At, nil
	}
	if n.text = nil; t.Item != "" {
		n.Item = t.Item
	}
	l.Item = n.Item
	l.Node, l.Name, l.Reason, l.Gate, l.Note, l.Result = t.Node, n.Name, t.Reason, t.Gate, t.Note, t.Result
	if t.To == event.Blocked && t.Note == "" && t.Gate == nil {
		l.Reason = r.explainBlocked(n, t.Reason)
	}
	l.Level = t.Level
	switch {
	case t.Gate != nil:
		n.Gates = append(n.Gates, *t.Gate)
	case t.Note != "":
		n.note(t)
	case t.To != "":
		r.move(n, t)
		n.Reason = l.Reason
		if n.WaitsFor == nil && t.To == event.Waiting {
			n.WaitsFor = timers[t.Node]
		}
		l.WaitsFor = n.WaitsFor
	}
	l.Status, l.Attempt, l.Duration, l.Leaf = n.Status, n.Attempt, n.Duration(t.At), len(n.Children) == 0
	l.Tells, l.Child = n.tells(), n.Child
}

// goesOn says of each timer whether a node goes on when the timer fires.
var goesOn = map[event.TimerPurpose]bool{event.TimerBackoff: true, event.TimerWait: true, event.TimerRepeat: true, event.TimerRefused: true,
	event.TimerTimeout: false, event.TimerDeadline: false, event.TimerProgress: false, event.TimerFinally: false, event.TimerAdapt: false, event.TimerIdle: false, event.TimerHeartbeat: false}

// MaxWarnings bounds what is kept of the warnings of one node, and of the run itself; each is a line of its own when it comes.
const MaxWarnings = 8

// MaxChanges bounds what is kept of the changes by rules of adapt; each is a line of its own when it comes.
const MaxChanges = 1000

// Change is what a rule of adapt has changed.
type Change struct {
	At     event.Time
	Node   string // the path of the group; "" for the run
	Reason string // in words
	event.Change
}

func addWarning(list []string, words string) []string {
	if len(list) < MaxWarnings && !slices.Contains(list, words) {
		list = append(list, words)
	}
	return list
}

// note takes in what happened to a node whose status stayed as it was.
func (n *Node) note(t *event.Transition) {
	switch t.Note {
	case event.Progress, event.Escalated, event.Adapted, event.Answered:
	case event.Warned:
		n.Warnings = addWarning(n.Warnings, t.Reason)
	default:
		n.Compensation = &Compensation{Status: t.Note, Result: t.Result}
	}
}

// move changes a node's status and what follows from it.
func (r *Run) move(n *Node, t *event.Transition) {
	if len(n.Children) == 0 {
		r.Leaves[n.Status]--
		r.Leaves[t.To]++
	}
	if t.Members > n.Members {
		n.Members = t.Members
	}
	if t.Attempt > n.Attempt {
		n.Attempt, n.Gates = t.Attempt, nil
	}
	n.Status, n.Since, n.Reason, n.Due, n.WaitsFor = t.To, t.At, t.Reason, 0, t.WaitsFor
	if t.Kind != "" {
		n.Kind = t.Kind
	}
	if n.StartedAt == 0 && (t.To == event.Running || t.To == event.Waiting) {
		n.StartedAt = t.At
	}
	if t.To.Terminal() {
		n.FinishedAt = t.At
	}
	if t.Result == nil {
		return
	}
	n.Result = t.Result
	n.Attempt = max(n.Attempt, t.Result.Attempts)
	if t.Result.StartedAt != 0 {
		n.StartedAt = t.Result.StartedAt
	}
	if t.To.Terminal() && t.Result.FinishedAt != 0 {
		n.FinishedAt = t.Result.FinishedAt
	}
}

func (r *Run) runTransition(l *Line, t *event.Transition) {
	if t.Note != "" {
		if t.Note == event.Warned {
			r.Warnings = addWarning(r.Warnings, t.Reason)
		}
		l.Reason, l.Note, l.Result, l.Duration = t.Reason, t.Note, t.Result, r.Duration(t.At)
		return
	}
	r.Status, r.Reason, r.WaitsFor = t.To, t.Reason, t.WaitsFor
	if t.To.Terminal() {
		r.FinishedAt = t.At
		for _, n := range r.Roots {
			if n.holds(event.Running) {
				n.Status, n.FinishedAt, n.text = t.To, t.At, nil
			}
		}
		if t.Result != nil {
			r.Error = t.Result.Error
		}
	}
	l.WaitsFor = t.WaitsFor
	l.Status, l.Reason, l.Result, l.Duration = t.To, t.Reason, t.Result, r.Duration(t.At)
}

// end takes over the outputs and gives them to the line that told the end, which stands in the same batch.
func (r *Run) end(end *event.End, lines []Line) {
	r.Status, r.Outputs, r.Error, r.Limit, r.Usage = end.Status, end.Outputs, end.Error, end.Limit, end.Usage
	if r.FinishedAt == 0 {
		r.FinishedAt = r.Last
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].Node == "" && lines[i].Status.Terminal() {
			lines[i].End = end
			if end.Status == event.FailedS {
				lines[i].Failures, lines[i].Failed = r.Failures(MaxFailures)
			}
			return
		}
	}
}
