package machine

import (
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// setTimer asks for a wake-up. A node (or the run) has at most one timer of each purpose at a time.
func (m *Machine) setTimer(r ref, due event.Time, why string) {
	m.timerSeq++
	m.timers[m.timerSeq] = timer{r, why}
	if r.node == plan.None {
		m.runTimer = m.timerSeq
	} else {
		m.detail(r).timer = m.timerSeq
	}
	m.command(event.Command{SetTimer: &event.SetTimer{Timer: m.timerSeq, Node: m.path(r), Due: due, Why: why}})
}

type timer struct {
	ref
	why string
}

func (m *Machine) cancelTimer(d *detail) {
	if d.timer != 0 {
		delete(m.timers, d.timer)
		m.command(event.Command{CancelTimer: &event.CancelTimer{Timer: d.timer}})
		d.timer = 0
	}
}

// timerFired goes on where a node waited. A timer that was cancelled is not known any more and changes nothing.
func (m *Machine) timerFired(f *event.TimerFired) {
	t, ok := m.timers[f.Timer]
	if !ok {
		return
	}
	delete(m.timers, f.Timer)
	if t.node == plan.None {
		m.timeout()
		return
	}
	d := m.detail(t.ref)
	d.timer = 0
	switch t.why {
	case "wait":
		m.deliver(t.ref)
	case "backoff":
		m.enqueue(t.ref, work)
	case "timeout":
		m.doom(t.ref, &event.Error{Kind: event.Transient, Reason: "timeout", ExitCode: -1,
			Message: "it did not end within " + time.Duration(m.now-d.started).Round(time.Millisecond).String()})
	}
}
