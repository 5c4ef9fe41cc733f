package machine

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// startWait sets a wait step's timer. The step ends at once if the moment has passed.
func (m *Machine) startWait(r ref) {
	d := m.liveState(r)
	d.attempts = 1
	due, err := m.evalWaitEnd(m.node(r).Action.(*ir.Wait), m.newScope(r))
	if err != nil {
		m.failNode(r, evaluationError("wait", err))
		return
	}
	if due <= m.now {
		m.startParents(r)
		d.started = m.now
		m.deliverOutput(r)
		return
	}
	m.moveNode(r, event.Waiting, "until "+due.String())
	m.setTimer(r, due, event.TimerWait)
}

// evalWaitEnd evaluates the end of a wait.
func (m *Machine) evalWaitEnd(w *ir.Wait, sc *scope) (event.Time, error) {
	if w.At == nil {
		return m.evalDue(w.Duration, sc)
	}
	text, err := m.evalText(w.At, sc)
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
