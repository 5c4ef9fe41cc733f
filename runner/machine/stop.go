package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// stop is why a phase of a run is being ended before its nodes are done.
type stop struct {
	status event.Status
	err    *event.Error
	reason string
	limit  bool // by its own timeout or a cancel
	yields bool // to a failure that was there before
}

// cancel ends the run: nothing new starts, live attempts are ended, and when the last of them has answered the run is
// brought to its end with compensations and finally. A second cancel waits for nothing. A first one that comes when the
// run is being brought to its end already changes nothing.
func (m *Machine) cancel(x *event.External) {
	if m.cancels++; m.cancels > 1 {
		m.abandon()
		return
	}
	if m.phase != working {
		return
	}
	reason := x.Reason
	if reason == "" {
		reason = "somebody cancelled the run"
	}
	m.stop(&stop{status: event.Cancelled, limit: true, reason: reason, err: cancelled(reason)})
}

func cancelled(reason string) *event.Error {
	return &event.Error{Kind: event.Fatal, Reason: event.ReasonCancelled, Message: reason, ExitCode: -1}
}

// timeout ends the run because its own time is up, or finally because that one's is.
func (m *Machine) timeout(t timer) {
	m.runTimer = 0
	what, since := "the run", m.started
	if t.purpose == event.TimerFinally {
		what, since = "finally", m.closedAt
	}
	message := what + " did not end within " + t.after(since)
	m.stop(&stop{status: event.FailedS, limit: t.purpose != event.TimerFinally, reason: message,
		err: &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, Message: message, ExitCode: -1}})
}

// stopFor ends the run because a node failed whose on_error is "stop".
func (m *Machine) stopFor(r ref, err *event.Error) {
	m.stop(&stop{status: event.FailedS, err: err, reason: fmt.Sprintf("%q failed, which stops the run", m.detail(r).path)})
}

// endRun does an end step: it succeeds, and all else is ended.
func (m *Machine) endRun(r ref) {
	e, d := m.node(r).Action.(*ir.End), m.detail(r)
	d.attempts = 1
	m.startParents(r)
	d.started = m.now
	message := fmt.Sprintf("%q ended the run", d.path)
	if e.Message != nil {
		text, err := m.text(e.Message, m.scope(r))
		if err != nil {
			m.fail(r, evaluation("end", err))
			return
		}
		message = text
	}
	m.finish(r, event.Succeeded, message)
	s := &stop{status: event.Succeeded, reason: message, yields: true}
	switch e.Status {
	case "", ir.EndSucceeded:
	case ir.EndFailed:
		s.status, s.err = event.FailedS, &event.Error{Kind: event.Blocking, Reason: event.ReasonFail, Message: message, ExitCode: -1, Node: d.path}
	case ir.EndCancelled:
		s.status, s.err, s.limit = event.Cancelled, cancelled(message), true
	default:
		assert(false, "%s ends the run with the unknown status %q", d.path, e.Status)
	}
	m.stop(s)
}

// stop ends what lives in this phase of the run. The first reason is the one that counts.
func (m *Machine) stop(s *stop) {
	if m.stopping != nil {
		return
	}
	m.stopping = s
	m.sweepAll()
}

// sweepAll ends all that lives in this phase.
func (m *Machine) sweepAll() {
	m.agenda.push(task{do: doSweepBelow, ref: ref{m.root, plan.None}, reason: m.whyStopped(), hard: !m.spares()})
	for _, r := range m.strays {
		m.agenda.push(task{do: doSweepBelow, ref: r, reason: m.whyStopped(), hard: !m.spares()})
	}
}

// spares tells that a stop leaves alone what runs "always": not in finally, where everything does, and not for good.
func (m *Machine) spares() bool { return m.phase == working && !m.abandoned }

// halted tells that a stop keeps a node from starting anything.
func (m *Machine) halted(r ref) bool {
	return m.abandoned || m.stopping != nil && !(m.node(r).Always && m.spares())
}

// abandon ends the run at once: all that is in flight is forgotten, and neither compensations nor finally run. Children
// are asked to end as quickly, which is all that is waited for; a third cancel forgets them, too.
func (m *Machine) abandon() {
	m.abandoned = true
	if m.phase == undoing {
		for _, a := range m.live.all() {
			m.undoLost(a, cancelled(abandoned))
		}
		return
	}
	if m.stopping == nil {
		m.stopping = &stop{status: event.Cancelled, limit: true, err: cancelled(abandoned)}
	}
	m.sweepAll()
}

const abandoned = "a second cancel did not wait for it"

// doom ends a group because its time is up or it cannot go on: what lies in it is ended first.
func (m *Machine) doom(r ref, err *event.Error) {
	s, d := m.state(r), m.detail(r)
	if s.status.Terminal() || d.doom != nil {
		return
	}
	d.doom = err
	m.agenda.push(task{do: doSweepBelow, ref: r, reason: fmt.Sprintf("%q is ending: %s", m.node(r).Name, err.Message), hard: true})
}

// sweep ends one node, or begins to: a live attempt is asked to end, and its answer ends the node.
func (m *Machine) sweep(t task) {
	s := m.state(t.ref)
	if s.status.Terminal() || m.node(t.ref).Always && !t.hard {
		return
	}
	d := m.detail(t.ref)
	switch {
	case d.live != nil && m.abandoned && (d.live.child == nil || m.cancels > 2):
		m.drop(d.live)
		m.finish(t.ref, event.Cancelled, t.reason)
	case d.live != nil:
		m.askToEnd(d.live, t.reason)
	case s.open && d.remaining > 0 && (d.join == nil || !d.join.detached):
		if never := m.unmade(d); never > 0 { // instances that were not made yet never will be
			if d.tally.cancelled += int32(never); d.remaining == 0 {
				m.agenda.push(task{do: doCollect, ref: t.ref})
			}
		}
		m.agenda.push(task{do: doSweepBelow, ref: t.ref, reason: t.reason, hard: t.hard})
	default:
		status, reason := m.swept(t.ref, t.reason)
		m.finish(t.ref, status, reason)
	}
}

// askToEnd asks a live attempt or child to end, once; a child once more when nobody waits any longer.
func (m *Machine) askToEnd(a *attempt, reason string) {
	if a.cancelled && (a.child == nil || a.now == m.abandoned) {
		return
	}
	a.cancelled, a.now = true, m.abandoned
	if a.child == nil {
		m.command(event.Command{Cancel: &event.CancelAttempt{Ticket: a.request.Ticket, Node: a.request.Node, Reason: reason}})
		return
	}
	m.command(event.Command{CancelChild: &event.CancelChild{Run: a.child.Run, Node: a.child.Node, Now: a.now, Reason: reason}})
}

// sweepBelow sends the next child or instance to be swept.
func (m *Machine) sweepBelow(t task) {
	child, ok := m.childAt(t.ref, t.cursor)
	if !ok {
		return
	}
	m.agenda.push(task{do: doSweep, ref: child, reason: t.reason, hard: t.hard})
	t.cursor++
	m.agenda.push(t)
}

// cut ends a node whose live attempt was asked to end and has, or has nobody left who could answer.
func (m *Machine) cut(r ref) {
	if doom := m.detail(r).doom; doom != nil {
		m.fail(r, doom)
		return
	}
	m.finish(r, event.Cancelled, m.whyCancelled(r))
}

func (m *Machine) whyStopped() string {
	if m.run.Cancelled != "" {
		return m.run.Cancelled
	}
	if m.abandoned {
		return abandoned
	}
	return m.stopping.reason
}

// childAt is what lies below r at a place: a child, an instance, or the iteration at hand.
func (m *Machine) childAt(r ref, at int) (ref, bool) {
	switch {
	case r.node != plan.None && m.collector(r):
		if frames := m.detail(r).frames; at < len(frames) {
			return ref{frames[at], r.node}, true
		}
	case r.node != plan.None && m.repeater(r):
		if l := m.detail(r).loop; l != nil && l.frame != nil && at == 0 {
			return ref{l.frame, r.node}, true
		}
	default:
		if below := m.below(r); at < len(below) {
			return ref{r.frame, below[at]}, true
		}
	}
	return ref{}, false
}

// whyCancelled says in words what ended an attempt from outside.
func (m *Machine) whyCancelled(r ref) string {
	if m.abandoned || m.stopping != nil {
		return m.whyStopped()
	}
	for p := m.parent(r); p.node != plan.None; p = m.parent(p) {
		switch d := m.detail(p); {
		case d.doom != nil:
			return fmt.Sprintf("%q is ending: %s", m.node(p).Name, d.doom.Message)
		case d.join != nil && d.join.decided:
			return fmt.Sprintf("%q does not need it any more", m.node(p).Name)
		}
	}
	return "cancelled"
}
