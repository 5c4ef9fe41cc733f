package compose

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/request"
)

// ChildInputs computes the inputs of a called run by the declarations of its workflow. Sensitive
// inputs are left to the host.
func (c *Composer) ChildInputs(call *ir.Call, sc *Scope) (inputs map[string]value.Value, late map[string]event.Late, err error) {
	w := c.graph.Program.Workflow(call.Workflow)
	if w == nil {
		return nil, nil, fmt.Errorf("there is no workflow %q", call.Workflow)
	}
	given, late, err := c.callArguments(call, sc)
	if err != nil {
		return nil, nil, err
	}
	inputs = make(map[string]value.Value, len(w.Inputs))
	for i := range w.Inputs {
		name := w.Inputs[i].Name
		if _, ok := late[name]; ok {
			continue
		}
		if inputs[name], err = convertInput(&w.Inputs[i], given); err != nil {
			return nil, nil, err
		}
	}
	declared := func(name string) bool {
		return slices.ContainsFunc(w.Inputs, func(v ir.Variable) bool { return v.Name == name })
	}
	for _, name := range append(value.Keys(given), slices.Sorted(maps.Keys(late))...) {
		if !declared(name) {
			return nil, nil, fmt.Errorf("workflow %q has no input %q", call.Workflow, name)
		}
	}
	here := c.Constants()
	here.inputs = inputs
	for i := range w.Inputs {
		decl := &w.Inputs[i]
		if l, ok := late[decl.Name]; ok {
			late[decl.Name], err = c.deferInput(l, decl, here)
		} else {
			err = c.validateInput(decl, here)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return inputs, late, nil
}

// callArguments computes the arguments of a call: an object, or the members of one.
func (c *Composer) callArguments(call *ir.Call, sc *Scope) (given map[string]any, late map[string]event.Late, err error) {
	given = map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(call.Inputs)) {
		e := call.Inputs[name]
		if e.Sensitive {
			if late == nil {
				late = map[string]event.Late{}
			}
			l := event.Late{Expr: *e}
			err = c.deferToHost(&l, e.Reads, sc)
			late[name] = l
		} else {
			given[name], err = c.eval.Eval(e, sc)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if call.With != nil {
		v, err := c.eval.Eval(call.With, sc)
		if err != nil {
			return nil, nil, err
		}
		o, ok := v.(map[string]any)
		if !ok {
			return nil, nil, fmt.Errorf("an object of the inputs of %q is needed, but this is %.60s", call.Workflow, value.Text(v))
		}
		given = o
	}
	return given, late, request.CheckSize(given)
}

// convertInput converts one input to its declared type, or returns its default.
func convertInput(decl *ir.Variable, given map[string]any) (value.Value, error) {
	v, ok := given[decl.Name]
	if !ok && !decl.HasDefault {
		return nil, fmt.Errorf("no value for the input %q", decl.Name)
	}
	if !ok {
		return decl.Default, nil
	}
	v, err := value.Convert(v, decl.Type)
	if err != nil {
		return nil, fmt.Errorf("input %q: %w", decl.Name, err)
	}
	if len(decl.Enum) > 0 && !slices.ContainsFunc(decl.Enum, func(e value.Value) bool { return value.Equal(e, v) }) {
		return nil, fmt.Errorf("input %q may not be %.60s", decl.Name, value.Text(v))
	}
	return v, nil
}

// validateInput checks an input's validations. sc reads the inputs of the called run.
func (c *Composer) validateInput(decl *ir.Variable, sc *Scope) error {
	for i := range decl.Validation {
		holds, err := c.Condition(&decl.Validation[i].Condition, sc)
		if err != nil {
			return fmt.Errorf("input %q: %w", decl.Name, err)
		}
		if holds {
			continue
		}
		message := "its condition is false: " + decl.Validation[i].Condition.Text
		if e := decl.Validation[i].Message; e != nil {
			if text, err := c.Text(e, sc); err == nil {
				message = text
			}
		}
		return fmt.Errorf("input %q: %s", decl.Name, message)
	}
	return nil
}

// deferInput adds the type and the validations of a sensitive input of a called run, which the host
// checks. sc reads the inputs of the called run.
func (c *Composer) deferInput(l event.Late, decl *ir.Variable, sc *Scope) (event.Late, error) {
	l.Type, l.Enum = &decl.Type, decl.Enum
	for i := range decl.Validation {
		q := &decl.Validation[i]
		rule := event.Late{Expr: q.Condition, Message: "its condition is false: " + q.Condition.Text, Names: map[string]value.Value{}}
		var reads []ir.Ref
		for _, r := range q.Condition.Reads {
			v, known := sc.inputs[r.Name]
			switch {
			case r.Root != "input":
				reads = append(reads, r)
			case known:
				rule.Names[r.String()] = v
			case r.Name != decl.Name:
				return l, fmt.Errorf("a validation of the input %q reads another sensitive one", decl.Name)
			}
		}
		if err := c.deferToHost(&rule, reads, sc); err != nil {
			return l, err
		}
		if q.Message != nil {
			if text, err := c.Text(q.Message, sc); err == nil {
				rule.Message = text
			}
		}
		l.Rules = append(l.Rules, rule)
	}
	return l, nil
}
