package runner

import (
	"context"
	"errors"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/plan"
)

// TrialStep is the name of the workflow of a trial, and of its step. No file can use this name.
const TrialStep = "agents.test"

// Trial is one call of an agent outside of a run.
type Trial struct {
	Agent string
	Task  string
	With  value.Value
	// Wire hears each line that goes between flowrun and the agent, and of which part of the talk it is; nil: nobody does.
	Wire func(sent bool, part, text string)
}

// Try calls an agent once, and judges its answer by the agent's type as a run does. Nothing is journaled, and neither the memory nor what
// runs share is asked. first is the beginning of the run that would call the agent. It fails if the call cannot be made.
func (s *Service) Try(ctx context.Context, p *ir.Program, first *event.RunStarted, secrets map[string]value.Value, t Trial) (event.AttemptFinished, error) {
	one := ir.Program{Variables: p.Variables, Locals: p.Locals, Files: p.Files}
	for _, a := range p.Agents {
		if a.Name == t.Agent {
			a.Memory, a.Retry, a.Concurrency, a.RateLimit, a.Breaker, a.Quotas = nil, nil, nil, nil, nil, nil
			one.Agents = []ir.Agent{a}
		}
	}
	action := &ir.AgentTask{Assignee: ir.Assignee{Agent: t.Agent}, Task: &ir.Expr{Kind: ir.Const, Const: t.Task}}
	if t.With != nil {
		action.With = &ir.Expr{Kind: ir.Const, Const: t.With}
	}
	one.Workflows = []ir.Workflow{{Name: TrialStep, Nodes: []ir.Node{{Name: TrialStep, Kind: ir.Step, Action: action}}}}
	g, err := plan.Build(&one, TrialStep)
	if err != nil {
		return event.AttemptFinished{}, err
	}
	c, n := compose.New(g, expr.NewEvaluator(ir.NewestRules(), p.Files), first), &g.Nodes[0]
	a, fault := c.Attempt(&compose.Work{Node: n, Path: n.Name, Agent: n.Own.Agent, Attempt: 1, Scope: c.Constants()})
	if fault != nil {
		return event.AttemptFinished{}, errors.New(fault.Message)
	}
	a.Ticket, a.Run = 1, first.Run
	h := held{secrets: secrets}
	x := s.newSession(&Program{Program: &one}, ir.NewestRules(), first, h)
	s.replaceTree(newTree(x, h))
	defer s.Release(first.Run)
	if t.Wire != nil {
		ctx = executor.WithWire(ctx, func(l executor.WireLine) { t.Wire(l.Sent, l.Part, l.Text) })
	}
	ans := x.carryOut(ctx, *a)
	if ans.Outcome == event.OK {
		if typ := compose.OutputType(n, n.Own.Agent); typ != nil {
			if ans.Output, fault = compose.ConvertOutput(ans.Output, typ); fault != nil {
				executor.Fail(&ans, fault)
			}
		}
	}
	return ans, nil
}
