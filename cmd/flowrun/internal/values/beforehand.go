package values

import (
	"errors"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Beforehand is the scope that is known before a run: values that were given or have a default, and
// locals over them.
type Beforehand struct {
	inputs, vars map[string]value.Value
	locals       map[string]*ir.Expr
	evaluator    *expr.Evaluator
}

// errUnknown ends the evaluation of a value that is known only during a run.
var errUnknown = errors.New("not known before a run")

// Beforehand returns the scope of the given values. A required value that is missing is unknown.
func (r *Reader) Beforehand(p *ir.Program, w *ir.Workflow, o *args.Given) (*Beforehand, error) {
	whole, most := *p, *w
	whole.Variables, most.Inputs = withoutRequired(p.Variables, nil), withoutRequired(w.Inputs, nil)
	inputs, vars, err := r.Read(&whole, &most, o)
	if err == nil { // what is given keeps its rules
		whole.Variables, most.Inputs = withoutRequired(p.Variables, vars.Values), withoutRequired(w.Inputs, inputs.Values)
		inputs, vars, err = r.Read(&whole, &most, o)
	}
	if err != nil {
		return nil, err
	}
	dropUnknown(inputs.Values, w.Inputs)
	dropUnknown(vars.Values, p.Variables)
	b := &Beforehand{inputs: inputs.Values, vars: vars.Values, locals: map[string]*ir.Expr{}, evaluator: expr.NewEvaluator(ir.NewestRules(), p.Files)}
	for i := range p.Locals {
		b.locals[p.Locals[i].Name] = &p.Locals[i].Expr
	}
	return b, nil
}

// withoutRequired returns declarations of which those that are not given need no value: null stands for a missing value.
func withoutRequired(decls []ir.Variable, given map[string]value.Value) []ir.Variable {
	out := append([]ir.Variable{}, decls...)
	for i := range out {
		if d := &out[i]; !d.HasDefault && given[d.Name] == nil {
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

// Eval evaluates an expression for the outline; it reports false if the value is not known.
func (b *Beforehand) Eval(e *ir.Expr) (value.Value, bool) {
	v, err := b.evaluator.Eval(e, b)
	return v, err == nil
}

// Lookup implements ir.Scope.
func (b *Beforehand) Lookup(r ir.Ref) (value.Value, error) {
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
