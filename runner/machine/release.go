package machine

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// release lets the next child of an open group go, in file order.
func (m *Machine) release(t task) {
	below := m.below(t.ref)
	if t.cursor == len(below) {
		return
	}
	child := ref{t.ref.frame, below[t.cursor]}
	if t.ref.node == plan.None || !m.passOver(t.ref, child) {
		m.arrived(child, released)
	}
	t.cursor++
	m.agenda.push(t)
}

func (m *Machine) below(r ref) []int {
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

// ready decides what becomes of a node once nothing is left to wait for: rule, condition and requirements, then its kind and, of a
// step, that of its action.
func (m *Machine) ready(r ref) {
	s := m.state(r)
	if s.status != event.Pending || s.queued || s.open {
		return // ended meanwhile, by a cancel or with its group
	}
	if m.halted(r) {
		status, reason := m.swept(r, m.whyStopped())
		m.finish(r, status, reason)
		return
	}
	if m.reuse(r) || m.kept(r) == nil && !m.mayStart(r) {
		return
	}
	if !m.collector(r) && !m.iteration(r) && !m.watch(r) {
		return
	}
	n := m.node(r)
	switch {
	case m.collector(r):
		m.expand(r)
	case m.repeater(r):
		m.loop(r)
	case n.Kind != ir.Step:
		m.openGroup(r)
	default:
		actions[n.Action.Kind()].begin(m, r)
	}
}

// mayStart asks what may keep a node from starting: the targets of the run, its rule, condition and requirements, or that what it
// lies in once ended without it. Where it may not, it is at its end.
func (m *Machine) mayStart(r ref) bool {
	if m.wanted != nil && !m.wanted[r.node] {
		m.finish(r, event.Skipped, m.whyUnwanted())
		return false
	}
	if status, reason := m.ruled(r); status != "" {
		m.finish(r, status, reason)
		return false
	}
	if !m.iteration(r) && (!m.goes(r) || !m.permitted(r)) {
		return false
	}
	if m.passedBy(r) {
		m.finish(r, event.Cancelled, "it was not needed in run "+m.run.RetryOf)
		return false
	}
	return true
}

// goes asks a node's condition, of the whole or of each instance. Where it does not hold, the node is at its end.
func (m *Machine) goes(r ref) bool {
	n := m.node(r)
	if n.When == nil || m.instance(r) != n.WhenPerInstance {
		return true
	}
	sc := m.scope(r)
	holds, err := m.holds(n.When, sc)
	switch {
	case err != nil:
		m.fail(r, evaluation("when", err))
	case !holds:
		m.finish(r, event.Skipped, "its condition is false: "+m.reading(n.When, sc))
	}
	return err == nil && holds
}
