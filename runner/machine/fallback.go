package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/slots"
)

// agentOf returns the agent that has a step now; nil if the step has no agent.
func (m *Machine) agentOf(r ref) *ir.Agent {
	n := m.node(r)
	if d := m.state(r).liveState; d != nil && d.cold != nil {
		switch {
		case d.cold.fallback > 0:
			return n.Others[d.cold.fallback-1]
		case d.cold.otherwise:
			return n.Else
		}
	}
	return n.Agent
}

// chooseAgent evaluates a choice between two agents. It fails the node and returns false if the
// condition cannot be evaluated.
func (m *Machine) chooseAgent(r ref) bool {
	n := m.node(r)
	if n.Else == nil {
		return true
	}
	holds, err := m.evalCondition(n.Action.(*ir.AgentTask).If, m.newScope(r))
	if err != nil {
		m.failNode(r, evaluationError("agent", err))
		return false
	}
	m.coldState(r).otherwise = !holds
	return true
}

// fallBack gives a step to the next agent of its list, with new attempts and a new generation: the
// agent before may have done part of the work. It shows a problem of the retry rules now, because
// the end of the node does not mention it.
func (m *Machine) fallBack(r ref, problem string) bool {
	n, d := m.node(r), m.liveState(r)
	if len(n.Others) == 0 || m.coldState(r).fallback == len(n.Others) {
		return false
	}
	x, said := d.cold, ""
	if d.wasRejected(d.err) {
		said = x.said
	}
	if problem != "" {
		m.showNote(r, event.Warned, problem, nil)
	}
	m.startOtherWork(r, said)
	x.fallback++
	x.before = d.attempts
	g := m.agentOf(r)
	if !m.ensureAgentLimiter(r, g) {
		return true
	}
	m.showRetry(r, 0, fmt.Sprintf("attempt %d failed; agent %q takes over from %q", d.attempts, g.Name, d.agent))
	return true
}

// startOtherWork gives a node's work a new generation, with the feedback on the last result.
func (m *Machine) startOtherWork(r ref, said string) {
	x := m.coldState(r)
	x.generation++
	x.feedback = said
}

// feedbackOf returns the gates' feedback on the last result; "" if there is none.
func (m *Machine) feedbackOf(r ref) string {
	if d := m.state(r).liveState; d != nil && d.cold != nil {
		return d.cold.feedback
	}
	return ""
}

// ensureAgentLimiter makes the limiter of an agent with a concurrency, once. It fails the node and
// returns false if the concurrency cannot be evaluated.
func (m *Machine) ensureAgentLimiter(r ref, g *ir.Agent) bool {
	if g.Concurrency == nil || m.agents[g.Name] != nil {
		return true
	}
	n, err := m.evalCount(g.Concurrency, m.constants(), 0, MaxConcurrency)
	if err != nil {
		m.failNode(r, evaluationError(fmt.Sprintf("concurrency of agent %q", g.Name), err))
		return false
	}
	m.agents[g.Name] = slots.NewLimiter[slotRequest](n)
	return true
}
