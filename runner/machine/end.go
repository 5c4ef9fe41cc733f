package machine

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// phase is how far a run has come. The phases follow in this order, and one is left when all that lives in it has ended.
type phase uint8

const (
	working phase = iota // the nodes of the workflow
	undoing              // compensations, where the run has failed or was cancelled
	closing              // finally
	over                 // nothing changes any more
)

// verdict is what a run has come to. It is given when the workflow's nodes have ended; what follows can make a success
// a failure and nothing else.
type verdict struct {
	status event.Status
	err    *event.Error
	limit  bool
	failed []string
	ended  bool // by an end step: what it cut off may leave outputs without a value
}

// countTopEnd counts the end of a node at the top of the workflow or of finally. What a stop cancelled is nothing that the
// run fails of.
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

// endEmptyPhase ends the phase when nothing is left in it.
func (m *Machine) endEmptyPhase() {
	if m.remaining == 0 && m.detached == 0 {
		m.agenda.push(task{do: doEnd})
	}
}

// endPhase leaves a phase once nothing is left to do in it.
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
	m.concludeRun()
}

// decideRun gives the verdict over the workflow's own nodes.
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
}

// concludeRun ends the run: by its verdict, or by what went wrong in finally if nothing had before.
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
	m.evalOutputs(e)
	v.status, v.err = e.Status, e.Error
	m.phase = over
	m.showTransition(event.Transition{From: event.Running, To: e.Status, Reason: m.run.Skip,
		Result: &event.Result{ExitCode: -1, Error: e.Error, StartedAt: m.started, FinishedAt: m.now}})
	m.addCommand(event.Command{End: e})
}

// runVerdict is what an expression sees of the run: its verdict, or what it has come to so far.
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

// evalOutputs computes the workflow's outputs. In a run that failed, that an end step cut short, or of which only targets were
// asked for, those that cannot be computed are null; in another one the first of them is what it fails of.
func (m *Machine) evalOutputs(e *event.End) {
	list := m.graph.Workflow.Outputs
	if len(list) == 0 {
		return
	}
	e.Outputs = make(map[string]value.Value, len(list))
	sc := m.newScope(ref{m.root, plan.None})
	for i := range list {
		v, err := m.eval.Eval(&list[i].Expr, sc)
		if err != nil {
			v = nil
			if e.Status == event.Succeeded && m.wanted == nil && !m.final.ended {
				e.Status, e.Error = event.FailedS, evaluationError(fmt.Sprintf("output %q", list[i].Name), err)
			}
		}
		e.Outputs[list[i].Name] = v
	}
}

// DefaultFinally is how long finally may take where the file says nothing.
const DefaultFinally = 5 * time.Minute

// openFinally lets the first node of finally go; the others follow one by one. After a second cancel none does.
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
		limit, err = m.evalDuration(t, m.constants())
	}
	if err != nil { // it runs nevertheless
		limit = DefaultFinally
		m.failures++
		m.bad.keepFirst(cause{evaluationError("the timeout of finally", err), m.failures})
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
