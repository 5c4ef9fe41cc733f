package flowtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
)

// Draw answers an attempt of a rehearsal: how it ended, and how long it took. name is the declared name of its node. If known is false, the
// attempt succeeds with an output of the type that its node declares.
type Draw func(name string, a *event.Attempt) (f event.AttemptFinished, took time.Duration, known bool)

// Settle answers what a rehearsed run asks people: the decisions, all given so long after the run has asked. None, with known: nobody answers
// in time. If known is false, the run waits. workflow is that of the run.
type Settle func(workflow string, q *event.Ask) (decisions []event.Decision, after time.Duration, known bool)

// Rehearsal is how a rehearsed run ended.
type Rehearsal struct {
	// Status is Waiting for a run that waits for a person, or for an event that nobody publishes.
	Status  event.Status
	Elapsed time.Duration // virtual
	Usage   event.Usage
}

// Rehearse runs a workflow in virtual time, and asks draw for the answer to each attempt. Nothing that the workflow would start is started.
// settle answers what the run asks people; nil: nobody does. first is the first event of the run. A rehearsal of a number is the same each
// time, if draw and settle are.
func Rehearse(ctx context.Context, p *Program, first event.RunStarted, secrets map[string]value.Value, number int, draw Draw, settle Settle) (Rehearsal, error) {
	t := newTest(p, &ir.Test{Name: fmt.Sprintf("rehearsal %d", number), Workflow: first.Workflow, Inputs: first.Inputs, Vars: first.Vars, StartAt: sim.Epoch.Go()})
	t.draw, t.settle, t.endAlone = draw, settle, true
	t.rehearse = func(ctx context.Context) error {
		return t.launch(ctx, &ir.TestRun{Workflow: first.Workflow, Inputs: first.Inputs}, secrets, first)
	}
	err := t.drive(ctx, 0)
	if errors.Is(err, sim.ErrStuck) {
		return Rehearsal{Status: event.Waiting, Elapsed: t.elapsed()}, nil
	}
	if err == nil && len(t.failures) > 0 {
		err = errors.New(t.failures[0].Text)
	}
	if err != nil {
		return Rehearsal{}, err
	}
	v := t.launched[0].view
	r := Rehearsal{Status: v.Status, Elapsed: t.ended()}
	if v.Usage != nil {
		r.Usage = *v.Usage
	}
	return r, nil
}

// drawn answers an attempt of a rehearsal.
func (t *test) drawn(a *event.Attempt, ans *event.AttemptFinished) {
	name := t.where(a.Run, a.Node).name
	f, took, known := t.draw(name, a)
	t.took = took
	if known {
		ans.Outcome, ans.Error, ans.ExitCode, ans.Usage = f.Outcome, f.Error, f.ExitCode, f.Usage
		ans.Stdout, ans.Stderr, ans.Output, ans.Partial = f.Stdout, f.Stderr, f.Output, f.Partial
		return
	}
	if code := 0; a.HTTP == nil {
		ans.ExitCode = &code
	}
	typ := t.typeOf(name, a)
	if a.Gate == "" && !a.Compensate {
		ans.Output = example(typ, 0)
	}
	if a.Kind == event.RunAttempt && !a.OutputFile {
		if a.Parse == string(ir.ParseJSON) {
			ans.Stdout = string(value.Append(nil, ans.Output))
		}
		ans.Output = nil
	}
}

// example is the simplest value of a type.
func example(t value.Type, depth int) value.Value {
	switch {
	case len(t.Enum) > 0:
		return t.Enum[0]
	case depth > maxSample:
		return nil
	}
	switch t.Kind {
	case value.Bool:
		return false
	case value.NumberT:
		return 0.0
	case value.ListT, value.SetT:
		return []any{}
	case value.MapT:
		return map[string]any{}
	case value.TupleT:
		all := []any{}
		for _, e := range t.Elems {
			all = append(all, example(e, depth+1))
		}
		return all
	case value.ObjectT:
		all := map[string]any{}
		for _, name := range t.Names() {
			if !t.Attrs[name].Optional {
				all[name] = example(t.Attrs[name], depth+1)
			}
		}
		return all
	case value.Any, value.Null, value.StringT, "":
	}
	return ""
}
