package machine

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/slots"
)

// openGroup lets a group's children go. The group itself starts with the first of them.
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

// ensureNodeLimiter gives a node's own limiter to the whole of it, so that it holds over all instances and iterations, or fails it.
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
