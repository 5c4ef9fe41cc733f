package machine

import (
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// phase is a stage in the life of a run. Phases follow in this order. A phase ends when all nodes
// in it have ended.
type phase uint8

const (
	working phase = iota // the nodes of the workflow
	undoing              // compensations, where the run has failed or was cancelled
	closing              // finally
	over                 // nothing changes any more
)

// verdict is the result of a run. The machine decides it when the workflow's nodes have ended.
// Later phases can only turn a success into a failure.
type verdict struct {
	status event.Status
	err    *event.Error
	limit  bool
	failed []string
	ended  bool // by an end step, which may leave outputs without a value
}

// countTopEnd counts the end of a node at the top of the workflow or of finally. A node that a
// stop cancelled does not fail the run.
func (m *Machine) countTopEnd(s *state, why cause) {
	if s.status.Bad() && !s.tolerated && (m.stopping == nil || s.status != event.Cancelled) {
		m.lost = append(m.lost, s.path)
	}
	m.bad.keepFirst(why)
	m.remaining--
	if m.phase == closing && m.remaining > 0 && m.stopping == nil {
		m.nextFinally()
	}
	m.endEmptyPhase()
}

// endEmptyPhase ends the phase if no node is left in it.
func (m *Machine) endEmptyPhase() {
	if m.remaining == 0 && m.detached == 0 {
		m.agenda.push(task{do: doEnd})
	}
}

// endPhase moves the run to the next phase after all tasks of this one.
func (m *Machine) endPhase(t task) {
	if m.phase == over {
		return
	}
	if !m.agenda.empty() {
		m.agenda.push(t)
		return
	}
	if m.phase == working {
		m.decideRun()
		m.phase = undoing
	}
	if m.phase == undoing {
		if m.startCompensation() {
			return
		}
		m.phase = closing
		if m.openFinally() {
			return
		}
	}
	if len(m.notices) > 0 {
		if m.unsent = true; m.abandoned {
			m.dropNotices()
		}
		return
	}
	m.concludeRun()
}

// decideRun decides the verdict over the workflow's own nodes.
func (m *Machine) decideRun() {
	v := &verdict{status: event.Succeeded, failed: m.lost}
	switch s := m.stopping; {
	case s != nil && (!s.yields || len(m.lost) == 0):
		v.status, v.err, v.limit, v.ended = s.status, s.err, s.limit, s.yields
	case len(m.lost) > 0:
		v.status, v.err = event.FailedS, m.bad.err
	case m.run.Skip != "":
		v.status = event.Skipped
	}
	m.final, m.stopping, m.lost, m.bad, m.strays = v, nil, nil, cause{}, nil
	m.cancelRunTimer()
	m.endAllRules()
	if m.hold != nil && !m.hold.ever {
		m.releaseHold(m.hold.ref)
	}
}

// concludeRun ends the run with its verdict. If the verdict is success, a failure in finally fails
// the run.
func (m *Machine) concludeRun() {
	v := m.final
	if v.status == event.Succeeded {
		switch {
		case m.stopping != nil && m.stopping.status != event.Succeeded:
			v.status, v.err, v.limit = m.stopping.status, m.stopping.err, m.stopping.limit
		case len(m.lost) > 0:
			v.status, v.err = event.FailedS, m.bad.err
		}
	}
	v.failed = append(v.failed, m.lost...)
	m.cancelRunTimer()
	e := &event.End{Status: v.status, Error: v.err, Limit: v.limit}
	if m.usage != (event.Usage{}) {
		u := m.usage
		e.Usage = &u
	}
	m.evalOutputs(e)
	v.status, v.err = e.Status, e.Error
	m.releaseHold(ref{m.root, plan.None})
	m.phase = over
	m.showTransition(event.Transition{From: event.Running, To: e.Status, Reason: m.run.Skip,
		Result: &event.Result{ExitCode: -1, Error: e.Error, StartedAt: m.started, FinishedAt: m.now, Usage: e.Usage}})
	m.addCommand(event.Command{End: e})
}

// runVerdict returns the run's verdict, or its state so far, for expressions.
func (m *Machine) runVerdict() verdict {
	switch {
	case m.final != nil:
		return *m.final
	case m.stopping != nil:
		return verdict{status: m.stopping.status, failed: m.lost}
	case len(m.lost) > 0:
		return verdict{status: event.FailedS, failed: m.lost}
	}
	return verdict{status: event.Running}
}

// evalOutputs evaluates the workflow's outputs. An output that cannot be evaluated fails a run
// that would succeed. The output is null instead if the run failed, ended at an end step, or ran
// only targets.
func (m *Machine) evalOutputs(e *event.End) {
	list := m.graph.Workflow.Outputs
	if len(list) == 0 {
		return
	}
	e.Outputs = make(map[string]value.Value, len(list))
	sc := m.newScope(ref{m.root, plan.None})
	for i := range list {
		v, err := m.composer.Value(&list[i].Expr, sc)
		if err != nil {
			v = nil
			if e.Status == event.Succeeded && m.wanted == nil && !m.final.ended {
				e.Status, e.Error = event.FailedS, compose.EvaluationError(fmt.Sprintf("output %q", list[i].Name), err)
			}
		}
		e.Outputs[list[i].Name] = v
	}
}

// DefaultFinally is the time limit of finally if the file sets none.
const DefaultFinally = 5 * time.Minute

// openFinally starts the first node of finally; the others follow one by one. After a second
// cancel no node of finally starts.
func (m *Machine) openFinally() bool {
	if m.remaining = len(m.graph.Finally); m.remaining == 0 {
		return false
	}
	if m.abandoned {
		m.cancelPhase()
		return true
	}
	limit, err := DefaultFinally, error(nil)
	if t := m.graph.Workflow.Finally.Timeout; t != nil {
		limit, err = m.composer.Duration(t, m.newScope(ref{m.root, plan.None}))
	}
	if err != nil { // finally runs with the default
		limit = DefaultFinally
		m.failures++
		m.bad.keepFirst(cause{compose.EvaluationError("the timeout of finally", err), m.failures})
		m.lost = append(m.lost, "finally")
	}
	m.closedAt = m.now
	m.setTimer(ref{m.root, plan.None}, m.now.Add(limit), event.TimerFinally)
	m.nextFinally()
	return true
}

func (m *Machine) nextFinally() {
	all := m.graph.Finally
	m.agenda.push(task{do: doFinally, ref: ref{m.root, all[len(all)-m.remaining]}})
}

// undone as a gate number is a node's compensation.
const undone = -2

// noteCompensation records the first attempt of a step with a compensation, and the success of a group with one.
func (m *Machine) noteCompensation(r ref) {
	if m.node(r).Compensate == nil || m.phase != working || m.coldState(r).toUndo {
		return
	}
	m.coldState(r).toUndo = true
	m.toUndo = append(m.toUndo, r)
}

// forgetCompensation removes that record: the attempt was refused, and nothing can have begun.
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
	if h := m.barring(r); h != nil && !m.abandoned {
		h.waiting = append(h.waiting, slotRequest{r, undone})
		return true
	}
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
	m.countStart(a)
	m.showNote(r, event.Compensating, "", nil)
	m.addCommand(event.Command{Start: request})
	return true
}

// compensationFinished records the answer of a compensation. The next compensation follows, even
// after a failure.
func (m *Machine) compensationFinished(a *attempt, f *event.AttemptFinished) {
	s := m.streamsOf(f)
	res := &event.Result{ExitCode: -1, Stdout: s.stdout, Stderr: s.stderr, Long: s.long, StdoutLog: f.StdoutLog, StderrLog: f.StderrLog,
		StartedAt: f.StartedAt, FinishedAt: m.now}
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
