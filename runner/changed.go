package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/given"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/replay"
	"github.com/flowrun/flowrun/runner/retry"
	"github.com/flowrun/flowrun/runner/reuse"
	"github.com/flowrun/flowrun/runner/trace"
	"github.com/flowrun/flowrun/runner/view"
)

// MaxRetries bounds how many runs, each of which repeats the next, are read for what the first of them reuses.
const MaxRetries = 100

// RetryChanged prepares a run of a program that reuses of an earlier run of another program what the two programs ask for in the same
// words; [Service.Start] starts it. p is the program with its source and the folder dir. The run has the inputs and variables of the earlier one. The
// error is a *retry.Refusal where that cannot be, or the wish cannot be granted.
func (s *Service) RetryChanged(ctx context.Context, run string, p *ir.Program, source []byte, dir string, wish retry.Wish, environ []string, release string) (*Again, *reuse.Plan, error) {
	old, err := s.pastOf(ctx, run, MaxRetries)
	if err != nil {
		return nil, nil, err
	}
	w := p.Workflow(old.First.Workflow)
	if w == nil {
		return nil, nil, &retry.Refusal{Message: fmt.Sprintf("the file has no workflow %q, of which run %s is", old.First.Workflow, run), Advice: retry.Anew}
	}
	first := *old.First
	if problems := given.Fit(&first, p, w); problems != nil {
		return nil, nil, &retry.Refusal{Message: fmt.Sprintf("the values of run %s do not fit the file:\n  %s", run, strings.Join(problems, "\n  ")), Advice: retry.Anew}
	}
	if wish.All {
		first.Targets = nil
	}
	names := w.StepNames()
	for _, t := range first.Targets {
		if !slices.Contains(names, t) {
			return nil, nil, &retry.Refusal{Message: fmt.Sprintf("run %s was asked for %q, and the file has no such step", run, t), Advice: retry.Anew}
		}
	}
	first.Dir, first.Program, first.Budget, first.Asks, first.Held = dir, "", nil, nil, nil
	plan, err := reuse.Of(reuse.Store{
		Past: func(run string) (*reuse.Past, error) { return s.pastOf(ctx, run, MaxRetries) },
		Machine: func(p *ir.Program, workflow string) (replay.Machine, error) {
			return s.programs.Machine(journal.Header{Behaviour: ir.Behaviour, Workflow: workflow}, p.Canonical())
		},
	}, old, p, first, wish)
	if err != nil {
		return nil, nil, err
	}
	definition := p.Canonical()
	hash := ir.Hash(definition)
	loaded, err := s.programs.Load(hash, definition)
	if err != nil {
		return nil, nil, err
	}
	h := journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: hash, Workflow: w.Name, Release: release}
	start := engine.Start{Definition: definition, Source: source, First: first, Header: h}
	start.First.Run, start.First.Skip, start.First.Cancelled, start.First.Env = "", "", "", RecordedEnv(environ)
	start.First.RetryOf, start.First.Reused, start.First.Targets = run, plan.Kept.Reused, plan.Kept.Targets
	start.First.Cause, start.First.Traceparent = event.RetryCause(run, old.First), trace.Caller(environ)
	return &Again{start, &Pinned{Header: h, Definition: definition, Program: loaded, Workflow: loaded.Workflow(w.Name)}}, plan, nil
}

// pastOf reads the past of a run, with what the runs knew that it repeats, so many of them at most.
func (s *Service) pastOf(ctx context.Context, run string, most int) (*reuse.Past, error) {
	p, err := s.Past(ctx, run)
	if err != nil {
		return nil, err
	}
	p.View.Forget()
	world := replay.NewWorld()
	if err := p.Replay(ctx, func(e Seen) bool {
		world.Learn(e.Event, e.Caused.Commands)
		return true
	}); err != nil {
		return nil, err
	}
	g, err := p.Program.Graph(p.Workflow.Name)
	if err != nil {
		return nil, err
	}
	first, err := p.First()
	if err != nil {
		return nil, err
	}
	out := &reuse.Past{Graph: g, First: first, View: p.View, World: world, Lost: map[string]string{}}
	if len(first.Reused) == 0 {
		return out, nil
	}
	reused := func(node string) bool {
		for ; node != ""; node = view.Parent(node) {
			if k := first.Reused[node]; k != nil && !k.Set {
				return true
			}
		}
		return false
	}
	before, err := (*reuse.Past)(nil), engine.ErrNoRun
	if most > 0 {
		before, err = s.pastOf(ctx, first.RetryOf, most-1)
	}
	switch {
	case errors.Is(err, engine.ErrNoRun):
		for path, k := range first.Reused { // any order: it fills a map
			if !k.Set {
				out.Lost[path] = fmt.Sprintf("its result is from run %s, which was removed", first.RetryOf)
			}
		}
	case err != nil:
		return nil, err
	default:
		world.Inherit(before.World, reused)
		for path, why := range before.Lost { // any order: it fills a map
			if reused(path) {
				out.Lost[path] = why
			}
		}
	}
	return out, nil
}
