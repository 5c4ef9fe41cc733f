package runner

import (
	"errors"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/durations"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/forecast"
	"github.com/flowrun/flowrun/runner/stats"
)

// expectRun lets the figures of a run tell how long it was expected to take when it began: the first event has what earlier runs let expect of
// each node, and package forecast makes a time of that, as plan does. A run that reused nodes, or was limited to some, did not do the work of
// a run, and of a run that another one called nothing is known.
func expectRun(r *stats.Run, p *Pinned, first *event.RunStarted) {
	if len(first.ExpectedUS) == 0 || first.RetryOf != "" || len(first.Targets) > 0 || first.Skip != "" || first.Cancelled != "" {
		return
	}
	r.Expect(sync.OnceValues(func() (time.Duration, bool) {
		g, err := p.Program.Graph(p.Workflow.Name)
		if err != nil {
			return 0, false
		}
		known := &beforehand{program: p.Program.Program, first: first, evaluator: expr.NewEvaluator(ir.NewestRules(), p.Program.Files)}
		f := forecast.Of(g, known.eval, durations.Expected{US: first.ExpectedUS, Times: first.ExpectedTimes}, 1, first.Parallel)
		if f.Seconds == nil {
			return 0, false
		}
		return time.Duration(*f.Seconds * float64(time.Second)), true
	}))
}

// beforehand is the scope that is known before a run: its inputs and variables, and locals over them.
type beforehand struct {
	program   *ir.Program
	first     *event.RunStarted
	evaluator *expr.Evaluator
}

var errLater = errors.New("not known before the run")

func (b *beforehand) eval(e *ir.Expr) (value.Value, bool) {
	v, err := b.evaluator.Eval(e, b)
	return v, err == nil
}

// Lookup implements ir.Scope.
func (b *beforehand) Lookup(r ir.Ref) (value.Value, error) {
	from := map[string]map[string]value.Value{"var": b.first.Vars, "input": b.first.Inputs}[r.Root]
	if v, has := from[r.Name]; has {
		return v, nil
	}
	for i := range b.program.Locals {
		if l := &b.program.Locals[i]; r.Root == "local" && l.Name == r.Name {
			return b.evaluator.Eval(&l.Expr, b) // locals form no circle: that is checked
		}
	}
	return nil, errLater
}
