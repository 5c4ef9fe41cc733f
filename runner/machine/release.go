package machine

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// releaseChild releases the next child of an open group, in file order.
func (m *Machine) releaseChild(t task) {
	below := m.childrenOf(t.ref)
	if t.cursor == len(below) {
		return
	}
	child := ref{t.ref.frame, below[t.cursor]}
	if t.ref.node == plan.None || !m.skipOtherCase(t.ref, child) {
		m.noteDependency(child, released)
	}
	t.cursor++
	m.agenda.push(t)
}

func (m *Machine) childrenOf(r ref) []int {
	if r.node == plan.None {
		if m.phase == closing {
			return m.graph.Finally
		}
		return m.graph.Top
	}
	return m.node(r).Below
}

func (m *Machine) whyUnwanted() string {
	if m.run.Skip != "" {
		return m.run.Skip
	}
	return "it is not needed for the targets"
}

// startNode starts or ends a node whose dependencies have ended: it checks the rule, condition and
// requirements, and then follows the node's kind and, for a step, the action's kind.
func (m *Machine) startNode(r ref) {
	s := m.state(r)
	if s.status != event.Pending || s.queued || s.open {
		return // a cancel or the end of its group ended the node
	}
	if m.isHalted(r) {
		status, reason := m.unstartedEnd(r, m.whyStopped())
		m.finishNode(r, status, reason)
		return
	}
	if m.takeReused(r) || m.reusedEnd(r) == nil && !m.mayStart(r) {
		return
	}
	if !m.isCollector(r) && !m.isIteration(r) && !m.setDeadline(r) {
		return
	}
	n := m.node(r)
	switch {
	case m.isCollector(r):
		m.expandForEach(r)
	case m.isRepeater(r):
		m.openRepeat(r)
	case n.Kind != ir.Step:
		m.openGroup(r)
	default:
		actions[n.Action.Kind()].begin(m, r)
	}
}

// mayStart checks everything that can keep a node from starting: targets, rule, condition,
// requirements, and a reused parent that ended without the node. If the node may not start,
// mayStart ends it and returns false.
func (m *Machine) mayStart(r ref) bool {
	if m.wanted != nil && !m.wanted[r.node] {
		m.finishNode(r, event.Skipped, m.whyUnwanted())
		return false
	}
	if status, reason := m.checkRule(r); status != "" {
		m.finishNode(r, status, reason)
		return false
	}
	if !m.isIteration(r) && (!m.checkWhen(r) || !m.checkRequirements(r)) {
		return false
	}
	if m.missingFromReused(r) {
		m.finishNode(r, event.Cancelled, "it was not needed in run "+m.run.RetryOf)
		return false
	}
	return true
}

// checkWhen evaluates a node's condition, for the whole or for each instance. It ends the node and
// returns false if the condition does not hold.
func (m *Machine) checkWhen(r ref) bool {
	n := m.node(r)
	if n.When == nil || m.isInstance(r) != n.WhenPerInstance {
		return true
	}
	sc := m.newScope(r)
	holds, err := m.evalCondition(n.When, sc)
	switch {
	case err != nil:
		m.failNode(r, evaluationError("when", err))
	case !holds:
		m.finishNode(r, event.Skipped, "its condition is false: "+m.explainCondition(n.When, sc))
	}
	return err == nil && holds
}
