package machine

import (
	"github.com/flowrun/flowrun/runner/event"
)

// attempt is one that was asked for and has not been answered.
type attempt struct {
	ref
	gate       int
	request    *event.Attempt
	cancelled  bool
	next, prev *attempt
}

// liveList finds live attempts by ticket and walks them in the order of their starts.
type liveList struct {
	by          map[uint64]*attempt
	first, last *attempt
}

func (l *liveList) add(a *attempt) {
	l.by[a.request.Ticket] = a
	if a.prev = l.last; a.prev == nil {
		l.first = a
	} else {
		a.prev.next = a
	}
	l.last = a
}

func (l *liveList) remove(a *attempt) {
	delete(l.by, a.request.Ticket)
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

// begin starts an attempt whose slots are taken: everything that it needs is computed now.
func (m *Machine) begin(w want) {
	s, d := m.state(w.ref), m.detail(w.ref)
	if w.gate == work {
		d.attempts++
	}
	request, err := m.request(w)
	if err != nil {
		m.giveBack(w.ref, w.gate)
		if w.gate == work {
			m.startParents(w.ref)
			m.fail(w.ref, err)
		} else {
			m.verdict(w.ref, w.gate, false, err.Message)
			m.judge(w.ref, w.gate+1)
		}
		return
	}
	m.tickets++
	request.Ticket = m.tickets
	if w.gate == work {
		reason := ""
		if n := m.node(w.ref); d.attempts == 1 && n.When != nil {
			reason = "its condition holds: " + n.When.Text
		}
		m.move(w.ref, event.Running, reason)
	}
	a := &attempt{ref: w.ref, gate: w.gate, request: request}
	d.live = a
	m.live.add(a)
	m.command(event.Command{Start: request})
	assert(!s.status.Terminal(), "%s starts after its end", d.path)
}

// attemptFinished takes an answer in. One that comes late or twice finds no live attempt and changes nothing.
func (m *Machine) attemptFinished(f *event.AttemptFinished) {
	a := m.live.by[f.Ticket]
	if a == nil || a.request.Node != f.Node {
		return
	}
	m.live.remove(a)
	s := m.state(a.ref)
	d := s.detail
	d.live = nil
	m.giveBack(a.ref, a.gate)
	if s.status.Terminal() {
		return
	}
	if a.cancelled && (f.Outcome != event.OK || len(m.node(a.ref).Gates) > 0) {
		m.finish(a.ref, event.Cancelled, m.whyCancelled(a.ref))
		return
	}
	if f.Outcome == event.Lost && m.stopping == nil { // it fell silent: the same attempt again
		if a.gate == work {
			d.attempts--
		}
		m.enqueue(a.ref, a.gate)
		return
	}
	if a.gate != work {
		m.gateFinished(a, f)
		return
	}
	if f.StartedAt != 0 && d.attempts == 1 {
		d.started = f.StartedAt
	}
	m.take(a.ref, f)
	if f.Outcome != event.OK {
		m.failed(a.ref, failure(f))
		return
	}
	output, err := m.output(m.node(a.ref), f)
	if err != nil {
		m.failed(a.ref, err)
		return
	}
	d.output = output
	m.deliver(a.ref)
}

// take keeps what an attempt printed, bounded.
func (m *Machine) take(r ref, f *event.AttemptFinished) {
	d := m.detail(r)
	d.output, d.computed, d.exit = nil, false, -1
	if f.ExitCode != nil {
		d.exit = *f.ExitCode
	}
	d.streams = streams{Bound(f.Stdout, MaxStream), Bound(f.Stderr, MaxStream), f.StdoutLog, f.StderrLog}
}

func failure(f *event.AttemptFinished) *event.Error {
	if f.Error == nil {
		return &event.Error{Kind: event.Transient, Reason: string(f.Outcome), Message: "the attempt ended without a reason", ExitCode: -1}
	}
	e := *f.Error
	return &e
}
