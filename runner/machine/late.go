package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/request"
)

// addsTo maps a part of an attempt to the part that must come before it.
var addsTo = map[string]string{request.Query: request.URL, request.Body: request.Headers}

// composePart computes a part of an attempt. A part that reads secrets is left to the host, and so
// is a part that adds to such a part.
func (m *Machine) composePart(a *event.Attempt, place, what string, e *ir.Expr, sc *scope) error {
	if e.Sensitive || isDeferred(a, addsTo[place]) {
		l := event.Late{Place: place, What: what, Expr: *e}
		err := m.deferToHost(&l, e.Reads, sc)
		a.Late = append(a.Late, l)
		return err
	}
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return err
	}
	return request.Put(a, place, v)
}

// isDeferred reports whether a part of an attempt is left to the host.
func isDeferred(a *event.Attempt, place string) bool {
	for i := range a.Late {
		if a.Late[i].Place == place {
			return true
		}
	}
	return false
}

// deferToHost adds the values that an expression reads to the host's part, except secrets.
func (m *Machine) deferToHost(l *event.Late, reads []ir.Ref, sc *scope) error {
	for _, r := range reads {
		if m.isSecret(r) {
			continue
		}
		if late, ok := m.run.Late[r.Name]; ok && r.Root == "input" {
			if l.Inputs == nil {
				l.Inputs = map[string]event.Late{}
			}
			l.Inputs[r.Name] = late
			continue
		}
		if e := m.graph.Local(r.Name); r.Root == "local" && e != nil && e.Sensitive {
			if err := m.deferLocal(l, r.Name, e); err != nil {
				return err
			}
			continue
		}
		v, err := sc.Lookup(r)
		if err != nil {
			return err
		}
		if l.Names == nil {
			l.Names = map[string]value.Value{}
		}
		l.Names[r.String()] = v
	}
	return nil
}

// deferLocal adds the expression of a local that reads secrets.
func (m *Machine) deferLocal(l *event.Late, name string, e *ir.Expr) error {
	if _, there := l.Locals[name]; there {
		return nil
	}
	if l.Locals == nil {
		l.Locals = map[string]ir.Expr{}
	}
	l.Locals[name] = *e
	return m.deferToHost(l, e.Reads, m.constants())
}

// isSecret reports whether the value of a name is kept from the machine.
func (m *Machine) isSecret(r ir.Ref) bool {
	if len(m.run.Secrets) == 0 {
		return false
	}
	_, known := m.run.Secrets[r.String()]
	return known
}

// readGiven returns the value of a variable or an input. Reading a secret is an error.
func (m *Machine) readGiven(r ir.Ref, values map[string]value.Value) (value.Value, error) {
	_, late := m.run.Late[r.Name]
	if m.isSecret(r) || late && r.Root == "input" {
		return nil, fmt.Errorf("%s is sensitive: its value is not part of the run", r)
	}
	return values[r.Name], nil
}

// deferInput adds the type and the validations of a sensitive input of a child, which the host
// checks. In them, input names mean the child's inputs.
func (m *Machine) deferInput(l event.Late, decl *ir.Variable, inputs map[string]value.Value) (event.Late, error) {
	sc := m.constants()
	sc.inputs = inputs
	l.Type, l.Enum = &decl.Type, decl.Enum
	for i := range decl.Validation {
		q := &decl.Validation[i]
		rule := event.Late{Expr: q.Condition, Message: "its condition is false: " + q.Condition.Text, Names: map[string]value.Value{}}
		var reads []ir.Ref
		for _, r := range q.Condition.Reads {
			v, known := inputs[r.Name]
			switch {
			case r.Root != "input":
				reads = append(reads, r)
			case known:
				rule.Names[r.String()] = v
			case r.Name != decl.Name:
				return l, fmt.Errorf("a validation of the input %q reads another sensitive one", decl.Name)
			}
		}
		if err := m.deferToHost(&rule, reads, sc); err != nil {
			return l, err
		}
		if q.Message != nil {
			if text, err := m.evalText(q.Message, sc); err == nil {
				rule.Message = text
			}
		}
		l.Rules = append(l.Rules, rule)
	}
	return l, nil
}
