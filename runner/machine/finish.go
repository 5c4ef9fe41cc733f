package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// fail ends a node as failed without asking for another attempt.
func (m *Machine) fail(r ref, err *event.Error) {
	d := m.detail(r)
	err.Node, err.Attempt = d.path, d.attempts
	d.err = err
	m.finish(r, event.FailedS, "")
}

// finish gives a node its last status, and tells everything that waited for it.
func (m *Machine) finish(r ref, status event.Status, reason string) {
	if status == event.FailedS || status == event.Succeeded {
		m.startParents(r)
	}
	s, d, n := m.state(r), m.detail(r), m.node(r)
	assert(!s.status.Terminal(), "%s ends twice", d.path)
	m.cancelTimer(d)
	m.leaveAdmission(r)
	if status == event.Succeeded {
		d.err = nil
	} else {
		d.output = nil
	}
	var why cause
	if status == event.FailedS {
		if m.tolerate(r); !s.tolerated {
			why = m.cause(d)
		}
	}
	from := s.status
	s.status, s.queued = status, false
	if d.started != 0 && d.finished == 0 {
		d.finished = m.now
	}
	m.show(event.Transition{Node: d.path, From: from, To: status, Attempt: d.attempts, Reason: reason, Result: m.result(r),
		Name: n.Name, Kind: string(n.Kind)})
	if !s.open && len(n.Below) > 0 && m.inner(r) {
		m.agenda.push(task{do: doCascade, ref: r, status: status, reason: fmt.Sprintf("%q %s", n.Name, verb(status))})
	}
	waiters := d.waiters
	if n.Region == r.frame.region {
		m.tell(r, s)
	}
	m.account(r, s, why)
	if status == event.FailedS && !s.tolerated && n.OnError == ir.OnErrorStop && !m.iteration(r) && d.kept() == nil {
		m.stopAround(r, waiters, why)
	}
}

// tell releases what waits for a node: in its own frame, and in frames further in.
func (m *Machine) tell(r ref, s *state) {
	for _, a := range m.node(r).Awaited {
		m.arrived(ref{r.frame, a.Node}, ending{r.node, a.Needs, s.status, s.tolerated})
	}
	for _, w := range s.waiters {
		m.arrived(w.ref, ending{r.node, w.needs, s.status, s.tolerated})
	}
	s.waiters = nil
}

// account counts an end with whatever the node lies in.
func (m *Machine) account(r ref, s *state, why cause) {
	p := m.parent(r)
	if p.node == plan.None {
		m.topEnded(s, why)
		return
	}
	ps := m.state(p)
	switch {
	case !ps.open: // it ended before it let anything go
		return
	case ps.join != nil && ps.join.detached:
		m.detached--
		m.leftPhase()
		return
	case ps.status.Terminal():
		return
	}
	ps.remaining--
	switch {
	case ps.join == nil || !ps.join.decided:
		ps.tally.count(s.status, s.tolerated, s.path)
		ps.cause.first(why)
		m.addOutput(ps.detail, r)
		m.decide(p, r, s)
	case ps.kept() != nil && s.status != event.Cancelled: // it is known how many counted
		ps.tally.count(s.status, s.tolerated, s.path)
	}
	if ps.remaining == 0 {
		m.agenda.push(task{do: doCollect, ref: p})
	}
}
