package machine

import (
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// undone as a gate number is a node's compensation.
const undone = -2

// remember notes that a node with a compensation has made its first attempt.
func (m *Machine) remember(r ref) {
	if m.node(r).Compensate == nil || m.phase != working || m.rare(r).toUndo {
		return
	}
	m.rare(r).toUndo = true
	m.toUndo = append(m.toUndo, r)
}

// forgetUndo takes that back: the attempt was refused, and nothing has begun.
func (m *Machine) forgetUndo(r ref) {
	if x := m.rare(r); x.toUndo {
		x.toUndo = false
		m.toUndo = slices.DeleteFunc(m.toUndo, func(u ref) bool { return u == r })
	}
}

// undo starts the compensation of the node that began last, of those that are left, if the run needs any. It tells
// whether there is one to wait for.
func (m *Machine) undo() bool {
	last := len(m.toUndo) - 1
	if last < 0 || m.final.status == event.Succeeded {
		return false
	}
	r := m.toUndo[last]
	m.toUndo = m.toUndo[:last]
	if m.abandoned {
		m.undoneWith(r, &event.Result{ExitCode: -1, Error: cancelled(abandoned)})
		return true
	}
	request, err := m.undoing(r)
	if err != nil {
		m.undoneWith(r, &event.Result{ExitCode: -1, Error: err})
		return true
	}
	m.tickets++
	request.Ticket = m.tickets
	a := &attempt{ref: r, gate: undone, request: request, since: m.now}
	m.state(r).live = a
	m.live.add(a)
	m.note(r, event.Compensating, "", nil)
	m.command(event.Command{Start: request})
	return true
}

// undoing computes a compensation. It sees the node's result as it is.
func (m *Machine) undoing(r ref) (*event.Attempt, *event.Error) {
	c, d := m.node(r).Compensate, m.detail(r)
	a := &event.Attempt{Node: d.path, Name: m.node(r).Name, Attempt: d.attempts, Compensate: true, Run: m.run.Run,
		Workflow: m.run.Workflow, Base: m.run.Env, Key: m.key(r, "compensate")}
	sc := m.scope(r)
	sc.mode = ended
	if a.PassEnv = c.PassEnv; c.PassEnv == nil {
		a.PassEnv = m.passEnv(r)
	}
	env, dirs := append(m.envs(r), c.Env), append([]*ir.Expr{c.Dir}, m.dirs(r)...)
	return a, m.fill(a, sc, env, dirs, &c.Run, c.Timeout)
}

// undoFinished takes the answer of a compensation. Its failure is recorded, and the next follows.
func (m *Machine) undoFinished(a *attempt, f *event.AttemptFinished) {
	res := &event.Result{ExitCode: -1, Stdout: Bound(f.Stdout, MaxStream), Stderr: Bound(f.Stderr, MaxStream),
		StdoutLog: f.StdoutLog, StderrLog: f.StderrLog, StartedAt: f.StartedAt, FinishedAt: m.now}
	if f.ExitCode != nil {
		res.ExitCode = *f.ExitCode
	}
	if f.Outcome != event.OK {
		res.Error = failure(f)
		res.Error.Node = a.request.Node
	}
	m.undoneWith(a.ref, res)
}

func (m *Machine) undoneWith(r ref, res *event.Result) {
	if res.Error != nil {
		m.note(r, event.NotCompensated, res.Error.Message, res)
	} else {
		m.note(r, event.Compensated, "", res)
	}
	m.agenda.push(task{do: doEnd})
}

// note shows what happens to a node whose status stays as it is.
func (m *Machine) note(r ref, note event.Note, reason string, res *event.Result) {
	n, s, d := m.node(r), m.state(r), m.detail(r)
	m.show(event.Transition{Node: d.path, From: s.status, To: s.status, Note: note, Attempt: d.attempts, Reason: reason,
		Result: res, Name: n.Name, Kind: string(n.Kind)})
}

// undoLost ends a compensation that nobody will answer.
func (m *Machine) undoLost(a *attempt, err *event.Error) {
	m.drop(a)
	m.undoneWith(a.ref, &event.Result{ExitCode: -1, Error: err, FinishedAt: m.now})
}
