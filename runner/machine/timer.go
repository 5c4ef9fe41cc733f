package machine

import (
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// setTimer sets a timer. A node (or the run) has at most one timer of each purpose at a time.
func (m *Machine) setTimer(r ref, due event.Time, purpose event.TimerPurpose) {
	if t := m.newTimer(r, due, purpose); r.node == plan.None {
		m.runTimer = t
	} else {
		m.liveState(r).timer = t
	}
}

func (m *Machine) newTimer(r ref, due event.Time, purpose event.TimerPurpose) uint64 {
	m.timerSeq++
	m.timers[m.timerSeq] = timer{ref: r, purpose: purpose, due: due}
	m.addCommand(event.Command{SetTimer: &event.SetTimer{Timer: m.timerSeq, Node: m.path(r), Due: due, Purpose: purpose}})
	return m.timerSeq
}

type timer struct {
	ref
	purpose event.TimerPurpose
	due     event.Time
	stood   time.Duration // time without a driver since the timer was set
}

// isClock reports whether a timer counts only time with a driver: the timeout of a group, a call,
// the run or finally. Other timers fire at a fixed moment.
func (t timer) isClock() bool {
	return t.purpose == event.TimerTimeout || t.purpose == event.TimerFinally
}

// elapsedSince returns the time from since to the timer's due, without time without a driver. The
// timer may have fired later.
func (t timer) elapsedSince(since event.Time) string { return (t.due.Sub(since) - t.stood).String() }

// shiftClocks sets every clock again, later by the time without a driver.
func (m *Machine) shiftClocks(gap time.Duration) {
	if gap <= 0 {
		return
	}
	for _, n := range slices.Sorted(maps.Keys(m.timers)) {
		t := m.timers[n]
		if !t.isClock() {
			continue
		}
		m.cancelTimer(&n)
		m.setTimer(t.ref, t.due.Add(gap), t.purpose)
		again := m.timers[m.timerSeq]
		again.stood = t.stood + gap
		m.timers[m.timerSeq] = again
	}
}

func (m *Machine) cancelRunTimer() { m.cancelTimer(&m.runTimer) }

// cancelNodeTimers cancels all timers of a node.
func (m *Machine) cancelNodeTimers(d *liveState) {
	m.cancelWorkTimer(d)
	if d.cold != nil && d.cold.deadline != nil {
		m.cancelTimer(&d.cold.deadline.progress)
		m.cancelTimer(&d.cold.deadline.timer)
	}
}

// cancelWorkTimer cancels the timer of the node's present work.
func (m *Machine) cancelWorkTimer(d *liveState) { m.cancelTimer(&d.timer) }

func (m *Machine) cancelTimer(t *uint64) {
	if *t != 0 {
		delete(m.timers, *t)
		m.addCommand(event.Command{CancelTimer: &event.CancelTimer{Timer: *t}})
		*t = 0
	}
}

// timerFired continues the node that set the timer. A cancelled timer is unknown and changes
// nothing.
func (m *Machine) timerFired(f *event.TimerFired) {
	t, ok := m.timers[f.Timer]
	if !ok {
		return
	}
	delete(m.timers, f.Timer)
	if t.node == plan.None {
		m.timeOutRun(t)
		return
	}
	d := m.liveState(t.ref)
	switch t.purpose {
	case event.TimerDeadline:
		m.expireDeadline(t.ref)
	case event.TimerProgress:
		m.showProgress(t.ref)
	case event.TimerWait:
		d.timer = 0
		m.deliverOutput(t.ref)
	case event.TimerBackoff:
		d.timer = 0
		m.queueAttempt(t.ref)
	case event.TimerRefused:
		d.timer = 0
		m.askAgain(d.cold.refusal.ticket, t.ref)
	case event.TimerRepeat:
		d.timer = 0
		m.agenda.push(task{do: doIterate, ref: t.ref})
	case event.TimerTimeout:
		d.timer = 0
		if d.live != nil {
			m.expireChild(d.live, t)
			return
		}
		m.failAfterChildren(t.ref, &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, ExitCode: -1,
			Message: "it did not end within " + t.elapsedSince(d.started)})
	case event.TimerFinally:
		assert(false, "the timer of finally belongs to %s", d.path)
	default:
		assert(false, "a timer of %s has the unknown purpose %q, which Step refuses", d.path, t.purpose)
	}
}
