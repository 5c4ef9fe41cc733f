package machine

import (
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
)

// The host answers the attempt of a sync step as refused while not all needed parties are ready. The node waits then, and asks again
// with the same key when the host grants the attempt: the parties have met, or another reason is to be shown. It asks a last time when
// its time is over: the host knows whether the parties have met until then. Whoever waits no more leaves the point.

// syncWait is the state of a sync step. It lasts over all attempts of one generation.
type syncWait struct {
	key     string     // the idempotency key, once it has asked
	last    uint64     // the ticket of its last attempt
	ticket  uint64     // of the refused attempt; 0 while an attempt is live
	until   event.Time // 0: nothing bounds the wait
	expired bool       // the time is over
	waits   bool       // from the refusal of an attempt to the next one
}

// startSync starts a sync step.
func (m *Machine) startSync(r ref) {
	x := m.coldState(r)
	x.sync = &syncWait{}
	if y := m.node(r).Action.(*ir.Sync); y.Timeout != nil {
		var err error
		if x.sync.until, err = m.evalDue(y.Timeout, m.newScope(r)); err != nil {
			x.sync = nil
			m.liveState(r).attempts = 1
			m.failNode(r, compose.EvaluationError("timeout", err))
			return
		}
	}
	m.queueAttempt(r)
}

// waitAtPoint has a node wait whose attempt was refused, and reports whether it does. A node that ends leaves the point.
func (m *Machine) waitAtPoint(a *attempt, f *event.AttemptFinished) bool {
	if f.Outcome != event.Refused || a.request == nil || a.request.Store == nil || a.request.Store.Sync == nil {
		return false
	}
	s, d := m.state(a.ref), m.liveState(a.ref)
	if s.status.Terminal() {
		m.leavePoint(a)
		return false
	}
	if a.cancelled || m.isHalted(a.ref) {
		return false
	}
	d.attempts--
	m.forgetCompensation(a.ref)
	x := d.cold.sync
	x.ticket, x.waits = a.request.Ticket, true
	reason := string(event.ReasonSync)
	if f.Error != nil {
		reason = f.Error.Message
	}
	n, from := m.node(a.ref), s.status
	s.status = event.Waiting
	m.showTransition(event.Transition{Node: d.path, From: from, To: event.Waiting, Attempt: d.attempts, Reason: reason, Name: n.Name,
		Kind: string(n.Kind), WaitsFor: &event.WaitsFor{Kind: event.WaitSync, Name: a.request.Store.Sync.Point, Until: x.until}})
	if a.granted { // the grant came before the refusal
		m.askPointAgain(a.ref)
		return true
	}
	if m.meeting == nil {
		m.meeting = map[uint64]ref{}
	}
	m.meeting[x.ticket] = a.ref
	if x.until != 0 && !x.expired {
		m.setTimer(a.ref, x.until, event.TimerRefused)
	}
	return true
}

// askPointAgain makes the attempt of a waiting node once more.
func (m *Machine) askPointAgain(r ref) {
	d := m.liveState(r)
	delete(m.meeting, d.cold.sync.ticket)
	d.cold.sync.ticket = 0
	m.cancelWorkTimer(d)
	m.queueAttempt(r)
}

// waitsAtPoint reports whether a node has asked already, and only learns what has become of its point.
func (m *Machine) waitsAtPoint(r ref) bool {
	x := m.liveState(r).cold
	return x != nil && x.sync != nil && x.sync.waits
}

// expirePoint asks a last time.
func (m *Machine) expirePoint(r ref) {
	m.liveState(r).cold.sync.expired = true
	m.askPointAgain(r)
}

// askAllPointsAgain asks for all waiting nodes: their grants name tickets that the new driver does not know.
func (m *Machine) askAllPointsAgain() {
	for _, ticket := range slices.Sorted(maps.Keys(m.meeting)) {
		m.askPointAgain(m.meeting[ticket])
	}
}

// prepareSync completes the request of a sync step.
func (m *Machine) prepareSync(r ref, request *event.Attempt) {
	if request.Store == nil || request.Store.Sync == nil {
		return
	}
	x := m.liveState(r).cold.sync
	x.waits = false
	x.key, x.last, request.Store.Sync.Expired = request.Key, request.Ticket, x.expired
}

// leavePoint has a live attempt, or one that was refused, leave its sync point.
func (m *Machine) leavePoint(a *attempt) {
	m.addCommand(event.Command{Cancel: &event.CancelAttempt{Ticket: a.request.Ticket, Node: a.request.Node, Leaves: a.request.Key, Reason: leftLine}})
}

// leavesOf is the key of an attempt at a sync step, and "" for other attempts.
func leavesOf(a *event.Attempt) string {
	if a.Store == nil || a.Store.Sync == nil {
		return ""
	}
	return a.Key
}

// endSync ends the wait of a node that ends. One that did not succeed leaves the point.
func (m *Machine) endSync(r ref, status event.Status) {
	d := m.liveState(r)
	if d.cold == nil || d.cold.sync == nil {
		return
	}
	x := d.cold.sync
	d.cold.sync = nil
	delete(m.meeting, x.ticket)
	if status == event.Succeeded || x.key == "" {
		return
	}
	m.addCommand(event.Command{Cancel: &event.CancelAttempt{Ticket: x.last, Node: d.path, Leaves: x.key, Reason: leftLine}})
}
