package ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// entryJSON is an Entry as programs read it. Its fields are an interface: they are added, never renamed.
type entryJSON struct {
	V       int         `json:"v"`
	Seq     uint64      `json:"seq"`
	Time    view.Moment `json:"time"`
	Type    string      `json:"type"`
	Run     string      `json:"run"`
	Node    string      `json:"node,omitempty"`
	Dropped bool        `json:"dropped,omitempty"`
	// Event is the event as the journal has it. Caused is missing where that is not known.
	Event  event.Event  `json:"event"`
	Caused *[]eventJSON `json:"caused,omitempty"`
}

// EntryJSON writes an entry for a program, as a line of JSON.
func EntryJSON(t *Term, e *view.Entry) {
	j := entryJSON{V: EventVersion, Seq: e.Event.Seq, Time: view.Moment(e.Event.At), Type: e.Event.Kind(), Run: e.Run,
		Node: e.Event.Node(), Dropped: e.Dropped, Event: e.Event}
	if e.Known {
		caused := make([]eventJSON, len(e.Caused))
		for i := range e.Caused {
			caused[i] = eventOf(&e.Caused[i])
		}
		j.Caused = &caused
	}
	_ = WriteJSON(t, j)
}

// EntryLines writes an entry for a person: a line for the event, and one, indented, for each thing that it caused.
func EntryLines(t *Term, e *view.Entry) {
	var b strings.Builder
	note := ""
	if e.Dropped {
		note = "  " + t.Style(yellow, "dropped"+because(dropped(&e.Event)))
	}
	fmt.Fprintf(&b, "%5d  %s  %8s  %s  %s%s\n", e.Event.Seq, e.Event.At, "+"+Duration(e.Event.At.Sub(e.Started)),
		t.Style(bold, fmt.Sprintf("%-16s", e.Event.Kind())), told(e), note)
	for i := range e.Caused {
		fmt.Fprintf(&b, "%9s%s\n", "", sentence(t, &e.Caused[i]))
	}
	for i := range e.Asked {
		if ask := asks(&e.Asked[i]); ask != "" {
			fmt.Fprintf(&b, "%9s%s\n", "", t.Style(dim, "→ "+ask))
		}
	}
	t.Printf("%s", b.String())
}

// dropped says why an event of a kind can change nothing.
func dropped(ev *event.Event) string {
	switch {
	case ev.AttemptFinished != nil, ev.ChildFinished != nil:
		return "it came late or twice"
	case ev.TimerFired != nil:
		return "its node has moved on"
	}
	return "it came too late"
}

// told says what an event is about.
func told(e *view.Entry) string {
	ev := &e.Event
	switch {
	case ev.RunStarted != nil:
		return begun(ev.RunStarted)
	case ev.AttemptFinished != nil:
		return finished(ev.AttemptFinished, ev.At)
	case ev.TimerFired != nil:
		text := fmt.Sprintf("timer %d", ev.TimerFired.Timer)
		if ev.TimerFired.Node != "" {
			text += " of " + Clean(ev.TimerFired.Node)
		}
		return text + because(e.Why)
	case ev.External != nil:
		text := Clean(string(ev.External.Kind))
		if ev.External.Node != "" {
			text += " for " + Clean(ev.External.Node)
		}
		if ev.External.Kind == event.ExternalCancelNode {
			return Clean(event.NodeCancelOf(ev.External).Words(ev.External.Node))
		}
		if _, session := event.SessionOf(ev.External); ev.External.Kind == event.ExternalSession {
			return Clean("the agent of " + ev.External.Node + " works in its session " + session)
		}
		if d, err := event.DecisionOf(ev.External.Data); err == nil && ev.External.Kind == event.ExternalDecision {
			text = Clean(d.By + " " + d.Word.Past() + " " + ev.External.Node)
			return text + because(d.Comment)
		}
		return text + because(ev.External.Reason)
	case ev.ChildFinished != nil:
		return Called(ev.ChildFinished)
	case ev.DriverChanged != nil:
		text := fmt.Sprintf("driver %d", ev.DriverChanged.Driver)
		if ev.DriverChanged.Lost {
			text += ", running attempts are lost"
		}
		text += differ(ev.DriverChanged.Secrets)
		return text + because(ev.DriverChanged.Why)
	}
	return ""
}

// differ names the secrets that have another value than before.
func differ(secrets map[string]event.Secret) (text string) {
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		if secrets[name].Differs {
			text += ", another value of " + Clean(name)
		}
	}
	return text
}

// sets counts the nodes whose results a person gave.
func sets(s *event.RunStarted) (n int) {
	for _, k := range s.Reused { // any order: it counts
		if k.Set {
			n++
		}
	}
	return n
}

func begun(s *event.RunStarted) string {
	text := Clean(s.Workflow)
	if s.Parent != "" {
		text += ", called by " + Clean(s.ParentNode) + " of run " + Clean(s.Parent)
	}
	if s.Cause != nil && s.Cause.Kind != "" {
		text += ", started by " + Clean(s.Cause.String())
	}
	if s.RetryOf != "" {
		text += fmt.Sprintf(", repeats run %s and reuses %s", Clean(s.RetryOf), Count(len(s.Reused)-sets(s), "result"))
	}
	for _, path := range slices.Sorted(maps.Keys(s.Reused)) {
		if k := s.Reused[path]; k.Set {
			text += ", " + Clean(path) + " set by " + Clean(k.By) + ": " + oneLine(k.Output)
		}
	}
	text += differ(s.Secrets)
	for _, k := range value.Keys(s.Inputs) {
		text += ", " + Clean(k) + " = " + oneLine(s.Inputs[k])
	}
	return Truncate(text, MaxReason)
}

func finished(f *event.AttemptFinished, at event.Time) string {
	text := Attempted(f, nil) + ": " + string(f.Outcome)
	if f.StartedAt != 0 && at >= f.StartedAt {
		text += " after " + Duration(at.Sub(f.StartedAt))
	}
	if f.Error != nil {
		text += because(f.Error.Message)
	}
	if w := f.Shown(); len(w.Stdout)+len(w.Stderr) > 0 {
		n := len(w.Stdout) + len(w.Stderr)
		text += ", " + Count(n, "byte") + " of output"
	}
	if n := len(f.Recalled); n > 0 {
		text += ", told " + Entries(n) + " of the memory"
	}
	if n := len(f.Learned); n > 0 {
		text += ", says " + Count(n, "lesson")
	}
	if f.Warning != "" {
		text += ", warning: " + Clean(f.Warning)
	}
	return text
}

// Attempted names an attempt: "build, attempt 2, gate lint".
func Attempted(f *event.AttemptFinished, r *view.Run) string {
	return Clean(Title(r, f.Node)) + ", " + attempt(f.Attempt, f.Gate, f.Compensate)
}

// Title is the title of the node of a path. r may be nil: then it is the path.
func Title(r *view.Run, path string) string {
	if r != nil && r.Node(path) != nil {
		return r.Node(path).Title()
	}
	return path
}

// attempt names one of a node: "attempt 2, gate lint", or "compensation".
func attempt(n int, gate string, compensate bool) string {
	switch {
	case compensate:
		return "compensation"
	case gate != "":
		return fmt.Sprintf("attempt %d, gate %s", n, GateName(gate))
	}
	return fmt.Sprintf("attempt %d", n)
}

// Called tells how a run ended that a step called, and which of its nodes is to blame: "smoke: run abc failed: verdict: exit
// code 1".
func Called(c *event.ChildFinished) string {
	text := Clean(c.Node) + ": run " + Clean(c.Run) + " " + Clean(string(c.Status))
	if c.Error == nil {
		return text
	}
	return text + because(culprit(&view.Line{Result: &event.Result{Error: c.Error}})+c.Error.Message)
}

// GateName is a gate's name as it is written: that of one inside a step leads, in the journal, with the workflow and the step.
func GateName(name string) string { return Clean(name[strings.LastIndexByte(name, '/')+1:]) }

// asks says what is asked of the world and cannot be seen in any node's status; "" where it can.
func asks(c *event.Command) string {
	switch {
	case c.Start != nil && c.Start.Gate != "":
		return fmt.Sprintf("starts gate %s of %s", GateName(c.Start.Gate), Clean(c.Start.Node))
	case c.Cancel != nil:
		return "ends the attempts of " + Clean(c.Cancel.Node) + because(c.Cancel.Reason)
	case c.SetTimer != nil:
		text := fmt.Sprintf("sets timer %d", c.SetTimer.Timer)
		if c.SetTimer.Node != "" {
			text += " of " + Clean(c.SetTimer.Node)
		}
		return text + fmt.Sprintf(" (%s) for %s", Clean(string(c.SetTimer.Purpose)), c.SetTimer.Due)
	case c.StartChild != nil:
		return "starts run " + Clean(c.StartChild.Run) + " for " + Clean(c.StartChild.Node)
	case c.CancelChild != nil:
		return "cancels run " + Clean(c.CancelChild.Run) + " of " + Clean(c.CancelChild.Node) + because(c.CancelChild.Reason)
	}
	return ""
}
