package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/plan"
)

// scope resolves the names in an expression of one node. It builds only values that the expression
// reads.
type scope struct {
	m    *Machine
	ref  ref // node None: the workflow's own attributes and outputs
	mode mode
	// inputs, if given, stand in for the run's: those of a child that is about to start.
	inputs map[string]value.Value
}

// mode selects the meaning of result.
type mode uint8

const (
	plainly mode = iota // no result
	gates               // the node before its gates have decided
	ended               // the node, or the iteration, after its end
	joins               // the group so far
)

func (m *Machine) newScope(r ref) *scope { return &scope{m: m, ref: r} }

// constants returns a scope without a node, for locals and agents.
func (m *Machine) constants() *scope { return m.newScope(ref{m.root, plan.None}) }

// Lookup implements ir.Scope.
func (s *scope) Lookup(r ir.Ref) (value.Value, error) {
	m := s.m
	switch r.Root {
	case "var":
		return m.readGiven(r, m.run.Vars)
	case "input":
		if s.inputs != nil {
			return s.inputs[r.Name], nil
		}
		return m.readGiven(r, m.run.Inputs)
	case "local":
		return m.evalLocal(r.Name)
	case "run":
		return attribute(s.runObject, r.Name)
	case "step":
		n := m.graph.Number(r.Name)
		if n == plan.None {
			return nil, fmt.Errorf("no node %q", r.Name)
		}
		return m.readAttribute(m.outerRef(s.ref.frame, n), r.Attr)
	case "previous":
		if p := m.node(s.ref).Previous; p != plan.None {
			return m.readAttribute(m.outerRef(s.ref.frame, p), r.Name+r.Attr)
		}
		return nil, nil
	case "each":
		return attribute(s.eachObject, r.Name)
	case "last":
		return m.readLast(s.ref.frame, r)
	case "iteration":
		return iterationNumber(s.ref.frame), nil
	case "result":
		return s.readOwnResult(r.Name + r.Attr)
	case "total", "done", "succeeded", "failed", "skipped":
		if s.mode == joins {
			return m.countSoFar(s.ref)[r.Root], nil
		}
	case "attempt":
		if d := m.state(s.ref).liveState; d != nil {
			return float64(d.attempts), nil
		}
	case "feedback":
		if said := m.feedbackOf(s.ref); said != "" {
			return said, nil
		}
	case "recalled":
		return attribute(func() map[string]any { return m.recalledObject(s.ref) }, r.Name)
	case "error":
		if d := m.state(s.ref).liveState; d != nil {
			return attribute(func() map[string]any { return errorObject(d.err) }, r.Name)
		}
	}
	return nil, nil
}

// findMembers finds the collector behind a name of outputs or instances, and the attribute; ok is
// false for other names.
func (s *scope) findMembers(r ir.Ref) (c ref, attr string, ok bool) {
	m := s.m
	switch attr = r.Attr; r.Root {
	case "step":
		n := m.graph.Number(r.Name)
		if n == plan.None {
			return c, attr, false
		}
		c = m.outerRef(s.ref.frame, n)
	case "previous":
		p := m.node(s.ref).Previous
		if p == plan.None {
			return c, attr, false
		}
		c, attr = m.outerRef(s.ref.frame, p), r.Name+r.Attr
	case "result":
		if s.mode != joins && s.mode != ended {
			return c, attr, false
		}
		c, attr = s.ref, r.Name+r.Attr
	default:
		return c, attr, false
	}
	return c, attr, c.node != plan.None && m.isCollector(c) && m.state(c).open && (attr == "instances" || attr == "output" && s.mode == joins && r.Root == "result")
}

// HasMembers implements ir.Members.
func (s *scope) HasMembers(r ir.Ref) bool {
	_, _, ok := s.findMembers(r)
	return ok
}

// Member implements ir.Members.
func (s *scope) Member(r ir.Ref, key value.Value) (value.Value, bool) {
	c, attr, ok := s.findMembers(r)
	if !ok {
		return nil, false
	}
	d := s.m.liveState(c)
	if k, number := key.(float64); number && k < 0 && attr == "output" {
		return nil, false // a negative index counts from the end of all instances, made or not
	}
	at, ok := d.instanceAt(key)
	if !ok {
		return nil, false
	}
	instance := ref{d.frames[at], c.node}
	if attr == "output" {
		return s.m.outputOf(instance), true
	}
	v, err := s.m.readAttribute(instance, "")
	return v, err == nil
}

// instanceAt returns the number of the instance with an index or a key, if that instance was made.
func (d *liveState) instanceAt(key value.Value) (at int, ok bool) {
	switch key := key.(type) {
	case float64:
		if key < 0 {
			key += float64(len(d.frames))
		}
		at = int(key)
		return at, !d.keyed && float64(at) == key && at >= 0 && at < len(d.frames)
	case string:
		if !d.keyed {
			return 0, false
		}
		at, ok = slices.BinarySearchFunc(d.items[:len(d.frames)], key, func(i item, key string) int { return strings.Compare(i.key, key) })
		return at, ok
	}
	return 0, false
}

// attribute reads one attribute of an object, or the whole if name is empty; null if there is no
// object.
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

// localValue is the value of a local that was read, or its error.
type localValue struct {
	value value.Value
	err   error
	busy  bool
}

func (m *Machine) evalLocal(name string) (value.Value, error) {
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
	m.locals[name] = localValue{busy: true}
	v, err := m.eval.Eval(e, m.constants())
	if err != nil {
		err = fmt.Errorf("local %q: %w", name, err)
	}
	m.locals[name] = localValue{value: v, err: err}
	return v, err
}

func (s *scope) runObject() map[string]any {
	m := s.m
	v := m.runVerdict()
	return map[string]any{
		"id": m.run.Run, "workflow": m.run.Workflow, "status": string(v.status), "failed": m.failedNames(v.failed),
		"error": objectOrNull(errorObject(v.err)), "started_at": m.started.String(),
	}
}

// failedNames returns run.failed. Failed nodes are only added, so one list grows with them.
func (m *Machine) failedNames(names []string) []any {
	for _, f := range names[min(len(names), len(m.failedSeen)):] {
		m.failedSeen = append(m.failedSeen, f)
	}
	return m.failedSeen[:len(names):len(names)]
}

// eachObject returns the key and value of the nearest for_each around the scope.
func (s *scope) eachObject() map[string]any {
	f := s.ref.frame
	for f.iteration > 0 {
		f = f.up
	}
	if f.up == nil {
		return nil
	}
	var key value.Value = float64(f.index)
	if collector := (ref{f.up, s.m.graph.Regions[f.region].Owner}); s.m.liveState(collector).keyed {
		key = f.key
	}
	return map[string]any{"key": key, "value": f.each}
}

// Names resolves the names that the run's outputs can read, in the run's present state. It serves
// views of a replayed run.
func (m *Machine) Names() ir.Scope { return m.constants() }
