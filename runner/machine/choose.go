package machine

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// chooseCase evaluates the cases of a switch in order, once, and takes the first that holds. The
// default has no condition. A case that cannot be evaluated fails the switch, because going on
// with the next case would be a guess.
func (m *Machine) chooseCase(r ref) bool {
	n, sc := m.node(r), m.newScope(r)
	for i := range n.Cases {
		holds := n.Cases[i].When == nil
		if !holds {
			var err error
			if holds, err = m.evalCondition(n.Cases[i].When, sc); err != nil {
				m.failNode(r, evaluationError(fmt.Sprintf("case %d", i+1), err))
				return false
			}
		}
		if holds {
			m.liveState(r).taken = i + 1
			break
		}
	}
	m.liveState(r).way = m.describeCase(r, sc)
	return true
}

// caseReason returns the reason for the case that a switch took.
func (m *Machine) caseReason(r ref) string {
	if m.node(r).Kind != ir.Switch {
		return ""
	}
	return m.liveState(r).way
}

// maxAsked limits the number of false cases of a switch in a reason.
const maxAsked = 8

// describeCase puts the choice of a switch into words. The switch calls it once, not once per
// child.
func (m *Machine) describeCase(r ref, sc *scope) string {
	n, taken := m.node(r), m.liveState(r).taken
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
			asked = append(asked, m.explainCondition(n.Cases[i].When, sc))
		}
	}
	if len(asked) == 0 {
		return text
	}
	return text + ": " + strings.Join(asked, "; ")
}

// skipOtherCase skips a child of a case that was not taken. It reports whether r is such a child.
func (m *Machine) skipOtherCase(group, r ref) bool {
	if n := m.node(group); n.Kind != ir.Switch || m.node(r).Case == m.liveState(group).taken {
		return false
	}
	if !m.state(r).status.Terminal() {
		m.finishNode(r, event.Skipped, m.caseReason(group))
	}
	return true
}
