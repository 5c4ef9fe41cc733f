package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/request"
)

// computeValue does a value step, which takes no time and no slot.
func (m *Machine) computeValue(r ref) {
	v, err := m.eval.Eval(&m.node(r).Action.(*ir.Value).Expr, m.newScope(r))
	if err == nil {
		err = request.Sized(v)
	}
	d := m.liveState(r)
	d.attempts = 1
	m.startParents(r)
	d.started = m.now
	if err != nil {
		m.failNode(r, evaluationError("value", err))
		return
	}
	d.output = v
	m.deliverOutput(r)
}

// failOnPurpose does a step that fails on purpose.
func (m *Machine) failOnPurpose(r ref) {
	f, d := m.node(r).Action.(*ir.Fail), m.liveState(r)
	d.attempts = 1
	m.startParents(r)
	d.started = m.now
	e := &event.Error{Kind: f.ErrorKind, Reason: event.ReasonFail, ExitCode: -1, Message: fmt.Sprintf("%q fails on purpose", m.node(r).Name)}
	if e.Kind == "" {
		e.Kind = event.Blocking
	}
	if f.Message != nil {
		text, err := m.evalText(f.Message, m.newScope(r))
		if err != nil {
			e = evaluationError("message", err)
		} else {
			e.Message = text
		}
	}
	m.failNode(r, e)
}

// startAttempts sends a step's action to its turn for slots.
func (m *Machine) startAttempts(r ref) {
	d := m.liveState(r)
	if !m.chooseAgent(r) {
		return
	}
	if g := m.agentOf(r); g != nil {
		d.agent = g.Name
		if !m.ensureAgentLimiter(r, g) {
			return
		}
	}
	m.queueAttempt(r)
}
