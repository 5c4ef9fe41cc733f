package machine

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// stop is why a run is being ended before its nodes are done.
type stop struct {
	status event.Status
	err    *event.Error
	reason string
	limit  bool // by its own timeout or a cancel
}

// cancel ends the run: nothing new starts, live attempts are ended, and the run is over when the last of them has
// answered. A second cancel does not wait for answers.
func (m *Machine) cancel(x *event.External) {
	if m.stopping != nil {
		m.abandon()
		return
	}
	reason := x.Reason
	if reason == "" {
		reason = "somebody cancelled the run"
	}
	m.stop(&stop{status: event.Cancelled, limit: true, reason: reason,
		err: &event.Error{Kind: event.Fatal, Reason: "cancelled", Message: reason, ExitCode: -1}})
}

// timeout ends the run because its own time is up.
func (m *Machine) timeout() {
	m.runTimer = 0
	if m.stopping != nil {
		return
	}
	message := "the run did not end within " + time.Duration(m.now-m.started).Round(time.Millisecond).String()
	m.stop(&stop{status: event.FailedS, limit: true, reason: message,
		err: &event.Error{Kind: event.Transient, Reason: "timeout", Message: message, ExitCode: -1}})
}

func (m *Machine) stop(s *stop) {
	m.stopping = s
	m.agenda.push(task{do: doSweepBelow, ref: ref{m.root, plan.None}, reason: s.reason})
}

// abandon forgets all that is in flight.
func (m *Machine) abandon() {
	for a := m.live.first; a != nil; {
		next := a.next
		m.drop(a)
		if !m.state(a.ref).status.Terminal() {
			m.finish(a.ref, event.Cancelled, "a second cancel did not wait for it")
		}
		a = next
	}
}

// doom ends a group because its time is up or it cannot go on: what lies in it is ended first.
func (m *Machine) doom(r ref, err *event.Error) {
	s, d := m.state(r), m.detail(r)
	if s.status.Terminal() || d.doom != nil {
		return
	}
	d.doom = err
	m.agenda.push(task{do: doSweepBelow, ref: r, reason: fmt.Sprintf("%q is ending: %s", m.node(r).Name, err.Message)})
}

// sweep ends one node, or begins to: a live attempt is asked to end, and its answer ends the node.
func (m *Machine) sweep(t task) {
	s := m.state(t.ref)
	if s.status.Terminal() {
		return
	}
	d := m.detail(t.ref)
	switch {
	case d.live != nil:
		if !d.live.cancelled {
			d.live.cancelled = true
			m.command(event.Command{Cancel: &event.CancelAttempt{Ticket: d.live.request.Ticket, Node: d.path, Reason: t.reason}})
		}
	case s.open && d.remaining > 0:
		if d.frames != nil { // instances that were not made yet never will be
			never := len(d.items) - len(d.frames)
			d.items = d.items[:len(d.frames)]
			d.tally.cancelled += never
			if d.remaining -= never; d.remaining == 0 {
				m.agenda.push(task{do: doCollect, ref: t.ref})
			}
		}
		m.agenda.push(task{do: doSweepBelow, ref: t.ref, reason: t.reason})
	default:
		m.finish(t.ref, event.Cancelled, t.reason)
	}
}

// sweepBelow sends the next child or instance to be swept.
func (m *Machine) sweepBelow(t task) {
	child := ref{t.ref.frame, plan.None}
	if t.ref.node != plan.None && m.node(t.ref).ForEach != nil && !m.instance(t.ref) {
		frames := m.detail(t.ref).frames
		if t.cursor == len(frames) {
			return
		}
		child = ref{frames[t.cursor], t.ref.node}
	} else {
		below := m.below(t.ref)
		if t.cursor == len(below) {
			return
		}
		child.node = below[t.cursor]
	}
	m.agenda.push(task{do: doSweep, ref: child, reason: t.reason})
	t.cursor++
	m.agenda.push(t)
}

// whyCancelled says in words what ended an attempt from outside.
func (m *Machine) whyCancelled(r ref) string {
	if m.stopping != nil {
		return m.stopping.reason
	}
	for p := m.parent(r); p.node != plan.None; p = m.parent(p) {
		if d := m.detail(p); d.doom != nil {
			return fmt.Sprintf("%q is ending: %s", m.node(p).Name, d.doom.Message)
		}
	}
	return "cancelled"
}
