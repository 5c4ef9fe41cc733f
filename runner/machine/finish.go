package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// failNode ends a node as failed without another attempt.
func (m *Machine) failNode(r ref, err *event.Error) {
	d := m.liveState(r)
	err.Node, err.Attempt = d.path, d.attempts
	d.err = err
	m.finishNode(r, event.FailedS, "")
}

// finishNode gives a node its last status and notifies the nodes that waited for it.
func (m *Machine) finishNode(r ref, status event.Status, reason string) {
	if status == event.FailedS || status == event.Succeeded {
		m.startParents(r)
	}
	s, d, n := m.state(r), m.liveState(r), m.node(r)
	assert(!s.status.Terminal(), "%s ends twice", d.path)
	m.cancelNodeTimers(d)
	m.leaveAdmission(r)
	if status == event.Succeeded {
		d.err = nil
	} else {
		d.output = nil
	}
	var why cause
	if status == event.FailedS {
		if m.tolerateFailure(r); !s.tolerated {
			why = m.causeOf(d)
		}
	}
	from := s.status
	s.status, s.queued = status, false
	if d.started != 0 && d.finished == 0 {
		d.finished = m.now
	}
	m.showTransition(event.Transition{Node: d.path, From: from, To: status, Attempt: d.attempts, Reason: reason, Result: m.resultOf(r),
		Name: n.Name, Kind: string(n.Kind)})
	if !s.open && len(n.Below) > 0 && m.isInner(r) {
		m.agenda.push(task{do: doEndUnreleased, ref: r, status: status, reason: fmt.Sprintf("%q %s", n.Name, statusPhrase(status))})
	}
	waiters := d.waiters
	if n.Region == r.frame.region {
		m.notifyWaiters(r, s)
	}
	m.countInParent(r, s, why)
	if status == event.FailedS && !s.tolerated && n.OnError == ir.OnErrorStop && !m.isIteration(r) && d.reusedEnd() == nil {
		m.stopAround(r, waiters, why)
	}
}

// notifyWaiters notifies the nodes that wait for a node, in its own frame and in inner frames.
func (m *Machine) notifyWaiters(r ref, s *state) {
	for _, a := range m.node(r).Awaited {
		m.noteDependency(ref{r.frame, a.Node}, dependencyEnd{r.node, a.Needs, s.status, s.tolerated})
	}
	for _, w := range s.waiters {
		m.noteDependency(w.ref, dependencyEnd{r.node, w.needs, s.status, s.tolerated})
	}
	s.waiters = nil
}

// countInParent counts the end of a node in its parent.
func (m *Machine) countInParent(r ref, s *state, why cause) {
	p := m.parent(r)
	if p.node == plan.None {
		m.countTopEnd(s, why)
		return
	}
	ps := m.state(p)
	switch {
	case !ps.open: // the parent ended before the release of its children
		return
	case ps.join != nil && ps.join.detached:
		m.detached--
		m.endEmptyPhase()
		return
	case ps.status.Terminal():
		return
	}
	ps.remaining--
	switch {
	case ps.join == nil || !ps.join.decided:
		ps.tally.countEnd(s.status, s.tolerated, s.path)
		ps.cause.keepFirst(why)
		m.addOutput(ps.liveState, r)
		m.decideJoin(p, r, s)
	case ps.reusedEnd() != nil && s.status != event.Cancelled: // the counts of the earlier run are complete
		ps.tally.countEnd(s.status, s.tolerated, s.path)
	}
	if ps.remaining == 0 {
		m.agenda.push(task{do: doCollect, ref: p})
	}
}
