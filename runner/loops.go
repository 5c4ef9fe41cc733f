package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/loop"
	machine "github.com/flowrun/flowrun/loop/machine"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/secret"
)

// LoopBoard asks the sources of a loop as the next round of its run would, and returns what is known of items and agents. start is a run of
// the loop that is not started, and secrets are its sensitive values.
func (s *Service) LoopBoard(ctx context.Context, start engine.Start, secrets map[string]value.Value) (*loop.Board, error) {
	p, err := s.programs.Load(start.Header.Definition, start.Definition)
	if err != nil {
		return nil, err
	}
	l := p.Loop(start.Header.Workflow)
	if l == nil {
		return nil, fmt.Errorf("the program has no loop %q", start.Header.Workflow)
	}
	g, err := p.Graph(l.Name)
	if err != nil {
		return nil, err
	}
	k := &machine.Known{Now: event.At(time.Now()), Busy: map[string]int{}}
	control, err := s.Ask(ctx, event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopRead, Loop: l.Name}})
	if err == nil {
		k.Control, err = event.LoopControlOf(control)
	}
	if err != nil {
		return nil, err
	}
	claims, err := s.Ask(ctx, event.StoreRequest{Claims: true})
	if err != nil {
		return nil, err
	}
	list, _ := claims.([]any)
	for _, row := range list {
		if c, err := event.ClaimOf(row); err == nil && c.Loop == l.Name && c.State == event.ClaimHeld {
			k.Busy[c.Agent]++
		}
	}
	asks := secret.New(s.agents, s.options.Environ)
	asks.Hold(secrets, expr.NewEvaluator(ir.NewestRules(), p.Files))
	k.Ask = func(a *event.Attempt) event.AttemptFinished {
		if a.Store == nil {
			return asks.Execute(ctx, *a)
		}
		f := executor.Answer(*a)
		v, err := s.Ask(ctx, *a.Store)
		if f.Outcome, f.Output = event.OK, v; err != nil {
			executor.Fail(&f, &event.Error{Kind: event.Blocking, Reason: event.ReasonStore, Message: err.Error(), ExitCode: -1})
		}
		return f
	}
	return machine.Preview(g, l, expr.NewEvaluator(ir.NewestRules(), p.Files), &start.First, k)
}

// LoopCarry is what the newest run of a loop left for the next one when it ended; nil: nothing.
func (s *Service) LoopCarry(ctx context.Context, name string) (value.Value, error) {
	all, err := s.List(ctx, 0)
	for _, info := range all {
		if info.Workflow != name || info.Parent != "" {
			continue
		}
		if !info.Status.Terminal() {
			return nil, nil
		}
		p, err := s.History(ctx, info.Run)
		if err != nil || p.End() == nil {
			return nil, err
		}
		return p.End().Outputs["parked"], nil
	}
	return nil, err
}

// RegisteredLoops lists the names of the loops of the registered programs, each once. A program that this release cannot load counts as one
// without loops.
func (s *Service) RegisteredLoops(ctx context.Context) (names []string, err error) {
	programs, err := s.Registered(ctx)
	if err != nil {
		return nil, err
	}
	for i := range programs {
		x := &startable{}
		if err := s.loadRegistered(ctx, programs[i].Definition, x); err != nil {
			return nil, err
		}
		if x.why != "" {
			continue
		}
		for k := range x.program.Loops {
			if name := x.program.Loops[k].Name; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
