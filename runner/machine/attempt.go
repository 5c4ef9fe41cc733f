package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
)

// attempt is an attempt that has started and has no answer yet.
type attempt struct {
	ref
	gate       int
	request    *event.Attempt
	child      *event.StartChild // set instead of request
	since      event.Time
	cancelled  bool
	now        bool         // the child was cancelled with Now
	expired    *event.Error // why the child was cancelled
	granted    bool         // the host granted it, and its refusal has not come yet
	next, prev *attempt
}

// liveList finds live attempts by ticket, children by their ids, and walks all of them in the
// order of their starts.
type liveList struct {
	by          map[uint64]*attempt
	children    map[string]*attempt
	first, last *attempt
}

func (l *liveList) add(a *attempt) {
	if a.child != nil {
		l.children[a.child.Run] = a
	} else {
		l.by[a.request.Ticket] = a
	}
	if a.prev = l.last; a.prev == nil {
		l.first = a
	} else {
		a.prev.next = a
	}
	l.last = a
}

func (l *liveList) remove(a *attempt) {
	if a.child != nil {
		delete(l.children, a.child.Run)
	} else {
		delete(l.by, a.request.Ticket)
	}
	if a.prev == nil {
		l.first = a.next
	} else {
		a.prev.next = a.next
	}
	if a.next == nil {
		l.last = a.prev
	} else {
		a.next.prev = a.prev
	}
}

// snapshot lists the live attempts, so that the caller can walk them while the list changes.
func (l *liveList) snapshot() (list []*attempt) {
	for a := l.first; a != nil; a = a.next {
		list = append(list, a)
	}
	return list
}

// startAttempt composes and starts an attempt that has its slots.
func (m *Machine) startAttempt(w slotRequest) {
	if m.isCall(w) {
		m.startChild(w.ref)
		return
	}
	s, d := m.state(w.ref), m.liveState(w.ref)
	refused := uint64(0)
	if w.gate == work {
		refused = d.beginAdmitted()
		d.attempts++
		if g := m.agentOf(w.ref); g != nil {
			d.agent = g.Name
		}
	}
	request, err := m.composeAttempt(w)
	if err != nil {
		m.returnSlots(w.ref, w.gate)
		if w.gate == work {
			if refused != 0 {
				m.withdrawRefused(w.ref, refused)
			}
			m.startParents(w.ref)
			m.failNode(w.ref, err)
		} else {
			m.recordVerdict(w.ref, w.gate, false, err.Message)
			m.runGates(w.ref, w.gate+1)
		}
		return
	}
	m.tickets++
	request.Ticket = m.tickets
	m.noteCompensation(w.ref)
	if w.gate == work {
		m.moveNode(w.ref, event.Running, m.whyStarted(w.ref))
	}
	a := &attempt{ref: w.ref, gate: w.gate, request: request, since: m.now}
	d.live = a
	m.live.add(a)
	m.addCommand(event.Command{Start: request})
	assert(!s.status.Terminal(), "%s starts after its end", d.path)
}

func (m *Machine) whyStarted(r ref) string {
	if x := m.liveState(r).cold; x != nil && x.silent > 0 {
		return fmt.Sprintf("it fell silent, and starts again (%d of %d)", x.silent, MaxSilences-1)
	}
	if n := m.node(r); n.When != nil && m.liveState(r).attempts == 1 && !m.isIteration(r) {
		return "its condition holds: " + n.When.Text
	}
	return ""
}

// attemptFinished records an answer. A late or second answer finds no live attempt and changes
// nothing.
func (m *Machine) attemptFinished(f *event.AttemptFinished) {
	a := m.live.by[f.Ticket]
	if a == nil || a.request.Node != f.Node {
		return
	}
	m.live.remove(a)
	s := m.state(a.ref)
	d := s.liveState
	d.live = nil
	if a.gate == undone {
		m.compensationFinished(a, f)
		return
	}
	if !s.status.Terminal() && m.isRefused(a, f) {
		m.waitForAdmission(a, f)
		return
	}
	m.returnSlots(a.ref, a.gate)
	if s.status.Terminal() {
		return
	}
	if a.cancelled && (f.Outcome != event.OK || len(m.node(a.ref).Gates) > 0) {
		m.endCancelled(a.ref)
		return
	}
	if f.Outcome == event.Lost && !m.isHalted(a.ref) && !m.failsIfLost(a) && m.mayRepeatSilent(a) { // the same attempt again
		m.queueForSlots(a.ref, a.gate)
		return
	}
	if a.gate != work {
		m.gateFinished(a, f)
		return
	}
	if f.StartedAt != 0 && d.attempts == 1 {
		d.started = f.StartedAt
	}
	m.takeResult(a.ref, f)
	switch f.Outcome {
	case event.OK:
	case event.Lost:
		m.failAttempt(a.ref, lostError("it fell silent"))
		return
	case event.Failed, event.Refused:
		m.failAttempt(a.ref, failureError(f))
		return
	default:
		assert(false, "the attempt of %s has the unknown outcome %q, which Step refuses", d.path, f.Outcome)
	}
	output, err := compose.ParseOutput(m.node(a.ref).Action, f)
	if err != nil {
		m.failAttempt(a.ref, err)
		return
	}
	d.output = output
	m.deliverOutput(a.ref)
}

// mayRepeatSilent reports whether the machine may repeat an attempt that fell silent without
// counting it.
func (m *Machine) mayRepeatSilent(a *attempt) bool {
	if a.gate != work {
		return true
	}
	d, x := m.liveState(a.ref), m.coldState(a.ref)
	if x.silent++; x.silent == MaxSilences {
		x.silent = 0
		return false
	}
	d.attempts--
	return true
}

// takeResult stores the result of an attempt: the exit code, bounded streams and recalled
// memories.
func (m *Machine) takeResult(r ref, f *event.AttemptFinished) {
	d := m.liveState(r)
	d.output, d.exit = nil, -1
	if d.cold != nil {
		d.cold.silent = 0
	}
	if f.ExitCode != nil {
		d.exit = *f.ExitCode
	}
	if d.cold != nil || len(f.Recalled) > 0 {
		m.coldState(r).recalled = f.Recalled
	}
	if f.Warning != "" {
		m.showNote(r, event.Warned, f.Warning, nil)
	}
	d.streams = streams{compose.Bound(f.Stdout, MaxStream), compose.Bound(f.Stderr, MaxStream), f.StdoutLog, f.StderrLog}
}

func failureError(f *event.AttemptFinished) *event.Error {
	if f.Error == nil {
		return &event.Error{Kind: event.Transient, Reason: reasonOf(f.Outcome), Message: "the attempt ended without a reason", ExitCode: -1}
	}
	e := *f.Error
	if e.Reason == "" { // error.reason is never empty
		e.Reason = reasonOf(f.Outcome)
	}
	return &e
}

// reasonOf returns the reason of an error if the executor gave none.
func reasonOf(o event.Outcome) event.Reason {
	if o == event.Lost {
		return event.ReasonLost
	}
	return event.ReasonUnexplained
}
