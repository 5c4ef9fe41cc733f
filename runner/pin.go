package runner

import (
	"context"
	"strings"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// PinStep is the name of the workflow that asks a server for the descriptions of tools, and of its step. No file can use this name.
const PinStep = "agents.pin"

// DescribeTools asks a server how it describes its tools: objects as pins have them. The server is that of an agent of type mcp, of which only
// the agent's tool is described, or one of those of an agent of type chat, by name. first has the variables and the id of the run that
// asks; nothing is journaled.
func (s *Service) DescribeTools(ctx context.Context, p *ir.Program, agent, server string, first *event.RunStarted, secrets map[string]value.Value) ([]value.Value, *event.Error) {
	h := held{secrets: secrets}
	q := *p
	q.Workflows = []ir.Workflow{{Name: PinStep, Nodes: []ir.Node{{Name: PinStep, Kind: ir.Step, Action: &ir.AgentTask{Assignee: ir.Assignee{Agent: agent}}}}}}
	g, err := plan.Build(&q, PinStep)
	if err != nil {
		return nil, &event.Error{Kind: event.Fatal, Reason: event.ReasonStart, ExitCode: -1, Message: err.Error()}
	}
	x := s.newSession(&Program{Program: &q}, ir.NewestRules(), first, h)
	s.replaceTree(newTree(x, h))
	defer s.Release(first.Run)
	c, n := compose.New(g, expr.NewEvaluator(ir.NewestRules(), q.Files), first), &g.Nodes[0]
	a, failure := c.Attempt(&compose.Work{Node: n, Path: n.Name, Agent: n.Own.Agent, Attempt: 1, Scope: c.Constants()})
	if failure != nil {
		return nil, failure
	}
	a.Ticket = 1
	if a.Agent.Tool != nil {
		a.Agent.Tool.Describe = true
	} else {
		a.Agent.Chat.Describe = server
	}
	ans := s.Execute(ctx, *a)
	if ans.Error != nil {
		return nil, withStderr(ans.Error, ans.Stderr)
	}
	if list, ok := ans.Output.([]any); ok {
		return list, nil
	}
	return []value.Value{ans.Output}, nil
}

// maxServerWords is how much of the end of what a server wrote an error tells, in bytes.
const maxServerWords = 500

// withStderr is an error of a server, with the end of what it wrote to standard error.
func withStderr(e *event.Error, stderr string) *event.Error {
	text := strings.TrimSpace(stderr)
	if text == "" {
		return e
	}
	if len(text) > maxServerWords {
		text = "…" + strings.ToValidUTF8(text[len(text)-maxServerWords:], "")
	}
	told := *e
	told.Message += "; the server wrote: " + text
	return &told
}
