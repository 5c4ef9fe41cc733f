package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/runner/event"
)

// MaxIterations bounds one repeat.
const MaxIterations = 10_000

// looping is where a repeat stands. The frame at hand keeps the one before it, and no others are kept.
type looping struct {
	max    int
	count  int // iterations begun
	frame  *frame
	winner string // of the last iteration
}

func (b *body) iterations() int {
	if b.loop == nil {
		return 0
	}
	return b.loop.count
}

// loop begins a repeat.
func (m *Machine) loop(r ref) {
	most, err := m.number(&m.node(r).Repeat.Max, m.scope(r), 0, MaxIterations)
	if err != nil {
		m.fail(r, evaluation("repeat.max", err))
		return
	}
	if !m.bound(r) {
		return
	}
	s := m.state(r)
	s.open = true
	m.detail(r).loop = &looping{max: most}
	m.agenda.push(task{do: doIterate, ref: r})
}

// iterate makes the next iteration.
func (m *Machine) iterate(r ref) {
	s := m.state(r)
	if s.status.Terminal() {
		return
	}
	l := s.loop
	l.count++
	if l.frame != nil {
		l.frame.last = nil
	}
	f := m.newFrame(&frame{region: m.node(r).Loop, up: r.frame, iteration: l.count, last: l.frame})
	l.frame = f
	s.remaining, s.tally, s.cause = 1, tally{}, cause{}
	if s.status == event.Waiting {
		m.move(r, event.Running, "")
	}
	m.arrived(ref{f, r.node}, released)
}

// iterated decides after an iteration whether another follows. What was cancelled or blocked would be so again.
func (m *Machine) iterated(r ref) {
	d := m.state(r).detail
	l, n := d.loop, m.node(r)
	last, why := ref{l.frame, r.node}, d.cause
	d.cause = cause{} // it counts where this iteration is the last, and is what the node fails of
	status := m.state(last).status
	switch {
	case status == event.Cancelled || status == event.Blocked:
		m.finish(r, status, fmt.Sprintf("iteration %d %s", l.count, verb(status)))
		return
	case m.halted(r):
		m.lastOf(r, last, why)
		return
	case n.Repeat.Until == nil:
		if status == event.FailedS || l.count == l.max {
			m.lastOf(r, last, why)
			return
		}
	default:
		sc := m.scope(last)
		sc.mode = ended
		holds, err := m.holds(n.Repeat.Until, sc)
		switch {
		case err != nil:
			of := m.state(last).detail
			m.inherit(d, of)
			e := evaluation("until", err)
			if status == event.FailedS {
				e.Message += fmt.Sprintf("; iteration %d failed: %s", l.count, of.err.Message)
			}
			m.fail(r, e)
			return
		case holds:
			m.lastOf(r, last, why)
			return
		case l.count == l.max:
			m.inherit(d, m.state(last).detail)
			m.fail(r, &event.Error{Kind: event.Recoverable, Reason: event.ReasonLimit, ExitCode: -1,
				Message: fmt.Sprintf("after %d iterations its until does not hold: %s", l.count, m.reading(n.Repeat.Until, sc))})
			return
		}
	}
	m.another(r)
}

// lastOf ends a repeat as its last iteration ended.
func (m *Machine) lastOf(r, last ref, why cause) {
	d, from := m.detail(r), m.state(last)
	m.inherit(d, from.detail)
	d.err, d.output, d.cause = from.err, from.output, why
	m.finish(r, from.status, "")
}

// inherit gives a repeat what its last iteration did.
func (m *Machine) inherit(d, from *detail) {
	d.exit, d.streams, d.attempts, d.agent = from.exit, from.streams, from.attempts, from.agent
	if from.body != nil {
		d.loop.winner = from.winner()
	}
}

// another waits as long as the file says and makes another iteration.
func (m *Machine) another(r ref) {
	delay := m.node(r).Repeat.Delay
	if delay == nil {
		m.agenda.push(task{do: doIterate, ref: r})
		return
	}
	due, err := m.due(delay, m.scope(ref{m.state(r).loop.frame, r.node}))
	if err != nil {
		m.fail(r, evaluation("repeat.delay", err))
		return
	}
	m.move(r, event.Waiting, fmt.Sprintf("iteration %d starts at %s", m.state(r).loop.count+1, due))
	m.setTimer(r, due, event.TimerRepeat)
}
