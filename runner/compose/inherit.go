package compose

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/request"
)

// listEnvs lists the env blocks of a node from the outermost to the innermost, so that the
// innermost wins: the workflow, groups from the outside in, the agent, the step.
func (c *Composer) listEnvs(w *Work) []map[string]*ir.Expr {
	var list []map[string]*ir.Expr
	add := func(env map[string]*ir.Expr) {
		if len(env) > 0 {
			list = append(list, env)
		}
	}
	add(w.Node.Env)
	if w.Agent != nil {
		add(w.Agent.Env)
	}
	for up := w.Node.Parent; up != plan.None; up = c.graph.Nodes[up].Parent {
		add(c.graph.Nodes[up].Env)
	}
	add(c.graph.Workflow.Env)
	slices.Reverse(list)
	return list
}

// passEnv returns the nearest list of names of the caller's environment: the step's, the agent's,
// a group's, the workflow's.
func (c *Composer) passEnv(w *Work) []string {
	if w.Node.PassEnv != nil {
		return w.Node.PassEnv
	}
	if w.Agent != nil && w.Agent.PassEnv != nil {
		return w.Agent.PassEnv
	}
	for up := w.Node.Parent; up != plan.None; up = c.graph.Nodes[up].Parent {
		if list := c.graph.Nodes[up].PassEnv; list != nil {
			return list
		}
	}
	return c.graph.Workflow.PassEnv
}

func (c *Composer) composeEnv(a *event.Attempt, layers []map[string]*ir.Expr, sc *Scope) error {
	var nearest map[string]*ir.Expr
	for _, exprs := range layers {
		if nearest == nil && len(exprs) > 0 {
			nearest = map[string]*ir.Expr{}
		}
		maps.Copy(nearest, exprs)
	}
	if nearest == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(nearest)) {
		if err := c.composePart(a, request.Env+name, "env: "+name, nearest[name], sc); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// listDirs lists the expressions for a node's folder, the nearest first.
func (c *Composer) listDirs(w *Work) []*ir.Expr {
	list := append(make([]*ir.Expr, 0, 8), w.Node.Dir)
	if w.Agent != nil {
		list = append(list, w.Agent.Dir)
	}
	for up := w.Node.Parent; up != plan.None; up = c.graph.Nodes[up].Parent {
		list = append(list, c.graph.Nodes[up].Dir)
	}
	return append(list, c.graph.Workflow.Dir)
}

// evalDir returns the absolute folder of an attempt. A relative folder is below the program's
// folder.
func (c *Composer) evalDir(list []*ir.Expr, sc *Scope) (string, error) {
	for _, e := range list {
		if e == nil {
			continue
		}
		s, err := c.Text(e, sc)
		if err != nil || path.IsAbs(s) {
			return s, err
		}
		return path.Join(c.run.Dir, s), nil
	}
	return c.run.Dir, nil
}

// RetryRules merges the retry rules of a node, each attribute on its own: step over agent over
// workflow. agent is nil for a step without an agent.
func (c *Composer) RetryRules(n *plan.Node, agent *ir.Agent) (merged ir.Retry) {
	layers := []*ir.Retry{n.Retry, nil, c.graph.Workflow.Retry}
	if agent != nil {
		layers[1] = agent.Retry
	}
	for _, l := range layers {
		if l == nil {
			continue
		}
		merged.MaxAttempts = firstExpr(merged.MaxAttempts, l.MaxAttempts)
		merged.BaseDelay = firstExpr(merged.BaseDelay, l.BaseDelay)
		merged.MaxDelay = firstExpr(merged.MaxDelay, l.MaxDelay)
		merged.Multiplier = firstExpr(merged.Multiplier, l.Multiplier)
		merged.When = firstExpr(merged.When, l.When)
		if merged.Jitter == "" {
			merged.Jitter = l.Jitter
		}
	}
	return merged
}

func firstExpr(a, b *ir.Expr) *ir.Expr {
	if a != nil {
		return a
	}
	return b
}

// OutputType returns the declared type of a node's output: the node's own, or that of its agent;
// nil if neither declares one.
func OutputType(n *plan.Node, agent *ir.Agent) *value.Type {
	if n.Output == nil && agent != nil {
		return agent.Output
	}
	return n.Output
}
