package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
)

// MaxIterations bounds one repeat.
const MaxIterations = 10_000

// repeatState is the state of a repeat. The current frame keeps the frame before it, and no older
// one.
type repeatState struct {
	max    int
	count  int // iterations begun
	frame  *frame
	winner string // of the last iteration
}

func (b *groupState) iterations() int {
	if b.loop == nil {
		return 0
	}
	return b.loop.count
}

// openRepeat begins a repeat.
func (m *Machine) openRepeat(r ref) {
	most, err := m.composer.Count(&m.node(r).Repeat.Max, m.newScope(r), 0, MaxIterations)
	if err != nil {
		m.failNode(r, compose.EvaluationError("repeat.max", err))
		return
	}
	if !m.ensureNodeLimiter(r) {
		return
	}
	s := m.state(r)
	s.open = true
	m.liveState(r).loop = &repeatState{max: most}
	m.agenda.push(task{do: doIterate, ref: r})
}

// makeIteration makes the next iteration.
func (m *Machine) makeIteration(r ref) {
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
		m.moveNode(r, event.Running, "")
	}
	m.noteDependency(ref{f, r.node}, released)
}

// endIteration decides after an iteration whether another one follows. None follows a cancelled or
// blocked iteration, because the next would end in the same way.
func (m *Machine) endIteration(r ref) {
	d := m.state(r).liveState
	l, n := d.loop, m.node(r)
	last, why := ref{l.frame, r.node}, d.cause
	d.cause = cause{} // only the cause of the last iteration counts
	status := m.state(last).status
	switch {
	case status == event.Cancelled || status == event.Blocked:
		m.finishNode(r, status, fmt.Sprintf("iteration %d %s", l.count, statusPhrase(status)))
		return
	case m.isHalted(r):
		m.finishRepeat(r, last, why)
		return
	case n.Repeat.Until == nil:
		if status == event.FailedS || l.count == l.max {
			m.finishRepeat(r, last, why)
			return
		}
	default:
		sc := m.newScope(last)
		sc.Mode = compose.AfterEnd
		holds, err := m.composer.Condition(n.Repeat.Until, sc)
		switch {
		case err != nil:
			of := m.state(last).liveState
			m.copyIteration(d, of)
			e := compose.EvaluationError("until", err)
			if status == event.FailedS {
				e.Message += fmt.Sprintf("; iteration %d failed: %s", l.count, of.err.Message)
			}
			m.failNode(r, e)
			return
		case holds:
			m.finishRepeat(r, last, why)
			return
		case l.count == l.max:
			m.copyIteration(d, m.state(last).liveState)
			m.failNode(r, &event.Error{Kind: event.Recoverable, Reason: event.ReasonLimit, ExitCode: -1,
				Message: fmt.Sprintf("after %d iterations its until does not hold: %s", l.count, m.composer.ExplainCondition(n.Repeat.Until, sc))})
			return
		}
	}
	m.scheduleIteration(r)
}

// finishRepeat ends a repeat with the end of its last iteration.
func (m *Machine) finishRepeat(r, last ref, why cause) {
	d, from := m.liveState(r), m.state(last)
	m.copyIteration(d, from.liveState)
	d.err, d.output, d.cause = from.err, from.output, why
	m.finishNode(r, from.status, "")
}

// copyIteration copies the result of the last iteration to its repeat.
func (m *Machine) copyIteration(d, from *liveState) {
	d.exit, d.streams, d.attempts, d.agent = from.exit, from.streams, from.attempts, from.agent
	if from.groupState != nil {
		d.loop.winner = from.winnerName()
	}
}

// scheduleIteration makes the next iteration after the delay in the file.
func (m *Machine) scheduleIteration(r ref) {
	delay := m.node(r).Repeat.Delay
	if delay == nil {
		m.agenda.push(task{do: doIterate, ref: r})
		return
	}
	due, err := m.evalDue(delay, m.newScope(ref{m.state(r).loop.frame, r.node}))
	if err != nil {
		m.failNode(r, compose.EvaluationError("repeat.delay", err))
		return
	}
	m.moveNode(r, event.Waiting, fmt.Sprintf("iteration %d starts at %s", m.state(r).loop.count+1, due))
	m.setTimer(r, due, event.TimerRepeat)
}
