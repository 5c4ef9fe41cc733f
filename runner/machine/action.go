package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/request"
)

// action says how the machine carries out the steps of one kind of action.
type action struct {
	// begin starts a step when nothing keeps it from starting.
	begin func(*Machine, ref)
	// compose computes the part of an attempt that belongs to the action, and its kind. It is nil
	// for actions that make no attempts. An error is blocking; place says in words what could not
	// be computed.
	compose func(m *Machine, a *event.Attempt, n *plan.Node, sc *scope) (place string, err error)
}

// actions holds every kind of action.
var actions map[ir.ActionKind]action

func init() { // in init, because begin functions read the table
	actions = map[ir.ActionKind]action{
		ir.RunAction:   {(*Machine).startAttempts, composeRun},
		ir.AgentAction: {(*Machine).startAttempts, composeTask},
		ir.ValueAction: {(*Machine).computeValue, nil},
		ir.CallAction:  {(*Machine).startAttempts, nil},
		ir.HTTPAction: {(*Machine).startAttempts, func(m *Machine, a *event.Attempt, n *plan.Node, sc *scope) (string, error) {
			return m.composeHTTP(a, n.Action.(*ir.HTTP), sc)
		}},
		ir.RememberAction: {(*Machine).startAttempts, func(m *Machine, a *event.Attempt, n *plan.Node, sc *scope) (place string, err error) {
			a.Kind = event.RememberAttempt
			a.Remember, place, err = m.composeRemember(n.Action.(*ir.Remember), sc)
			return place, err
		}},
		ir.RecallAction: {(*Machine).startAttempts, func(m *Machine, a *event.Attempt, n *plan.Node, sc *scope) (place string, err error) {
			a.Kind = event.RecallAttempt
			a.Recall, place, err = m.composeRecall(n.Action.(*ir.Recall), sc)
			return place, err
		}},
		ir.WaitAction: {(*Machine).startWait, nil},
		ir.FailAction: {(*Machine).failOnPurpose, nil},
		ir.EndAction:  {(*Machine).runEndStep, nil},
	}
}

// composeRun computes the program of a run step.
func composeRun(m *Machine, a *event.Attempt, n *plan.Node, sc *scope) (place string, err error) {
	a.PassEnv = m.passEnv(sc.ref)
	return m.composeProgram(a, n.Action.(*ir.Run), sc)
}

// checkActions returns an error if the graph has a step that the machine cannot carry out.
func checkActions(g *plan.Graph) error {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if err := ir.CheckAction(n.Node); err != nil {
			return fmt.Errorf("machine: %w", err)
		}
		if n.Kind != ir.Step {
			continue
		}
		if k := n.Action.Kind(); actions[k].begin == nil || k.Course() == ir.Attempted && actions[k].compose == nil {
			return fmt.Errorf("machine: step %q has the action %q, which is not described", n.Name, k)
		}
	}
	return nil
}

// computeValue does a value step, which takes no time and no slot.
func (m *Machine) computeValue(r ref) {
	v, err := m.eval.Eval(&m.node(r).Action.(*ir.Value).Expr, m.newScope(r))
	if err == nil {
		err = request.Sized(v)
	}
	d := m.liveState(r)
	d.attempts = 1
	m.startParents(r)
	d.started = m.now
	if err != nil {
		m.failNode(r, evaluationError("value", err))
		return
	}
	d.output = v
	m.deliverOutput(r)
}

// failOnPurpose does a step that fails on purpose.
func (m *Machine) failOnPurpose(r ref) {
	f, d := m.node(r).Action.(*ir.Fail), m.liveState(r)
	d.attempts = 1
	m.startParents(r)
	d.started = m.now
	e := &event.Error{Kind: f.ErrorKind, Reason: event.ReasonFail, ExitCode: -1, Message: fmt.Sprintf("%q fails on purpose", m.node(r).Name)}
	if e.Kind == "" {
		e.Kind = event.Blocking
	}
	if f.Message != nil {
		text, err := m.evalText(f.Message, m.newScope(r))
		if err != nil {
			e = evaluationError("message", err)
		} else {
			e.Message = text
		}
	}
	m.failNode(r, e)
}

// startAttempts sends a step's action to its turn for slots.
func (m *Machine) startAttempts(r ref) {
	d := m.liveState(r)
	if !m.chooseAgent(r) {
		return
	}
	if g := m.agentOf(r); g != nil {
		d.agent = g.Name
		if !m.ensureAgentLimiter(r, g) {
			return
		}
	}
	m.queueAttempt(r)
}
