package machine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
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
	if h := m.holdOf(t.ref); h != nil && h.timer == f.Timer {
		h.timer = 0
		m.askHold(h)
		return
	}
	if t.node == plan.None && t.purpose != event.TimerAdapt {
		m.timeOutRun(t)
		return
	}
	var d *liveState
	if t.node != plan.None {
		d = m.liveState(t.ref)
	}
	switch t.purpose {
	case event.TimerIdle, event.TimerHeartbeat: // those of loops
	case event.TimerAdapt:
		m.ruleTimerFired(f.Timer)
	case event.TimerDeadline:
		m.expireDeadline(t.ref)
	case event.TimerProgress:
		m.showProgress(t.ref)
	case event.TimerWait:
		d.timer = 0
		if d.cold != nil && d.cold.waits != nil {
			m.expireEventWait(t.ref, t)
			return
		}
		if d.cold != nil && d.cold.asking != nil {
			a := d.cold.asking
			overdueAsks[a.Kind](m, t.ref, a)
			return
		}
		m.deliverOutput(t.ref)
	case event.TimerBackoff:
		d.timer = 0
		m.queueAttempt(t.ref)
	case event.TimerRefused:
		d.timer = 0
		switch {
		case d.cold.sync != nil:
			m.expirePoint(t.ref)
		case d.cold.refusal.turn:
			m.takeTurn(t.ref)
		default:
			m.askAgain(d.cold.refusal.ticket, t.ref)
		}
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
			Message: m.reason(timedOut, "it", t.elapsedSince(d.started))})
	case event.TimerFinally:
		assert(false, "the timer of finally belongs to %s", d.path)
	default:
		assert(false, "a timer of %s has the unknown purpose %q, which Step refuses", d.path, t.purpose)
	}
}

// deadline is the latest end of a node, over all its attempts and waits.
type deadline struct {
	since    event.Time
	after    time.Duration
	passed   float64 // the percentage of the next progress timer
	timer    uint64
	progress uint64
}

// partOf is how long a percentage of the deadline takes.
func (l *deadline) partOf(percent float64) time.Duration {
	return time.Duration(float64(l.after) * percent / 100)
}

// setDeadline sets a node's deadline at its release. It fails the node and returns false if the
// deadline cannot be evaluated.
func (m *Machine) setDeadline(r ref) bool {
	n := m.node(r)
	if n.Deadline == nil || m.reusedEnd(r) != nil {
		return true
	}
	after, err := m.composer.Duration(&n.Deadline.After, m.newScope(r))
	if err != nil {
		m.failNode(r, compose.EvaluationError("deadline", err))
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
		l.progress = m.newTimer(r, l.since.Add(l.partOf(next)), event.TimerProgress)
	}
}

// showProgress shows that another percentage of a node's deadline has passed.
func (m *Machine) showProgress(r ref) {
	l := m.coldState(r).deadline
	if m.behaviour[ir.DeadlinesCatchUp] {
		if m.now.Sub(l.since) >= l.after { // the deadline has its own message
			l.progress = 0
			return
		}
		for _, p := range m.node(r).Deadline.Progress {
			if p > l.passed && p < 100 && l.since.Add(l.partOf(p)) <= m.now {
				l.passed = p
			}
		}
	}
	left := max(0, l.since.Add(l.after).Sub(m.now)).Round(time.Second / 10)
	words := fmt.Sprintf("%g%% of its deadline has passed, and %s are left", l.passed, left)
	m.showNote(r, event.Progress, words, nil)
	m.sendOfDeadline(r, l.passed, left, words)
	m.askRulesSoon()
	m.watchProgress(r, l)
}

// sendOfDeadline tells people that a part of a node's deadline has passed, or all of it.
func (m *Machine) sendOfDeadline(r ref, percent float64, left time.Duration, words string) {
	text := event.Message{Kind: event.MessageDeadline, Level: "warning", Text: fmt.Sprintf("%s: %s", m.path(r), words),
		Data: map[string]any{"node": m.path(r), "percent": percent, "seconds_left": left.Seconds()}}
	if percent == 100 {
		text.Level = "error"
		text.Error = &event.MessageError{Kind: event.Transient, Reason: event.ReasonDeadline, Message: words}
	} else if a := m.coldState(r).asking; a != nil && m.behaviour[ir.DeadlinesCatchUp] {
		text.Decide = m.answerLine(&a.Ask)
	}
	m.sendMessage(r, m.node(r).Deadline.Notify, fmt.Sprintf("%g%%", percent), text)
}

// expireDeadline fails a node at its deadline. The node is not retried.
func (m *Machine) expireDeadline(r ref) {
	s, d := m.state(r), m.liveState(r)
	d.cold.deadline.timer = 0
	err := &event.Error{Kind: event.Transient, Reason: event.ReasonDeadline, ExitCode: -1,
		Message: fmt.Sprintf("it exceeded its deadline of %s", d.cold.deadline.after)}
	m.sendOfDeadline(r, 100, 0, err.Message)
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

// startWait sets a wait step's timer. The step ends at once if the moment has passed.
func (m *Machine) startWait(r ref) {
	if w := m.node(r).Action.(*ir.Wait); w.Event != "" {
		m.startEventWait(r, w)
		return
	}
	d := m.liveState(r)
	d.attempts++
	due, err := m.evalWaitEnd(m.node(r).Action.(*ir.Wait), m.newScope(r))
	if err != nil {
		m.failPause(r, compose.EvaluationError("wait", err))
		return
	}
	m.noteCompensation(r)
	if due <= m.now {
		m.startParents(r)
		if d.started == 0 {
			d.started = m.now
		}
		m.deliverOutput(r)
		return
	}
	m.moveNode(r, event.Waiting, "until "+due.String())
	m.setTimer(r, due, event.TimerWait)
}

// evalWaitEnd evaluates the end of a wait.
func (m *Machine) evalWaitEnd(w *ir.Wait, sc *compose.Scope) (event.Time, error) {
	if w.At == nil {
		return m.evalDue(w.Duration, sc)
	}
	text, err := m.composer.Text(w.At, sc)
	if err != nil {
		return 0, err
	}
	at, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("a moment such as 2026-01-31T08:00:00Z is needed, but this is %q", text)
	case at.Year() > LastYear:
		return 0, fmt.Errorf("%s lies beyond the year %d", text, LastYear)
	case at.Before(m.now.Go()):
		return m.now, nil
	}
	return event.At(at), nil
}
