package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/request"
)

// compute does a value step, which takes no time and no slot.
func (m *Machine) compute(r ref) {
	v, err := m.eval.Eval(&m.node(r).Action.(*ir.Value).Expr, m.scope(r))
	if err == nil {
		err = request.Sized(v)
	}
	d := m.detail(r)
	d.attempts = 1
	m.startParents(r)
	d.started = m.now
	if err != nil {
		m.fail(r, evaluation("value", err))
		return
	}
	d.output = v
	m.deliver(r)
}

// giveUp does a step that fails on purpose.
func (m *Machine) giveUp(r ref) {
	f, d := m.node(r).Action.(*ir.Fail), m.detail(r)
	d.attempts = 1
	m.startParents(r)
	d.started = m.now
	e := &event.Error{Kind: f.ErrorKind, Reason: event.ReasonFail, ExitCode: -1, Message: fmt.Sprintf("%q fails on purpose", m.node(r).Name)}
	if e.Kind == "" {
		e.Kind = event.Blocking
	}
	if f.Message != nil {
		text, err := m.text(f.Message, m.scope(r))
		if err != nil {
			e = evaluation("message", err)
		} else {
			e.Message = text
		}
	}
	m.fail(r, e)
}

// queue sends a step's action to its turn for slots.
func (m *Machine) queue(r ref) {
	d := m.detail(r)
	if !m.appoint(r) {
		return
	}
	if g := m.agent(r); g != nil {
		d.agent = g.Name
		if !m.employ(r, g) {
			return
		}
	}
	m.try(r)
}
