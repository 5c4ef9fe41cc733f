package machine

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// endGroup ends a group or a for_each whose last child has ended, or which has enough: by what ended it early, by what its
// join found, by the worst of its children, or with their outputs. A repeat goes on from here.
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

// gatherSoFar is what [Machine.gather] makes, for the condition of a join: it is made once, and then every end adds its output. The
// condition gives a bool, so nobody keeps the value.
func (m *Machine) gatherSoFar(r ref) value.Value {
	d := m.liveState(r)
	if d.gathered == nil {
		d.gathered = m.gatherOutputs(r)
	}
	return d.gathered
}

// addOutput puts the output of a child or an instance that has ended into what was gathered.
func (m *Machine) addOutput(d *liveState, child ref) {
	switch all := d.gathered.(type) {
	case []any:
		all[child.frame.index] = m.outputOf(child)
	case map[string]any:
		if _, there := all[m.memberName(child)]; there { // the other cases of a switch are not
			all[m.memberName(child)] = m.outputOf(child)
		}
	}
}

// gatherOutputs makes the output of a group or a for_each: by child name, by index, or by key; null where there is none.
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

// outputOf is the output of a node that has ended: also the one that a failed node degraded to.
func (m *Machine) outputOf(r ref) value.Value {
	if s := m.state(r); s.status.Terminal() && s.liveState != nil {
		return s.output
	}
	return nil
}

// endUnreleased ends the children of a group that ended before they were let go.
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
