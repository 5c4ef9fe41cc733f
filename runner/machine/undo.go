package machine

import (
	"slices"

	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
)

// undone as a gate number is a node's compensation.
const undone = -2

// noteCompensation records the first attempt of a node with a compensation.
func (m *Machine) noteCompensation(r ref) {
	if m.node(r).Compensate == nil || m.phase != working || m.coldState(r).toUndo {
		return
	}
	m.coldState(r).toUndo = true
	m.toUndo = append(m.toUndo, r)
}

// forgetCompensation removes that record: the attempt was refused, and nothing has begun.
func (m *Machine) forgetCompensation(r ref) {
	if x := m.coldState(r); x.toUndo {
		x.toUndo = false
		m.toUndo = slices.DeleteFunc(m.toUndo, func(u ref) bool { return u == r })
	}
}

// startCompensation starts the next compensation, in the reverse order of first attempts, if the
// run needs one. It reports whether there is one to wait for.
func (m *Machine) startCompensation() bool {
	last := len(m.toUndo) - 1
	if last < 0 || m.final.status == event.Succeeded {
		return false
	}
	r := m.toUndo[last]
	m.toUndo = m.toUndo[:last]
	if m.abandoned {
		m.recordCompensation(r, &event.Result{ExitCode: -1, Error: cancelledError(abandoned)})
		return true
	}
	w := m.describeWork(r)
	w.Scope.Mode = compose.AfterEnd
	request, err := m.composer.Compensation(w)
	if err != nil {
		m.recordCompensation(r, &event.Result{ExitCode: -1, Error: err})
		return true
	}
	m.tickets++
	request.Ticket = m.tickets
	a := &attempt{ref: r, gate: undone, request: request, since: m.now}
	m.state(r).live = a
	m.live.add(a)
	m.showNote(r, event.Compensating, "", nil)
	m.addCommand(event.Command{Start: request})
	return true
}

// compensationFinished records the answer of a compensation. The next compensation follows, even
// after a failure.
func (m *Machine) compensationFinished(a *attempt, f *event.AttemptFinished) {
	res := &event.Result{ExitCode: -1, Stdout: compose.Bound(f.Stdout, MaxStream), Stderr: compose.Bound(f.Stderr, MaxStream),
		StdoutLog: f.StdoutLog, StderrLog: f.StderrLog, StartedAt: f.StartedAt, FinishedAt: m.now}
	if f.ExitCode != nil {
		res.ExitCode = *f.ExitCode
	}
	if f.Outcome != event.OK {
		res.Error = failureError(f)
		res.Error.Node = a.request.Node
	}
	m.recordCompensation(a.ref, res)
}

func (m *Machine) recordCompensation(r ref, res *event.Result) {
	if res.Error != nil {
		m.showNote(r, event.NotCompensated, res.Error.Message, res)
	} else {
		m.showNote(r, event.Compensated, "", res)
	}
	m.agenda.push(task{do: doEnd})
}

// showNote shows an event of a node that keeps its status.
func (m *Machine) showNote(r ref, note event.Note, reason string, res *event.Result) {
	n, s, d := m.node(r), m.state(r), m.liveState(r)
	m.showTransition(event.Transition{Node: d.path, From: s.status, To: s.status, Note: note, Attempt: d.attempts, Reason: reason,
		Result: res, Name: n.Name, Kind: string(n.Kind)})
}

// loseCompensation ends a compensation that will not be answered.
func (m *Machine) loseCompensation(a *attempt, err *event.Error) {
	m.dropAttempt(a)
	m.recordCompensation(a.ref, &event.Result{ExitCode: -1, Error: err, FinishedAt: m.now})
}
