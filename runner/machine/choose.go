package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// choose asks the cases of a switch in order, once, and takes the first that holds; the default has no condition. A case
// that cannot be asked fails the switch: to go on with the next would be a guess.
func (m *Machine) choose(r ref) bool {
	n := m.node(r)
	for i := range n.Cases {
		holds := n.Cases[i].When == nil
		if !holds {
			var err error
			if holds, err = m.holds(n.Cases[i].When, m.scope(r)); err != nil {
				m.fail(r, evaluation(fmt.Sprintf("case %d", i+1), err))
				return false
			}
		}
		if holds {
			m.detail(r).taken = i + 1
			return true
		}
	}
	return true
}

// way says which way a switch took.
func (m *Machine) way(r ref) string {
	n, taken := m.node(r), m.detail(r).taken
	switch {
	case n.Kind != ir.Switch:
		return ""
	case taken == 0:
		return "no case holds"
	case n.Cases[taken-1].When == nil:
		return "no case holds, so the default is taken"
	}
	return fmt.Sprintf("case %d holds: %s", taken, n.Cases[taken-1].When.Text)
}

// passOver skips a child of a case that was not taken. It tells whether r is one.
func (m *Machine) passOver(group, r ref) bool {
	if n := m.node(group); n.Kind != ir.Switch || m.node(r).Case == m.detail(group).taken {
		return false
	}
	if !m.state(r).status.Terminal() {
		m.finish(r, event.Skipped, m.way(group))
	}
	return true
}
