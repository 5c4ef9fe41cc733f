package machine

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// permitted asks what a node requires before it starts. What reads each is asked of every instance.
func (m *Machine) permitted(r ref) bool {
	n := m.node(r)
	for i := range n.Requires {
		q := &n.Requires[i]
		if q.PerInstance != m.instance(r) {
			continue
		}
		if err := m.require(q.Require, m.scope(r)); err != nil {
			m.fail(r, err)
			return false
		}
	}
	return true
}

// require asks one requirement; nil means that it holds.
func (m *Machine) require(q *ir.Require, sc *scope) *event.Error {
	holds, err := m.holds(&q.Condition, sc)
	switch {
	case err != nil:
		return evaluation("require", err)
	case holds:
		return nil
	}
	message := ""
	if q.Message != nil {
		if text, err := m.text(q.Message, sc); err == nil {
			message = text
		}
	}
	if message == "" {
		message = "it requires " + m.reading(&q.Condition, sc)
	}
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonRequire, ExitCode: -1, Message: message}
}
