package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/request"
)

// begins starts the step of each kind of action, when nothing keeps the step from starting.
var begins map[ir.ActionKind]func(*Machine, ref)

func init() { // in init, because some of the functions read the table
	begins = map[ir.ActionKind]func(*Machine, ref){
		ir.RunAction:      (*Machine).startAttempts,
		ir.AgentAction:    (*Machine).startAttempts,
		ir.ValueAction:    (*Machine).computeValue,
		ir.CallAction:     (*Machine).startAttempts,
		ir.HTTPAction:     (*Machine).startAttempts,
		ir.RememberAction: (*Machine).startAttempts,
		ir.RecallAction:   (*Machine).startAttempts,
		ir.WaitAction:     (*Machine).startWait,
		ir.FailAction:     (*Machine).failOnPurpose,
		ir.EndAction:      (*Machine).runEndStep,
	}
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
		if k := n.Action.Kind(); begins[k] == nil || k.Course() == ir.Attempted && !compose.Composes(k) {
			return fmt.Errorf("machine: step %q has the action %q, which is not described", n.Name, k)
		}
	}
	return nil
}

// computeValue does a value step, which takes no time and no slot.
func (m *Machine) computeValue(r ref) {
	v, err := m.composer.Value(&m.node(r).Action.(*ir.Value).Expr, m.newScope(r))
	if err == nil {
		err = request.Sized(v)
	}
	d := m.liveState(r)
	d.attempts = 1
	m.startParents(r)
	d.started = m.now
	if err != nil {
		m.failNode(r, compose.EvaluationError("value", err))
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
		text, err := m.composer.Text(f.Message, m.newScope(r))
		if err != nil {
			e = compose.EvaluationError("message", err)
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
