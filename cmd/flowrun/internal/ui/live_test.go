package ui

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// panicking is a screen that fails when it is painted.
type panicking struct{ Progress }

func (panicking) Tick(time.Time)                      { panic("no such screen") }
func (panicking) Update(*view.Run, []view.Line, bool) {}
func (panicking) Close(time.Time)                     {}

// A screen that fails is told of, and the run goes on without it.
func TestFailedScreenDoesNotStopTheRun(t *testing.T) {
	defects := make(chan any, 1)
	l := NewLive(panicking{}, view.New(&ir.Workflow{Name: "w"}), func(time.Time) []Saying { return nil }, func(defect any) { defects <- defect })
	if have := <-defects; have != "no such screen" {
		t.Error(have)
	}
	l.Watch([]event.Event{{Seq: 1, RunStarted: &event.RunStarted{Workflow: "w"}}}, &event.Reaction{}, false)
	l.Close()
}
