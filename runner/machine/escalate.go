package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// classifyError gives the error of a failed attempt the kind that the rules of the file say, once: the
// first that holds of those of the node, of its agent, of the groups around it from the inside out, and
// of the workflow. The rules of a group read what is around the group.
func (m *Machine) classifyError(r ref, err *event.Error) {
	of := m.failureOf(r, err)
	if m.classifyBy(r, r, m.node(r).Classify, of) {
		return
	}
	if g := m.agentOf(r); g != nil && m.classifyBy(r, ref{m.root, plan.None}, g.Classify, of) {
		return
	}
	for p, last := m.parent(r), r.node; p.node != plan.None; p = m.parent(p) {
		if p.node == last { // the for_each or the repeat of a node that was asked
			continue
		}
		if last = p.node; m.classifyBy(r, p, m.node(p).Classify, of) {
			return
		}
	}
	m.classifyBy(r, ref{m.root, plan.None}, m.graph.Workflow.Classify, of)
}

// classifyBy asks rules that stand at a node. A rule that cannot be evaluated does not hold, and the run
// warns.
func (m *Machine) classifyBy(r, at ref, rules []ir.Classify, of *compose.Failure) bool {
	for i := range rules {
		holds, wrong := m.holdsFor(at, &rules[i].When, of)
		if wrong != nil {
			m.showNote(r, event.Warned, fmt.Sprintf("classify.when: %v", wrong), nil)
		}
		if holds {
			of.Error.Kind = rules[i].Kind
			return true
		}
	}
	return false
}

// failureOf describes a failed attempt for the rules that are asked about it.
func (m *Machine) failureOf(r ref, err *event.Error) *compose.Failure {
	d := m.liveState(r)
	err.Node, err.Attempt = d.path, d.attempts
	f := &compose.Failure{Error: err, Attempt: d.attempts}
	if d.started != 0 {
		f.Elapsed = max(0, m.now.Sub(d.started))
	}
	return f
}

// holdsFor evaluates a condition over a failed attempt; at is the node where the condition stands.
func (m *Machine) holdsFor(at ref, when *ir.Expr, of *compose.Failure) (bool, error) {
	sc := m.newScope(at)
	sc.Failure = of
	return m.composer.Condition(when, sc)
}
