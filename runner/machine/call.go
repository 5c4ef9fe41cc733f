package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
)

// isCall reports whether a request is for a run of another workflow.
func (m *Machine) isCall(w slotRequest) bool {
	return w.gate == work && m.node(w.ref).Action.Kind().Course() == ir.Called
}

// startChild starts a run of another workflow. A call counts in the limiters of groups and
// for_each around it but takes no slot of the run: the attempts of the child take slots of the
// child.
func (m *Machine) startChild(r ref) {
	n, d := m.node(r), m.liveState(r)
	d.attempts++
	call, sc := n.Action.(*ir.Call), m.newScope(r)
	inputs, late, err := m.composer.ChildInputs(call, sc)
	what := "with"
	var due event.Time
	if err == nil && n.Timeout != nil {
		due, err = m.evalDue(n.Timeout, sc)
		what = "timeout"
	}
	if err != nil {
		m.returnSlots(r, work)
		m.failNode(r, compose.EvaluationError(what, err))
		return
	}
	a := &attempt{ref: r, gate: work, since: m.now,
		child: &event.StartChild{Run: m.composer.ChildID(d.path, d.generation()), Node: d.path, Workflow: call.Workflow, Inputs: inputs,
			Late: late}}
	m.noteCompensation(r)
	m.moveNode(r, event.Running, fmt.Sprintf("run %s of workflow %q", a.child.Run, a.child.Workflow))
	d.live = a
	m.live.add(a)
	m.addCommand(event.Command{StartChild: a.child})
	if due != 0 {
		m.setTimer(r, due, event.TimerTimeout)
	}
}

// childFinished records the end of a child run. If the parent no longer waits for the child,
// nothing changes.
func (m *Machine) childFinished(f *event.ChildFinished) {
	a := m.live.children[f.Run]
	if a == nil || a.child.Node != f.Node {
		return
	}
	m.live.remove(a)
	m.returnSlots(a.ref, work)
	d := m.liveState(a.ref)
	d.live = nil
	m.cancelWorkTimer(d)
	d.output = nil
	switch succeeded := f.Status == event.Succeeded; {
	case a.expired != nil && !succeeded:
		m.failAttempt(a.ref, a.expired)
	case a.cancelled && (!succeeded || len(m.node(a.ref).Gates) > 0):
		m.endCancelled(a.ref)
	case succeeded:
		outputs := make(map[string]any, len(f.Outputs))
		for name, v := range f.Outputs { // any order: it copies a map
			outputs[name] = v
		}
		d.output = outputs
		m.deliverOutput(a.ref)
	default:
		m.failAttempt(a.ref, childError(a.child, f))
	}
}

// childError returns the error of a node after its child did not succeed. The child's own error
// gives the kind.
func childError(c *event.StartChild, f *event.ChildFinished) *event.Error {
	e := &event.Error{Kind: event.Recoverable, Reason: event.ReasonChild, ExitCode: -1,
		Message: fmt.Sprintf("run %s of workflow %q %s", c.Run, c.Workflow, statusPhrase(f.Status))}
	if f.Error != nil {
		e.Kind, e.RetryAfter = f.Error.Kind, f.Error.RetryAfter
		e.Message += ": " + f.Error.Message
	}
	return e
}

// expireChild cancels a child after its timeout. The child's answer fails the attempt.
func (m *Machine) expireChild(a *attempt, t timer) {
	if a.cancelled {
		return
	}
	a.expired = &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, ExitCode: -1,
		Message: "it did not end within " + t.elapsedSince(a.since)}
	m.askToEnd(a, "its time is up")
}
