package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/request"
)

// cause is a failure that counts, and when it came among those of the run: a run fails of the first thing that went wrong
// in it, not of what that blocked or of the groups that it lay in.
type cause struct {
	err   *event.Error
	order uint64 // from 1; 0: none
}

// first keeps the earlier of two causes.
func (c *cause) first(other cause) {
	if other.order != 0 && (c.order == 0 || other.order < c.order) {
		*c = other
	}
}

// cause is what a node failed of: the first failure below it, or its own.
func (m *Machine) cause(d *detail) cause {
	if d.body != nil && d.cause.order != 0 {
		return d.cause
	}
	m.failures++
	return cause{d.err, m.failures}
}

// tolerate says whether the failure of a node does not count, and gives it the output that stands in for its own. Of an
// iteration it is the repeat that is asked; a for_each as a whole has no output to degrade to, only its instances have.
func (m *Machine) tolerate(r ref) {
	if m.iteration(r) {
		return
	}
	s, n := m.state(r), m.node(r)
	if n.Degrade != nil && !m.collector(r) {
		v, err := m.degraded(r, n)
		if err == nil {
			s.output, s.computed, s.tolerated = v, true, true
			return
		}
		m.note(r, event.Warned, fmt.Sprintf("degrade.output: %v", err), nil)
	}
	s.tolerated = n.OnError == "continue"
}

func (m *Machine) degraded(r ref, n *plan.Node) (value.Value, error) {
	v, err := m.eval.Eval(n.Degrade, m.scope(r))
	if err != nil {
		return nil, err
	}
	if t := m.declared(r); t != nil {
		if v, err = value.Convert(v, *t); err != nil {
			return nil, err
		}
	}
	return v, request.Sized(v)
}

// declared is the type that a node's output must have, or nil.
func (m *Machine) declared(r ref) *value.Type {
	n := m.node(r)
	if g := m.agent(r); n.Output == nil && g != nil {
		return g.Output
	}
	return n.Output
}

// stopAround carries out on_error = "stop": what lies around the node, its group or the run, is ended. The failure of a
// node that a join has already let go stops nothing.
func (m *Machine) stopAround(r ref, c cause) {
	for p := m.parent(r); p.node != plan.None; p = m.parent(p) {
		if d := m.detail(p); d.join != nil && d.join.decided {
			return
		}
	}
	for m.node(r).Region != r.frame.region {
		r.frame = r.frame.up
	}
	if p := m.parent(r); p.node != plan.None {
		m.doom(p, &event.Error{Kind: event.Recoverable, Reason: "child", ExitCode: -1,
			Message: fmt.Sprintf("%q failed, which stops what lies around it", m.node(r).Name)})
		return
	}
	m.stopFor(r, c.err)
}
