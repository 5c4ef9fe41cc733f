package machine

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// pause starts a wait step's timer. A moment that has passed does not wait.
func (m *Machine) pause(r ref) {
	d := m.detail(r)
	d.attempts = 1
	due, err := m.until(m.node(r).Action.(*ir.Wait), m.scope(r))
	if err != nil {
		m.fail(r, evaluation("wait", err))
		return
	}
	if due <= m.now {
		m.startParents(r)
		d.started = m.now
		m.deliver(r)
		return
	}
	m.move(r, event.Waiting, "until "+due.String())
	m.setTimer(r, due, event.TimerWait)
}

// until is when a wait ends.
func (m *Machine) until(w *ir.Wait, sc *scope) (event.Time, error) {
	if w.At == nil {
		return m.due(w.Duration, sc)
	}
	text, err := m.text(w.At, sc)
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
