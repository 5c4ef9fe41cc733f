package temporal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/event"
)

// TestWaitingRuns lists runs that wait for a person, for an event and for a moment, runs that call those, and runs that work: each row says which it
// is, as a store says it.
func TestWaitingRuns(t *testing.T) {
	s := share(t, temporal.Options{})
	hangs := `workflow "w" {
  default = true
  step "x" { call = workflow.y }
}
workflow "y" {
  step "hang" { run = ["hang"] }
}`
	want := map[string]event.Status{}
	begin := func(status event.Status, text string) string {
		run := s.begin(text)
		want[run] = status
		return run
	}
	waits := []string{
		begin(event.Waiting, `workflow "w" {
  step "x" {
    approve { prompt = "Go on?" }
  }
}`),
		begin(event.Waiting, `workflow "w" {
  step "x" {
    wait {
      event   = "never"
      timeout = "1h"
    }
  }
}`),
		begin(event.Waiting, `workflow "w" {
  step "x" {
    wait { duration = "1h" }
  }
}`),
		begin(event.Waiting, `workflow "w" {
  default = true
  step "x" { call = workflow.y }
}
workflow "y" {
  step "x" {
    wait { duration = "1h" }
  }
}`)}
	works := []string{begin(event.Running, hangs), begin(event.Running, `workflow "w" {
  step "hang" { run = ["hang"] }
}`)}
	var wrong string
	for range 100 {
		list, err := s.List(s.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		wrong = ""
		seen := 0
		for _, i := range list {
			if status, mine := want[i.Run]; mine {
				if seen++; i.Status != status || i.Trouble != "" {
					wrong += fmt.Sprintf("run %s is listed as %s, not %s (%s)\n", i.Run, i.Status, status, i.Trouble)
				}
			}
		}
		for run, status := range want {
			if i, err := s.Get(s.Context(), run); err != nil || i.Status != status {
				wrong += fmt.Sprintf("run %s is shown as %s, not %s: %v\n", run, i.Status, status, err)
			}
		}
		if wrong == "" && seen == len(want) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if wrong != "" {
		t.Error(wrong)
	}
	for _, run := range append(waits, works...) {
		if err := s.Cancel(s.Context(), run, "for a test"); err != nil {
			t.Error(err)
		}
	}
	for run := range want {
		s.end(run, event.Cancelled)
	}
}
