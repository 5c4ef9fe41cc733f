package app

import (
	"errors"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// groupOf gives the group of a run that is about to start.
func groupOf(c *runner.Programs) func([]byte, event.RunStarted) (engine.Group, error) {
	return func(definition []byte, first event.RunStarted) (engine.Group, error) {
		name, busy, err := c.Group(definition, first)
		return engine.Group{Name: name, WhenBusy: engine.WhenBusy(busy)}, err
	}
}

// makeRun makes a run durable. One whose group is busy waits for its turn here, and a signal ends the wait.
func (a *app) makeRun(s *store, start engine.Start) (string, error) {
	ctx, release := untilSignal(func(string) {})
	defer release()
	run, err := s.Start(ctx, start)
	var stop *interrupted
	switch {
	case errors.As(err, &stop):
		a.err.Printf("flowrun: stopped; nothing has started\n")
		return "", &ended{signalCode(stop.signal)}
	case errors.Is(err, engine.ErrSuperseded):
		a.err.Printf("flowrun: nothing has started: %s\n", ui.Clean(err.Error()))
		return "", &ended{exitLimit}
	}
	return run, err
}

// waiting tells a person whom a run waits for.
func (a *app) waiting(group, behind string) {
	a.err.Printf("flowrun: this run waits for its turn in the group %s, behind %s\n", ui.Quote(group), ui.Clean(behind))
}
