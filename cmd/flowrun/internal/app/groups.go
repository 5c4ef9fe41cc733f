package app

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// maxGroup bounds the name of a group of runs, in bytes.
const maxGroup = 1 << 10

// groupOf computes to which group a run belongs that is about to start.
func (c *definitions) groupOf(definition []byte, first event.RunStarted) (local.Group, error) {
	if !bytes.Contains(definition, []byte(`"concurrency":{"group":`)) { // a large program is not loaded for nothing
		return local.Group{}, nil
	}
	p, err := c.load(definition)
	if err != nil {
		return local.Group{}, err
	}
	w := p.Workflow(first.Workflow)
	if w == nil || w.Concurrency == nil {
		return local.Group{}, nil
	}
	name, err := groupName(p, w, first)
	if err != nil {
		return local.Group{}, fmt.Errorf("the concurrency group of workflow %q: %w", w.Name, err)
	}
	return local.Group{Name: name, WhenBusy: w.Concurrency.WhenBusy}, nil
}

func groupName(p *ir.Program, w *ir.Workflow, first event.RunStarted) (string, error) {
	g, err := plan.Build(p, w.Name)
	if err != nil {
		return "", err
	}
	ev := expr.NewEvaluator(p.Files)
	m := machine.New(g, ev)
	if err := m.Step(event.Event{Seq: 1, RunStarted: &first}); err != nil {
		return "", err
	}
	v, err := ev.Eval(&w.Concurrency.Group, m.Names())
	if err != nil {
		return "", err
	}
	name, ok := v.(string)
	switch {
	case !ok:
		return "", fmt.Errorf("a text is needed, but this is %.60s", value.Text(v))
	case name == "":
		return "", errors.New("the text is empty")
	case len(name) > maxGroup:
		return "", fmt.Errorf("the text has %d bytes; it may have %d", len(name), maxGroup)
	}
	return name, nil
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
	case errors.Is(err, local.ErrSuperseded):
		a.err.Printf("flowrun: nothing has started: %s\n", ui.Clean(err.Error()))
		return "", &ended{exitLimit}
	}
	return run, err
}

// waiting tells a person whom a run waits for.
func (a *app) waiting(group, behind string) {
	a.err.Printf("flowrun: this run waits for its turn in the group %s, behind %s\n", ui.Quote(group), ui.Clean(behind))
}
