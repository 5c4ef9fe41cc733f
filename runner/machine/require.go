package machine

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// checkRequirements checks the requirements of a node before it starts. A requirement that reads
// each is checked for every instance.
func (m *Machine) checkRequirements(r ref) bool {
	n := m.node(r)
	for i := range n.Requires {
		q := &n.Requires[i]
		if q.PerInstance != m.isInstance(r) {
			continue
		}
		if err := m.checkRequirement(q.Require, m.newScope(r)); err != nil {
			m.failNode(r, err)
			return false
		}
	}
	return true
}

// checkRequirement checks one requirement; nil means that it holds.
func (m *Machine) checkRequirement(q *ir.Require, sc *scope) *event.Error {
	holds, err := m.evalCondition(&q.Condition, sc)
	switch {
	case err != nil:
		return evaluationError("require", err)
	case holds:
		return nil
	}
	message := ""
	if q.Message != nil {
		if text, err := m.evalText(q.Message, sc); err == nil {
			message = text
		}
	}
	if message == "" {
		message = "it requires " + m.explainCondition(&q.Condition, sc)
	}
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonRequire, ExitCode: -1, Message: message}
}
