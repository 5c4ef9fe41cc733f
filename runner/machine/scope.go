package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/policy"
	"github.com/flowrun/flowrun/runner/request"
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

// readOwnResult returns an attribute of the node's own result, for modes that have one.
func (s *scope) readOwnResult(attr string) (value.Value, error) {
	m := s.m
	switch {
	case s.mode == plainly:
		return nil, nil
	case s.mode == ended:
		return m.readAttribute(s.ref, attr)
	case attr == "":
		o := make(map[string]any, len(attributes))
		for _, a := range attributes {
			v, err := s.readOwnResult(a)
			if err != nil {
				return nil, err
			}
			o[a] = v
		}
		return o, nil
	case attr == "output" && s.mode == joins:
		return m.gatherSoFar(s.ref), nil
	case attr == "output":
		return m.liveState(s.ref).output, nil
	case attr == "status" && s.mode == gates:
		return string(event.Succeeded), nil
	}
	return m.readAttribute(s.ref, attr)
}

// countSoFar counts the ends of a node's children or instances, as a join sees them.
func (m *Machine) countSoFar(r ref) map[string]any {
	d := m.liveState(r)
	t := &d.tally
	return map[string]any{
		"total": float64(d.total), "done": float64(d.total - d.remaining), "succeeded": float64(t.succeeded),
		"failed": float64(t.failed + t.blocked + t.cancelled), "skipped": float64(t.skipped),
	}
}

// readLast reads a node of the previous iteration, in the nearest repeat that contains the node or
// is the node. In the first iteration the value is null.
func (m *Machine) readLast(f *frame, r ir.Ref) (value.Value, error) {
	number := m.graph.Number(r.Name)
	if number == plan.None {
		return nil, nil
	}
	n := &m.graph.Nodes[number]
	for ; f != nil; f = f.up {
		if f.iteration == 0 || f.region != n.Region && f.region != n.Loop {
			continue
		}
		if f.last == nil {
			return nil, nil
		}
		return m.readAttribute(ref{f.last, number}, r.Attr)
	}
	return nil, nil
}

// iterationNumber returns the number of the nearest iteration around a frame, from 1.
func iterationNumber(f *frame) value.Value {
	for ; f != nil; f = f.up {
		if f.iteration > 0 {
			return float64(f.iteration)
		}
	}
	return nil
}

// evaluationError returns the error of an expression that could not be evaluated. A retry would
// fail in the same way.
func evaluationError(what string, err error) *event.Error {
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonEvaluation, ExitCode: -1, Message: what + ": " + err.Error()}
}

// evalCondition evaluates a condition. Any value but true or false is an error.
func (m *Machine) evalCondition(e *ir.Expr, sc *scope) (bool, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("true or false is needed, but this is %.60s", value.Text(v))
	}
	return b, nil
}

// explainCondition returns the text of a false condition, followed by the values of its names.
func (m *Machine) explainCondition(e *ir.Expr, sc *scope) string {
	if r := m.eval.Readings(e, sc); r != "" {
		return e.Text + " (" + r + ")"
	}
	return e.Text
}

// evalCount evaluates a whole number from 1 to most; a nil expression gives the default.
func (m *Machine) evalCount(e *ir.Expr, sc *scope, otherwise, most int) (int, error) {
	if e == nil {
		return otherwise, nil
	}
	return m.evalWhole(e, sc, 1, most)
}

// evalWhole evaluates a whole number from least to most.
func (m *Machine) evalWhole(e *ir.Expr, sc *scope, least, most int) (int, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return 0, err
	}
	f, ok := v.(float64)
	if !ok || f < float64(least) || f > float64(most) || f != float64(int(f)) {
		return 0, fmt.Errorf("a whole number from %d to %d is needed, but this is %.60s", least, most, value.Text(v))
	}
	return int(f), nil
}

func (m *Machine) evalFactor(e *ir.Expr, sc *scope) (float64, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return 0, err
	}
	f, ok := v.(float64)
	if !ok || f < 1 || f > policy.MaxMultiplier {
		return 0, fmt.Errorf("a number from 1 to %d is needed, but this is %.60s", policy.MaxMultiplier, value.Text(v))
	}
	return f, nil
}

func (m *Machine) evalDuration(e *ir.Expr, sc *scope) (time.Duration, error) {
	s, err := m.evalText(e, sc)
	if err != nil {
		return 0, err
	}
	return value.ParseDuration(s)
}

// evalDue evaluates a duration and adds it to now.
func (m *Machine) evalDue(e *ir.Expr, sc *scope) (event.Time, error) {
	d, err := m.evalDuration(e, sc)
	return m.now.Add(d), err
}

// evalText evaluates a string. Numbers and bools are written as in JSON.
func (m *Machine) evalText(e *ir.Expr, sc *scope) (string, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return "", err
	}
	return request.Text(v)
}
