package machine

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// deadline is the latest end of a node, over all its attempts and waits.
type deadline struct {
	since    event.Time
	after    time.Duration
	passed   float64 // the percentage of the next progress timer
	timer    uint64
	progress uint64
}

// setDeadline sets a node's deadline at its release. It fails the node and returns false if the
// deadline cannot be evaluated.
func (m *Machine) setDeadline(r ref) bool {
	n := m.node(r)
	if n.Deadline == nil || m.reusedEnd(r) != nil {
		return true
	}
	after, err := m.evalDuration(&n.Deadline.After, m.newScope(r))
	if err != nil {
		m.failNode(r, evaluationError("deadline", err))
		return false
	}
	l := &deadline{since: m.now, after: after}
	m.coldState(r).deadline = l
	l.timer = m.newTimer(r, m.now.Add(after), event.TimerDeadline)
	m.watchProgress(r, l)
	return true
}

// watchProgress sets the timer of the next percentage in the deadline's progress list.
func (m *Machine) watchProgress(r ref, l *deadline) {
	next := 100.0
	for _, p := range m.node(r).Deadline.Progress {
		if p > l.passed && p < next {
			next = p
		}
	}
	if l.passed, l.progress = next, 0; next < 100 {
		l.progress = m.newTimer(r, l.since.Add(time.Duration(float64(l.after)*next/100)), event.TimerProgress)
	}
}

// showProgress shows that another percentage of a node's deadline has passed.
func (m *Machine) showProgress(r ref) {
	l := m.coldState(r).deadline
	m.showNote(r, event.Progress, fmt.Sprintf("%g%% of its deadline has passed", l.passed), nil)
	m.watchProgress(r, l)
}

// expireDeadline fails a node at its deadline. The node is not retried.
func (m *Machine) expireDeadline(r ref) {
	s, d := m.state(r), m.liveState(r)
	d.cold.deadline.timer = 0
	err := &event.Error{Kind: event.Transient, Reason: event.ReasonDeadline, ExitCode: -1,
		Message: fmt.Sprintf("it did not end within %s of its release", d.cold.deadline.after)}
	switch {
	case d.endError != nil || d.live != nil && d.live.cancelled: // the node is ending already
	case d.live != nil:
		d.endError = err
		m.askToEnd(d.live, "its deadline has come")
	case s.open && d.remaining > 0:
		m.failAfterChildren(r, err)
	default:
		m.failNode(r, err)
	}
}
