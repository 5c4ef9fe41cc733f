package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// scope answers for the names that an expression of one node reads. Only what is read is built.
type scope struct {
	m    *Machine
	ref  ref // node None: the workflow's own attributes and outputs
	mode mode
	// inputs, if given, stand in for the run's: those of a child that is about to start.
	inputs map[string]value.Value
}

// mode says what result is.
type mode uint8

const (
	plainly mode = iota // there is none
	gates               // the node as its gates see it: succeeded, but for them
	ended               // the node, or the iteration, after its end
	joins               // the group so far
)

func (m *Machine) scope(r ref) *scope { return &scope{m: m, ref: r} }

// constants is the scope of what knows no node: locals, agents.
func (m *Machine) constants() *scope { return m.scope(ref{m.root, plan.None}) }

// Lookup implements ir.Scope.
func (s *scope) Lookup(r ir.Ref) (value.Value, error) {
	m := s.m
	switch r.Root {
	case "var":
		return m.given(r, m.run.Vars)
	case "input":
		if s.inputs != nil {
			return s.inputs[r.Name], nil
		}
		return m.given(r, m.run.Inputs)
	case "local":
		return m.local(r.Name)
	case "run":
		return attribute(s.runObject, r.Name)
	case "step":
		n := m.graph.Number(r.Name)
		if n == plan.None {
			return nil, fmt.Errorf("no node %q", r.Name)
		}
		return m.read(m.outer(s.ref.frame, n), r.Attr)
	case "previous":
		if p := m.node(s.ref).Previous; p != plan.None {
			return m.read(m.outer(s.ref.frame, p), r.Name+r.Attr)
		}
		return nil, nil
	case "each":
		return attribute(s.eachObject, r.Name)
	case "last":
		return m.last(s.ref.frame, r)
	case "iteration":
		return iteration(s.ref.frame), nil
	case "result":
		return s.result(r.Name + r.Attr)
	case "total", "done", "succeeded", "failed", "skipped":
		if s.mode == joins {
			return m.soFar(s.ref)[r.Root], nil
		}
	case "attempt":
		if d := m.state(s.ref).detail; d != nil {
			return float64(d.attempts), nil
		}
	case "feedback":
		if said := m.feedback(s.ref); said != "" {
			return said, nil
		}
	case "error":
		if d := m.state(s.ref).detail; d != nil {
			return attribute(func() map[string]any { return errorObject(d.err) }, r.Name)
		}
	}
	return nil, nil
}

// attribute reads one attribute of an object, or the whole where name is empty; null where there is no object.
func attribute(object func() map[string]any, name string) (value.Value, error) {
	o := object()
	if o == nil {
		return nil, nil
	}
	if name == "" {
		return o, nil
	}
	return o[name], nil
}

func (m *Machine) local(name string) (value.Value, error) {
	l, known := m.locals[name]
	switch {
	case known && l.busy:
		return nil, fmt.Errorf("local %q needs itself", name)
	case known:
		return l.value, l.err
	}
	e := m.graph.Local(name)
	if e == nil {
		return nil, fmt.Errorf("no local %q", name)
	}
	m.locals[name] = local{busy: true}
	v, err := m.eval.Eval(e, m.constants())
	if err != nil {
		err = fmt.Errorf("local %q: %w", name, err)
	}
	m.locals[name] = local{value: v, err: err}
	return v, err
}

func (s *scope) runObject() map[string]any {
	m := s.m
	v := m.standing()
	failed := make([]any, len(v.failed))
	for i, f := range v.failed {
		failed[i] = f
	}
	return map[string]any{
		"id": m.run.Run, "workflow": m.run.Workflow, "status": string(v.status), "failed": failed,
		"error": null(errorObject(v.err)), "started_at": m.started.String(),
	}
}

// eachObject is the key and value of the nearest for_each around.
func (s *scope) eachObject() map[string]any {
	f := s.ref.frame
	for f.iteration > 0 {
		f = f.up
	}
	if f.up == nil {
		return nil
	}
	var key value.Value = float64(f.index)
	if collector := (ref{f.up, s.m.graph.Regions[f.region].Owner}); s.m.detail(collector).keyed {
		key = f.key
	}
	return map[string]any{"key": key, "value": f.each}
}

// read gives one attribute of a node's result, or the whole object where attr is empty. A node that came to nothing has
// null for most of them.
func (m *Machine) read(r ref, attr string) (value.Value, error) {
	s := m.state(r)
	d := s.detail
	if attr == "" {
		o := make(map[string]any, len(attributes))
		for _, a := range attributes {
			v, err := m.read(r, a)
			if err != nil {
				return nil, err
			}
			o[a] = v
		}
		return o, nil
	}
	if !s.status.Terminal() && attr == "status" {
		return string(event.Running), nil // a rule let somebody look before the end
	}
	if attr == "status" {
		return string(s.status), nil
	}
	if d == nil {
		switch attr {
		case "exit_code":
			return -1.0, nil
		case "attempts", "duration":
			return 0.0, nil
		}
		return nil, nil
	}
	switch attr {
	case "output":
		return m.outputOf(r), nil
	case "exit_code":
		return float64(d.exit), nil
	case "stdout":
		return m.stream(r, d.streams.stdout), nil
	case "stderr":
		return m.stream(r, d.streams.stderr), nil
	case "error":
		return null(errorObject(d.err)), nil
	case "attempts":
		return float64(d.attempts), nil
	case "duration":
		switch {
		case d.started == 0:
			return 0.0, nil
		case d.finished == 0:
			return m.now.Sub(d.started).Seconds(), nil
		}
		return d.finished.Sub(d.started).Seconds(), nil
	case "started_at":
		return moment(d.started), nil
	case "finished_at":
		return moment(d.finished), nil
	case "agent":
		if d.agent == "" {
			return nil, nil
		}
		return d.agent, nil
	case "instances":
		return m.instances(r), nil
	case "counts":
		return m.counts(r), nil
	case "winner":
		if d.body != nil && d.winner() != "" {
			return d.winner(), nil
		}
	case "iterations":
		if d.body != nil && d.loop != nil {
			return float64(d.loop.count), nil
		}
	}
	return nil, nil
}

// attributes are those of every result object.
var attributes = []string{"output", "status", "exit_code", "stdout", "stderr", "error", "attempts", "duration", "started_at",
	"finished_at", "agent", "instances", "counts", "winner", "iterations"}

// stream is null where nothing printed because nothing ran.
func (m *Machine) stream(r ref, s string) value.Value {
	if n := m.node(r); s == "" && n.Run == nil && n.Agent == nil {
		return nil
	}
	return s
}

func (m *Machine) instances(r ref) value.Value {
	s := m.state(r)
	if !m.collector(r) || !s.open {
		return nil
	}
	d := s.detail
	list, byKey := make([]any, len(d.frames)), make(map[string]any, len(d.frames))
	for i, f := range d.frames {
		o, _ := m.read(ref{f, r.node}, "")
		list[i], byKey[f.key] = o, o
	}
	if d.keyed {
		return byKey
	}
	return list
}

func (m *Machine) counts(r ref) value.Value {
	if !m.collector(r) {
		return nil
	}
	all := m.soFar(r)
	delete(all, "done")
	return all
}

func moment(t event.Time) value.Value {
	if t == 0 {
		return nil
	}
	return t.String()
}

func null(o map[string]any) value.Value {
	if o == nil {
		return nil
	}
	return o
}

// errorObject is an error as expressions see it: what does not apply is null.
func errorObject(e *event.Error) map[string]any {
	if e == nil {
		return nil
	}
	o := map[string]any{
		"kind": e.Kind, "reason": e.Reason, "message": e.Message, "exit_code": float64(e.ExitCode), "attempt": float64(e.Attempt),
		"status": nil, "signal": nil, "gate": nil, "node": nil, "retry_after": nil,
	}
	if e.Status != 0 {
		o["status"] = float64(e.Status)
	}
	if e.RetryAfter != 0 {
		o["retry_after"] = e.RetryAfter
	}
	for k, v := range map[string]string{"signal": e.Signal, "gate": e.Gate, "node": e.Node} { // any order: it fills an object
		if v != "" {
			o[k] = v
		}
	}
	return o
}

// Names answers for what the run's outputs can read, as the run stands. It is for looking at a replayed run.
func (m *Machine) Names() ir.Scope { return m.constants() }
