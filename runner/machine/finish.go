package machine

import (
	"fmt"

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
	from := s.status
	s.status, s.queued = status, false
	if status == event.Succeeded {
		d.err = nil
	} else {
		d.output, d.computed = nil, false
	}
	if status == event.FailedS && m.firstBad == nil {
		m.firstBad = d.err // a run fails of the first thing that went wrong in it, not of what that blocked
	}
	if d.started != 0 {
		d.finished = m.now
	}
	m.show(event.Transition{Node: d.path, From: from, To: status, Attempt: d.attempts, Reason: reason, Result: m.result(r), Name: n.Name, Kind: string(n.Kind)})
	if !s.open && len(n.Below) > 0 && !m.collector(r) {
		m.agenda.push(task{do: doCascade, ref: r, status: status, reason: fmt.Sprintf("%q %s", n.Name, verb(status))})
	}
	if !m.instance(r) {
		m.tell(r, status)
	}
	m.account(r, status)
}

// tell releases what waits for a node: in its own frame, and in frames further in.
func (m *Machine) tell(r ref, status event.Status) {
	for _, a := range m.node(r).Awaited {
		m.arrivedFor(ref{r.frame, a.Node}, r.node, a.Needs, status)
	}
	d := m.detail(r)
	for _, w := range d.waiters {
		m.arrivedFor(w.ref, r.node, w.needs, status)
	}
	d.waiters = nil
}

func (m *Machine) arrivedFor(r ref, node int, needs bool, status event.Status) {
	if !needs {
		status = event.Succeeded // only the end counts
	}
	m.arrived(r, node, status)
}

// account counts an end with whatever the node lies in.
func (m *Machine) account(r ref, status event.Status) {
	p := m.parent(r)
	d := m.detail(r)
	if p.node == plan.None {
		m.topEnded(d.path, status)
		return
	}
	ps := m.state(p)
	if ps.status.Terminal() || !ps.open {
		return
	}
	ps.tally.count(status, d.path)
	if ps.remaining--; ps.remaining == 0 {
		m.agenda.push(task{do: doCollect, ref: p})
	}
}
