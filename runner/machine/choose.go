package machine

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// choose asks the cases of a switch in order, once, and takes the first that holds; the default has no condition. A case
// that cannot be asked fails the switch: to go on with the next would be a guess.
func (m *Machine) choose(r ref) bool {
	n, sc := m.node(r), m.scope(r)
	for i := range n.Cases {
		holds := n.Cases[i].When == nil
		if !holds {
			var err error
			if holds, err = m.holds(n.Cases[i].When, sc); err != nil {
				m.fail(r, evaluation(fmt.Sprintf("case %d", i+1), err))
				return false
			}
		}
		if holds {
			m.detail(r).taken = i + 1
			break
		}
	}
	m.detail(r).way = m.wayOf(r, sc)
	return true
}

// way says which way a switch took.
func (m *Machine) way(r ref) string {
	if m.node(r).Kind != ir.Switch {
		return ""
	}
	return m.detail(r).way
}

// maxAsked bounds how many cases of a switch are told of that did not hold.
const maxAsked = 8

// wayOf puts the way that a switch has taken into words. It is asked once, whatever the number of its children.
func (m *Machine) wayOf(r ref, sc *scope) string {
	n, taken := m.node(r), m.detail(r).taken
	if taken > 0 && n.Cases[taken-1].When != nil {
		return fmt.Sprintf("case %d holds: %s", taken, n.Cases[taken-1].When.Text)
	}
	text := "no case holds"
	if taken > 0 {
		text += ", so the default is taken"
	}
	var asked []string
	for i := range n.Cases[:min(len(n.Cases), maxAsked)] {
		if n.Cases[i].When != nil {
			asked = append(asked, m.reading(n.Cases[i].When, sc))
		}
	}
	if len(asked) == 0 {
		return text
	}
	return text + ": " + strings.Join(asked, "; ")
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
