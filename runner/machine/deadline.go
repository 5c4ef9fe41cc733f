package machine

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// deadline is when a node must have ended, however often it was tried, and wherever it waited.
type deadline struct {
	since    event.Time
	after    time.Duration
	passed   float64 // the percentage that was told last
	timer    uint64
	progress uint64
}

// setDeadline sets a node's deadline when it is let go, or fails it.
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

// watchProgress sets the timer of the next percentage at which the node says that it still runs.
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

// showProgress tells that another part of a node's time has passed.
func (m *Machine) showProgress(r ref) {
	l := m.coldState(r).deadline
	m.showNote(r, event.Progress, fmt.Sprintf("%g%% of its deadline has passed", l.passed), nil)
	m.watchProgress(r, l)
}

// expireDeadline fails a node whose deadline has come. It is not tried again.
func (m *Machine) expireDeadline(r ref) {
	s, d := m.state(r), m.liveState(r)
	d.cold.deadline.timer = 0
	err := &event.Error{Kind: event.Transient, Reason: event.ReasonDeadline, ExitCode: -1,
		Message: fmt.Sprintf("it did not end within %s of its release", d.cold.deadline.after)}
	switch {
	case d.endError != nil || d.live != nil && d.live.cancelled: // it is ending already
	case d.live != nil:
		d.endError = err
		m.askToEnd(d.live, "its deadline has come")
	case s.open && d.remaining > 0:
		m.failAfterChildren(r, err)
	default:
		m.failNode(r, err)
	}
}
