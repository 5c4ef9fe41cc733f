package machine

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// endGroup ends a group or a for_each after its last child, or after its join was decided. The
// first of these decides: the error that ended it early, its join, the worst end of its children.
// Otherwise the group succeeds with the outputs of its children. A repeat decides about its next
// iteration.
func (m *Machine) endGroup(r ref) {
	s := m.state(r)
	if s.status.Terminal() {
		return
	}
	d, t := s.liveState, &s.tally
	switch k := d.reusedEnd(); {
	case k == nil:
	case m.isHalted(r):
		m.finishNode(r, event.Cancelled, m.whyStopped())
		return
	case k.Status.Bad():
		m.endReused(r, k)
		return
	}
	switch {
	case d.endError != nil:
		m.failNode(r, d.endError)
		return
	case d.loop != nil:
		m.endIteration(r)
		return
	case d.join != nil:
		if m.endJoined(r) {
			return
		}
	}
	switch {
	case t.failed > t.tolerated:
		m.failNode(r, &event.Error{Kind: event.Recoverable, Reason: event.ReasonChild, ExitCode: -1, Message: t.describeBad()})
		return
	case t.cancelled > 0:
		m.finishNode(r, event.Cancelled, t.describeBad())
		return
	case t.blocked > 0:
		m.finishNode(r, event.Blocked, t.describeBad())
		return
	}
	d.output = m.gatherOutputs(r)
	m.deliverOutput(r)
}

// gatherSoFar caches the result of [Machine.gatherOutputs] for the condition of a join. Every end
// then adds its output. The condition returns a bool, so nothing else keeps the value.
func (m *Machine) gatherSoFar(r ref) value.Value {
	d := m.liveState(r)
	if d.gathered == nil {
		d.gathered = m.gatherOutputs(r)
	}
	return d.gathered
}

// addOutput adds the output of an ended child or instance to the gathered outputs.
func (m *Machine) addOutput(d *liveState, child ref) {
	switch all := d.gathered.(type) {
	case []any:
		all[child.frame.index] = m.outputOf(child)
	case map[string]any:
		if _, there := all[m.memberName(child)]; there { // children of other cases are not in the object
			all[m.memberName(child)] = m.outputOf(child)
		}
	}
}

// gatherOutputs returns the output of a group or a for_each: by child name, by index, or by key. A
// child without an output has null.
func (m *Machine) gatherOutputs(r ref) value.Value {
	n, d := m.node(r), m.liveState(r)
	if d.gathered != nil {
		return d.gathered
	}
	if !m.isCollector(r) {
		out := make(map[string]any, len(n.Below))
		for _, child := range n.Below {
			if c := &m.graph.Nodes[child]; n.Kind != ir.Switch || c.Case == d.taken {
				out[c.Name] = m.outputOf(ref{r.frame, child})
			}
		}
		return out
	}
	if !d.keyed {
		out := make([]any, d.total)
		for i, f := range d.frames {
			out[i] = m.outputOf(ref{f, r.node})
		}
		return out
	}
	out := make(map[string]any, d.total)
	for _, i := range d.items {
		out[i.key] = nil
	}
	for _, f := range d.frames {
		out[f.key] = m.outputOf(ref{f, r.node})
	}
	return out
}

// outputOf returns the output of a node that has ended, including the output of degrade.
func (m *Machine) outputOf(r ref) value.Value {
	if s := m.state(r); s.status.Terminal() && s.liveState != nil {
		return s.output
	}
	return nil
}

// endUnreleased ends the children of a group that ended before their release, one child per task.
func (m *Machine) endUnreleased(t task) {
	below := m.childrenOf(t.ref)
	if t.cursor == len(below) {
		return
	}
	if child := (ref{t.ref.frame, below[t.cursor]}); !m.state(child).status.Terminal() {
		status, reason := t.status, t.reason
		switch status {
		case event.FailedS:
			status = event.Blocked
		case event.Cancelled:
			status, reason = m.unstartedEnd(child, reason)
		}
		m.finishNode(child, status, reason)
	}
	t.cursor++
	m.agenda.push(t)
}
