package machine

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/request"
)

// isCall reports whether a request is for a run of another workflow.
func (m *Machine) isCall(w slotRequest) bool {
	return w.gate == work && m.node(w.ref).Action.Kind().Course() == ir.Called
}

// startChild starts a run of another workflow. A call counts in the limiters of groups and
// for_each around it but takes no slot of the run: the attempts of the child take slots of the
// child.
func (m *Machine) startChild(r ref) {
	n, d := m.node(r), m.liveState(r)
	d.attempts++
	inputs, late, err := m.childInputs(r)
	what := "with"
	var due event.Time
	if err == nil && n.Timeout != nil {
		due, err = m.evalDue(n.Timeout, m.newScope(r))
		what = "timeout"
	}
	if err != nil {
		m.returnSlots(r, work)
		m.failNode(r, evaluationError(what, err))
		return
	}
	a := &attempt{ref: r, gate: work, since: m.now,
		child: &event.StartChild{Run: m.childID(r), Node: d.path, Workflow: n.Action.(*ir.Call).Workflow, Inputs: inputs,
			Late: late}}
	m.noteCompensation(r)
	m.moveNode(r, event.Running, fmt.Sprintf("run %s of workflow %q", a.child.Run, a.child.Workflow))
	d.live = a
	m.live.add(a)
	m.addCommand(event.Command{StartChild: a.child})
	if due != 0 {
		m.setTimer(r, due, event.TimerTimeout)
	}
}

// childID computes the id of a child from its parent, node and generation, so that a repeated
// request names the same run. The id has the form of every run's id: 12 characters of base32.
func (m *Machine) childID(r ref) string {
	d := m.liveState(r)
	sum := sha256.Sum256([]byte(m.run.Run + "\x00" + d.path + "\x00" + strconv.Itoa(m.generation(d)) + "\x00child"))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:8]))[:12]
}

// childInputs computes the inputs of a child by the declarations of its workflow. Sensitive inputs
// are left to the host.
func (m *Machine) childInputs(r ref) (inputs map[string]value.Value, late map[string]event.Late, err error) {
	call := m.node(r).Action.(*ir.Call)
	w := m.graph.Program.Workflow(call.Workflow)
	if w == nil {
		return nil, nil, fmt.Errorf("there is no workflow %q", call.Workflow)
	}
	given, late, err := m.callArguments(r, call)
	if err != nil {
		return nil, nil, err
	}
	inputs = make(map[string]value.Value, len(w.Inputs))
	for i := range w.Inputs {
		name := w.Inputs[i].Name
		if _, ok := late[name]; ok {
			continue
		}
		if inputs[name], err = m.convertInput(&w.Inputs[i], given); err != nil {
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
	for i := range w.Inputs {
		decl := &w.Inputs[i]
		if l, ok := late[decl.Name]; ok {
			late[decl.Name], err = m.deferInput(l, decl, inputs)
		} else {
			err = m.validateInput(decl, inputs)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return inputs, late, nil
}

// callArguments computes the arguments of a call: an object, or the members of one.
func (m *Machine) callArguments(r ref, call *ir.Call) (given map[string]any, late map[string]event.Late, err error) {
	given, sc := map[string]any{}, m.newScope(r)
	for _, name := range slices.Sorted(maps.Keys(call.Inputs)) {
		e := call.Inputs[name]
		if e.Sensitive {
			if late == nil {
				late = map[string]event.Late{}
			}
			l := event.Late{Expr: *e}
			err = m.deferToHost(&l, e.Reads, sc)
			late[name] = l
		} else {
			given[name], err = m.eval.Eval(e, sc)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if call.With != nil {
		v, err := m.eval.Eval(call.With, sc)
		if err != nil {
			return nil, nil, err
		}
		o, ok := v.(map[string]any)
		if !ok {
			return nil, nil, fmt.Errorf("an object of the inputs of %q is needed, but this is %.60s", call.Workflow, value.Text(v))
		}
		given = o
	}
	return given, late, request.Sized(given)
}

// convertInput converts one input to its declared type, or returns its default.
func (m *Machine) convertInput(decl *ir.Variable, given map[string]any) (value.Value, error) {
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

// validateInput checks an input's validations, which read the child's inputs.
func (m *Machine) validateInput(decl *ir.Variable, inputs map[string]value.Value) error {
	for i := range decl.Validation {
		sc := m.constants()
		sc.inputs = inputs
		holds, err := m.evalCondition(&decl.Validation[i].Condition, sc)
		if err != nil {
			return fmt.Errorf("input %q: %w", decl.Name, err)
		}
		if holds {
			continue
		}
		message := "its condition is false: " + decl.Validation[i].Condition.Text
		if e := decl.Validation[i].Message; e != nil {
			if text, err := m.evalText(e, sc); err == nil {
				message = text
			}
		}
		return fmt.Errorf("input %q: %s", decl.Name, message)
	}
	return nil
}

// childFinished records the end of a child run. If the parent no longer waits for the child,
// nothing changes.
func (m *Machine) childFinished(f *event.ChildFinished) {
	a := m.live.children[f.Run]
	if a == nil || a.child.Node != f.Node {
		return
	}
	m.live.remove(a)
	m.returnSlots(a.ref, work)
	d := m.liveState(a.ref)
	d.live = nil
	m.cancelWorkTimer(d)
	d.output = nil
	switch succeeded := f.Status == event.Succeeded; {
	case a.expired != nil && !succeeded:
		m.failAttempt(a.ref, a.expired)
	case a.cancelled && (!succeeded || len(m.node(a.ref).Gates) > 0):
		m.endCancelled(a.ref)
	case succeeded:
		outputs := make(map[string]any, len(f.Outputs))
		for name, v := range f.Outputs { // any order: it copies a map
			outputs[name] = v
		}
		d.output = outputs
		m.deliverOutput(a.ref)
	default:
		m.failAttempt(a.ref, childError(a.child, f))
	}
}

// childError returns the error of a node after its child did not succeed. The child's own error
// gives the kind.
func childError(c *event.StartChild, f *event.ChildFinished) *event.Error {
	e := &event.Error{Kind: event.Recoverable, Reason: event.ReasonChild, ExitCode: -1,
		Message: fmt.Sprintf("run %s of workflow %q %s", c.Run, c.Workflow, statusPhrase(f.Status))}
	if f.Error != nil {
		e.Kind, e.RetryAfter = f.Error.Kind, f.Error.RetryAfter
		e.Message += ": " + f.Error.Message
	}
	return e
}

// expireChild cancels a child after its timeout. The child's answer fails the attempt.
func (m *Machine) expireChild(a *attempt, t timer) {
	if a.cancelled {
		return
	}
	a.expired = &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, ExitCode: -1,
		Message: "it did not end within " + t.elapsedSince(a.since)}
	m.askToEnd(a, "its time is up")
}
