package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/slots"
)

// agent is who has a step now; nil where it is no agent's.
func (m *Machine) agent(r ref) *ir.Agent {
	n := m.node(r)
	if d := m.state(r).detail; d != nil && d.rare != nil {
		switch {
		case d.rare.fallback > 0:
			return n.Others[d.rare.fallback-1]
		case d.rare.otherwise:
			return n.Else
		}
	}
	return n.Agent
}

// appoint picks the agent where the file gives a choice of two, or fails the node.
func (m *Machine) appoint(r ref) bool {
	n := m.node(r)
	if n.Else == nil {
		return true
	}
	holds, err := m.holds(n.Action.(*ir.AgentTask).If, m.scope(r))
	if err != nil {
		m.fail(r, evaluation("agent", err))
		return false
	}
	m.rare(r).otherwise = !holds
	return true
}

// fallBack gives a step to the next agent of its list, with attempts of its own. It is other work: the one before may
// have done some. What was wrong with the rules for another attempt is said here: the node's end will not tell.
func (m *Machine) fallBack(r ref, problem string) bool {
	n, d := m.node(r), m.detail(r)
	if len(n.Others) == 0 || m.rare(r).fallback == len(n.Others) {
		return false
	}
	x, said := d.rare, ""
	if d.rejected(d.err) {
		said = x.said
	}
	if problem != "" {
		m.note(r, event.Warned, problem, nil)
	}
	m.renew(r, said)
	x.fallback++
	x.before = d.attempts
	g := m.agent(r)
	if !m.employ(r, g) {
		return true
	}
	m.next(r, 0, fmt.Sprintf("attempt %d failed; agent %q takes over from %q", d.attempts, g.Name, d.agent))
	return true
}

// renew makes a node's work other work, which is to be done better than it was said of the last.
func (m *Machine) renew(r ref, said string) {
	x := m.rare(r)
	x.generation++
	x.feedback = said
}

// feedback is what was said of the work before; "" where nothing was.
func (m *Machine) feedback(r ref) string {
	if d := m.state(r).detail; d != nil && d.rare != nil {
		return d.rare.feedback
	}
	return ""
}

// employ makes sure that an agent's own bound is known, or fails the node.
func (m *Machine) employ(r ref, g *ir.Agent) bool {
	if g.Concurrency == nil || m.agents[g.Name] != nil {
		return true
	}
	n, err := m.number(g.Concurrency, m.constants(), 0, MaxConcurrency)
	if err != nil {
		m.fail(r, evaluation(fmt.Sprintf("concurrency of agent %q", g.Name), err))
		return false
	}
	m.agents[g.Name] = slots.NewLimiter[slotRequest](n)
	return true
}
