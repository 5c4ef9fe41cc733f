package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// startParents starts the groups that r lies in, from the outside in, if they have not started.
func (m *Machine) startParents(r ref) {
	p := m.parent(r)
	if p.node == plan.None || m.state(p).status != event.Pending {
		return
	}
	reason := ""
	if m.inner(p) {
		reason = m.way(p)
	}
	m.move(p, event.Running, reason)
	if n := m.node(p); n.Timeout != nil && n.Kind != ir.Step && m.inner(p) {
		due, err := m.due(n.Timeout, m.scope(p))
		if err != nil {
			m.doom(p, evaluation("timeout", err))
			return
		}
		m.setTimer(p, due, "timeout")
	}
}

// move changes a status that is not the last one, and starts what r lies in.
func (m *Machine) move(r ref, to event.Status, reason string) {
	m.startParents(r)
	s, d := m.state(r), m.detail(r)
	from := s.status
	assert(!from.Terminal(), "%s leaves %s", d.path, from)
	if d.started == 0 {
		d.started = m.now
	}
	s.status = to
	n := m.node(r)
	m.show(event.Transition{Node: d.path, From: from, To: to, Attempt: d.attempts, Reason: reason, Name: n.Name, Kind: string(n.Kind)})
}

// assert stops the run where a defect of ours shows; its journal stays as it is.
func assert(holds bool, format string, args ...any) {
	if !holds {
		panic("machine: " + fmt.Sprintf(format, args...))
	}
}
