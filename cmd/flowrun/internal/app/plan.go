package app

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/forecast"
	"github.com/flowrun/flowrun/runner/outline"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/standalone"
)

func (a *app) newPlanCommand() *cobra.Command {
	var o args.Plan
	c := &cobra.Command{
		Use: "plan FILE|DIR [WORKFLOW]", Short: "Show what a run would do", Args: between(1, 2, "FILE|DIR [WORKFLOW]"),
		Long: `plan shows the order of a workflow's steps, what can run at once, the longest chain, what is conditional, and how many
attempts there are at most; and, from the durations in earlier runs of a workflow of this name, how long it would take, and which
chain of steps takes longest. Nothing runs. Values that are given are used; what depends on others is said to be unknown.`,
		RunE: func(_ *cobra.Command, words []string) error {
			o.Path = words[0]
			if len(words) > 1 {
				o.Workflow = words[1]
			}
			a.asJSON = o.JSON
			return a.runPlan(&o)
		},
	}
	f := c.Flags()
	valueFlags(c, &o.Given)
	f.IntVar(&o.Parallel, "parallel", 0, "forecast a run of at most `N` attempts at once, in place of the workflow's max_concurrency")
	f.BoolVar(&o.JSON, "json", false, "as JSON")
	f.BoolVar(&o.DetailedExit, "detailed-exitcode", false, "exit with 6 where something would run, with 0 where nothing would")
	return c
}

func (a *app) runPlan(o *args.Plan) error {
	if err := o.Check(); err != nil {
		return err
	}
	p, w, err := a.pickWorkflow(&o.Path, o.Workflow)
	if err != nil {
		return err
	}
	known, err := a.knownValues(p, w, &o.Apply)
	if err != nil {
		return err
	}
	g, err := plan.Build(p.ir, w.Name)
	if err != nil {
		return err
	}
	result := &ui.Planned{Outline: outline.Of(g, known.eval)}
	if result.Forecast, err = a.forecast(o, g, known); err != nil {
		return err
	}
	if o.JSON {
		err = ui.WriteJSON(a.out, result)
	} else {
		ui.Plan(a.out, result)
	}
	if err == nil && o.DetailedExit && len(result.Steps) > 0 {
		return &ended{exitChange}
	}
	return err
}

// forecast predicts the duration of a run from the recorded durations of the store. A store of an
// older release counts as no store.
func (a *app) forecast(o *args.Plan, g *plan.Graph, known *beforehand) (*forecast.Forecast, error) {
	dir, err := a.storeDir(o.Path)
	if err != nil {
		return nil, err
	}
	s, err := standalone.Read(dir)
	var old *engine.OlderStore
	if errors.Is(err, engine.ErrNoStore) || errors.As(err, &old) {
		return &forecast.Forecast{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer s.Close()
	x, runs, err := s.Expected(context.Background(), g.Workflow.Name)
	if err != nil {
		return nil, err
	}
	return forecast.Of(g, known.eval, x, runs, o.Parallel), nil
}

// beforehand is the scope that is known before a run: values that were given or have a default, and
// locals over them.
type beforehand struct {
	inputs, vars map[string]value.Value
	locals       map[string]*ir.Expr
	evaluator    *expr.Evaluator
}

// errUnknown ends the evaluation of a value that is known only during a run.
var errUnknown = errors.New("not known before a run")

// knownValues returns the scope of the given values. A required value that is missing is unknown.
func (a *app) knownValues(p *program, w *ir.Workflow, o *args.Apply) (*beforehand, error) {
	whole, most := *p.ir, *w
	whole.Variables, most.Inputs = withoutRequired(p.ir.Variables), withoutRequired(w.Inputs)
	inputs, vars, err := a.readValues(&program{ir: &whole}, &most, &o.Given)
	if err != nil {
		return nil, err
	}
	dropUnknown(inputs.Values, w.Inputs)
	dropUnknown(vars.Values, p.ir.Variables)
	b := &beforehand{inputs: inputs.Values, vars: vars.Values, locals: map[string]*ir.Expr{}, evaluator: expr.NewEvaluator(ir.NewestRules(), p.ir.Files)}
	for i := range p.ir.Locals {
		b.locals[p.ir.Locals[i].Name] = &p.ir.Locals[i].Expr
	}
	return b, nil
}

// withoutRequired returns declarations that need no value: null stands for a missing value.
func withoutRequired(decls []ir.Variable) []ir.Variable {
	out := append([]ir.Variable{}, decls...)
	for i := range out {
		if d := &out[i]; !d.HasDefault {
			d.HasDefault, d.Type, d.Validation, d.Enum = true, d.Type.OrNull(), nil, nil
		}
	}
	return out
}

// dropUnknown removes the nulls that stand for missing values, and the values that may not be
// shown.
func dropUnknown(values map[string]value.Value, decls []ir.Variable) {
	for _, d := range decls {
		if !d.HasDefault && values[d.Name] == nil || d.Sensitive {
			delete(values, d.Name)
		}
	}
}

// eval evaluates an expression for the outline; it reports false if the value is not known.
func (b *beforehand) eval(e *ir.Expr) (value.Value, bool) {
	v, err := b.evaluator.Eval(e, b)
	return v, err == nil
}

// Lookup implements ir.Scope.
func (b *beforehand) Lookup(r ir.Ref) (value.Value, error) {
	switch r.Root {
	case "var":
		return lookUp(b.vars, r.Name)
	case "input":
		return lookUp(b.inputs, r.Name)
	case "local":
		if e := b.locals[r.Name]; e != nil {
			return b.evaluator.Eval(e, b) // locals form no circle: that is checked
		}
	}
	return nil, errUnknown
}

func lookUp(values map[string]value.Value, name string) (value.Value, error) {
	if v, ok := values[name]; ok {
		return v, nil
	}
	return nil, errUnknown
}
