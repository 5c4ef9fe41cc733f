package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// phaseStop is the reason for ending a phase early.
type phaseStop struct {
	status event.Status
	err    *event.Error
	reason string
	limit  bool // by its own timeout or a cancel
	yields bool // an earlier failure counts instead
}

// cancelRun cancels the run: no node starts, live attempts are cancelled, and after the last
// answer compensations and finally run. A second cancel waits for nothing. A first cancel during
// compensations or finally changes nothing.
func (m *Machine) cancelRun(x *event.External) {
	if m.cancels++; m.cancels > 1 {
		m.abandonRun()
		return
	}
	if m.phase != working {
		return
	}
	reason := x.Reason
	if reason == "" {
		reason = "the run was cancelled"
	}
	m.stopPhase(&phaseStop{status: event.Cancelled, limit: true, reason: reason, err: cancelledError(reason)})
}

func cancelledError(reason string) *event.Error {
	return &event.Error{Kind: event.Fatal, Reason: event.ReasonCancelled, Message: reason, ExitCode: -1}
}

// timeOutRun ends the run or finally after its timeout.
func (m *Machine) timeOutRun(t timer) {
	m.runTimer = 0
	what, since := "the run", m.started
	if t.purpose == event.TimerFinally {
		what, since = "finally", m.closedAt
	}
	message := m.reason(timedOut, what, t.elapsedSince(since))
	m.stopPhase(&phaseStop{status: event.FailedS, limit: t.purpose != event.TimerFinally, reason: message,
		err: &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, Message: message, ExitCode: -1}})
}

// stopFor ends the run after a failure of a node with on_error = "stop".
func (m *Machine) stopFor(r ref, err *event.Error) {
	m.stopPhase(&phaseStop{status: event.FailedS, err: err, reason: fmt.Sprintf("%q failed, which stops the run", m.liveState(r).path)})
}

// runEndStep runs an end step: the step succeeds, and the machine ends all other nodes.
func (m *Machine) runEndStep(r ref) {
	e, d := m.node(r).Action.(*ir.End), m.liveState(r)
	d.attempts = 1
	m.startParents(r)
	d.started = m.now
	message := fmt.Sprintf("%q ended the run", d.path)
	if e.Message != nil {
		text, err := m.composer.Text(e.Message, m.newScope(r))
		if err != nil {
			m.failNode(r, compose.EvaluationError("end", err))
			return
		}
		message = text
	}
	m.finishNode(r, event.Succeeded, message)
	s := &phaseStop{status: event.Succeeded, reason: message, yields: true}
	switch e.Status {
	case "", ir.EndSucceeded:
	case ir.EndFailed:
		s.status, s.err = event.FailedS, &event.Error{Kind: event.Blocking, Reason: event.ReasonFail, Message: message, ExitCode: -1, Node: d.path}
	case ir.EndCancelled:
		s.status, s.err, s.limit = event.Cancelled, cancelledError(message), true
	default:
		assert(false, "%s ends the run with the unknown status %q", d.path, e.Status)
	}
	m.stopPhase(s)
}

// stopPhase ends the nodes of this phase. The first reason counts.
func (m *Machine) stopPhase(s *phaseStop) {
	if m.stopping != nil {
		return
	}
	m.stopping = s
	m.cancelPhase()
}

// cancelPhase ends all nodes of this phase.
func (m *Machine) cancelPhase() {
	m.agenda.push(task{do: doCancelChildren, ref: ref{m.root, plan.None}, reason: m.whyStopped(), hard: !m.sparesAlways()})
	m.cancelRules()
	for _, r := range m.strays {
		m.agenda.push(task{do: doCancelChildren, ref: r, reason: m.whyStopped(), hard: !m.sparesAlways()})
	}
}

// sparesAlways reports whether a stop spares nodes that run "always". It does not in finally,
// where all nodes would, nor after a second cancel.
func (m *Machine) sparesAlways() bool { return m.phase == working && !m.abandoned }

// isHalted reports whether a stop keeps a node from starting anything.
func (m *Machine) isHalted(r ref) bool {
	return m.abandoned || m.stopping != nil && !(m.node(r).Always && m.sparesAlways())
}

// abandonRun ends the run at once: it forgets all live attempts and runs neither compensations nor
// finally. It only waits for children, which it cancels in the same way; a third cancel forgets
// them too.
func (m *Machine) abandonRun() {
	m.abandoned = true
	m.dropNotices()
	if m.phase == undoing {
		m.leaveHoldUndone()
		for _, a := range m.live.snapshot() {
			m.loseCompensation(a, cancelledError(abandoned))
		}
		return
	}
	if m.stopping == nil {
		m.stopping = &phaseStop{status: event.Cancelled, limit: true, err: cancelledError(abandoned)}
	}
	m.cancelPhase()
}

// leaveHoldUndone lets no compensation wait for the hold of the run any more.
func (m *Machine) leaveHoldUndone() {
	if m.hold == nil {
		return
	}
	for _, w := range m.hold.waiting {
		if w.gate == undone && m.delayedAttempt(w.ref) == nil { // it has not begun
			m.toUndo = append(m.toUndo, w.ref)
			m.agenda.push(task{do: doEnd})
		}
	}
	m.hold.waiting = nil
}

const abandoned = "a second cancel did not wait for it"

// failAfterChildren ends the children of a group and then fails the group with err.
func (m *Machine) failAfterChildren(r ref, err *event.Error) {
	s, d := m.state(r), m.liveState(r)
	if s.status.Terminal() || d.endError != nil {
		return
	}
	d.endError = err
	m.agenda.push(task{do: doCancelChildren, ref: r, reason: fmt.Sprintf("%q is ending: %s", m.node(r).Name, err.Message), hard: true})
}

// cancelSubtree ends one node and its children. A live attempt is cancelled first, and its answer
// ends the node.
func (m *Machine) cancelSubtree(t task) {
	s := m.state(t.ref)
	if s.status.Terminal() || m.node(t.ref).Always && !t.hard {
		return
	}
	d := m.liveState(t.ref)
	switch {
	case d.live != nil && m.abandoned && (d.live.child == nil || m.cancels > 2):
		m.dropAttempt(d.live)
		m.finishNode(t.ref, event.Cancelled, t.reason)
	case d.live != nil:
		m.askToEnd(d.live, t.reason)
	case s.open && d.ends && d.tally.failed > d.tally.tolerated && m.behaviour[ir.EndedGroupsCollect]: // it fails with its children
	case s.open && d.remaining > 0 && (d.join == nil || !d.join.detached):
		if never := m.dropUnmade(d); never > 0 { // the remaining instances are never made
			if d.tally.cancelled += int32(never); d.remaining == 0 {
				m.collectLater(t.ref)
			}
		}
		m.agenda.push(task{do: doCancelChildren, ref: t.ref, reason: t.reason, hard: t.hard})
	default:
		status, reason := m.unstartedEnd(t.ref, t.reason)
		m.finishNode(t.ref, status, reason)
	}
}

// askToEnd cancels a live attempt or child once, and a child a second time after a second cancel
// of the run.
func (m *Machine) askToEnd(a *attempt, reason string) {
	if a.cancelled && (a.child == nil || a.now == m.abandoned) {
		return
	}
	if a.person {
		m.dropAttempt(a)
		m.endCancelled(a.ref)
		return
	}
	if a.delayed { // this driver does not know it
		m.forgetDelayed(a.ref)
		if a.child == nil {
			m.dropAttempt(a)
			m.endCancelled(a.ref)
			return
		}
		a.delayed = false
		if a.free && a.gate == work { // it is live until its end, and counts
			a.free = false
			var buf [8]*slotLimiter
			for _, l := range m.groupLimiters(buf[:0], a.ref) {
				m.slots.Take(l)
			}
		}
		if h := m.holdOf(a.ref); h != nil && h.slots { // the call ends without it, and keeps the slots until then
			h.slots = false
			m.releaseHold(a.ref)
		}
		m.addCommand(event.Command{StartChild: a.child})
	}
	a.cancelled, a.now = true, m.abandoned
	if a.child == nil {
		m.addCommand(event.Command{Cancel: &event.CancelAttempt{Ticket: a.request.Ticket, Node: a.request.Node, Reason: reason, Leaves: leavesOf(a.request)}})
		return
	}
	m.addCommand(event.Command{CancelChild: &event.CancelChild{Run: a.child.Run, Node: a.child.Node, Now: a.now, Reason: reason}})
}

// cancelChildren cancels the next child or instance, one per task.
func (m *Machine) cancelChildren(t task) {
	child, ok := m.childAt(t.ref, t.cursor)
	if !ok {
		return
	}
	m.agenda.push(task{do: doCancel, ref: child, reason: t.reason, hard: t.hard})
	t.cursor++
	m.agenda.push(t)
}

// endCancelled ends a node after its cancelled attempt has ended or was dropped.
func (m *Machine) endCancelled(r ref) {
	if m.liveState(r).endError != nil {
		m.endEarly(r)
		return
	}
	m.finishNode(r, event.Cancelled, m.whyCancelled(r))
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

// childAt returns the child of r at a position: a child, an instance, or the current iteration.
func (m *Machine) childAt(r ref, at int) (ref, bool) {
	switch {
	case r.node != plan.None && m.isCollector(r):
		if frames := m.liveState(r).frames; at < len(frames) {
			return ref{frames[at], r.node}, true
		}
	case r.node != plan.None && m.isRepeater(r):
		if l := m.liveState(r).loop; l != nil && l.frame != nil && at == 0 {
			return ref{l.frame, r.node}, true
		}
	default:
		if below := m.childrenOf(r); at < len(below) {
			return ref{r.frame, below[at]}, true
		}
	}
	return ref{}, false
}

// whyCancelled returns the reason for a cancel from outside the node.
func (m *Machine) whyCancelled(r ref) string {
	if m.abandoned || m.stopping != nil {
		return m.whyStopped()
	}
	for p := m.parent(r); p.node != plan.None; p = m.parent(p) {
		switch d := m.liveState(p); {
		case d.endError != nil:
			return fmt.Sprintf("%q is ending: %s", m.node(p).Name, d.endError.Message)
		case d.join != nil && d.join.detached && m.behaviour[ir.CancelsReachDetached]:
		case d.join != nil && d.join.decided:
			return fmt.Sprintf("%q does not need it any more", m.node(p).Name)
		}
	}
	return "cancelled"
}
