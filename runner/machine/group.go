package machine

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/slots"
)

// openGroup releases a group's children. The group itself starts with the first of them.
func (m *Machine) openGroup(r ref) {
	n, d, s := m.node(r), m.liveState(r), m.state(r)
	if !m.ensureNodeLimiter(r) {
		return
	}
	if n.Kind == ir.Switch && !m.chooseCase(r) || !m.openJoin(r) {
		return
	}
	s.open, d.remaining, d.total = true, len(n.Below), len(n.Below)
	if d.remaining == 0 {
		m.agenda.push(task{do: doCollect, ref: r})
		return
	}
	m.agenda.push(task{do: doRelease, ref: r})
}

// ensureNodeLimiter makes the limiter of a node with max_concurrency, shared by all instances and
// iterations. It fails the node and returns false if the bound cannot be evaluated.
func (m *Machine) ensureNodeLimiter(r ref) bool {
	if n := m.node(r); n.MaxConcurrency == nil || n.Region != r.frame.region {
		return true
	}
	n, err := m.evalCount(m.node(r).MaxConcurrency, m.newScope(r), 0, MaxConcurrency)
	if err != nil {
		m.failNode(r, evaluationError("max_concurrency", err))
		return false
	}
	m.liveState(r).limit = slots.NewLimiter[slotRequest](n)
	return true
}
