package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// end gives the run its verdict once nothing is left to do.
func (m *Machine) end(t task) {
	if m.ended {
		return
	}
	if !m.agenda.empty() {
		m.agenda.push(t)
		return
	}
	e := &event.End{Status: event.Succeeded}
	switch {
	case m.stopping != nil:
		e.Status, e.Error, e.Limit = m.stopping.status, m.stopping.err, m.stopping.limit
	case len(m.lost) > 0:
		e.Status, e.Error = event.FailedS, m.firstBad
	}
	m.outputs(e)
	m.ended = true
	if m.runTimer != 0 {
		m.command(event.Command{CancelTimer: &event.CancelTimer{Timer: m.runTimer}})
	}
	m.show(event.Transition{From: event.Running, To: e.Status, Result: &event.Result{ExitCode: -1, Error: e.Error, StartedAt: m.started, FinishedAt: m.now}})
	m.command(event.Command{End: e})
}

// outputs computes the workflow's outputs. In a run that failed, or of which only targets were asked for, those that cannot be
// computed are null; in another one the first of them is what it fails of.
func (m *Machine) outputs(e *event.End) {
	list := m.graph.Workflow.Outputs
	if len(list) == 0 {
		return
	}
	e.Outputs = make(map[string]value.Value, len(list))
	sc := m.scope(ref{m.root, plan.None})
	sc.verdict, sc.err = e.Status, e.Error
	for i := range list {
		v, err := m.eval.Eval(&list[i].Expr, sc)
		if err != nil {
			v = nil
			if e.Status == event.Succeeded && m.wanted == nil {
				e.Status, e.Error = event.FailedS, evaluation(fmt.Sprintf("output %q", list[i].Name), err)
			}
		}
		e.Outputs[list[i].Name] = v
	}
}
