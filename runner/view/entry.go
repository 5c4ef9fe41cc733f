package view

import (
	"slices"

	"github.com/flowrun/flowrun/runner/event"
)

// Entry is an event of a journal and what it caused.
type Entry struct {
	Run     string
	Started event.Time // the time of the run's first event
	Event   event.Event
	Why     string // the purpose of a timer that fired
	// Known reports whether Caused, the changes of the view, and Asked, the commands, are known.
	Known  bool
	Caused []Line
	Asked  []event.Command
	// Dropped reports whether the event changed nothing, because its subject had moved on.
	Dropped bool
}

// About leaves the consequences that are about a step, and reports whether the event or one of them is; see [IsAbout].
func (e *Entry) About(step string) bool {
	if step == "" {
		return true
	}
	e.Caused = slices.DeleteFunc(e.Caused, func(c Line) bool { return !IsAbout(c.Node, step) })
	e.Asked = slices.DeleteFunc(e.Asked, func(c event.Command) bool { return !IsAbout(c.Node(), step) })
	return len(e.Caused)+len(e.Asked) > 0 || IsAbout(e.Event.Node(), step)
}
