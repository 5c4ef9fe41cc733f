package machine

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/request"
)

// listEnvs lists the env blocks of a node from the outermost to the innermost, so that the
// innermost wins: the workflow, groups from the outside in, the agent, the step.
func (m *Machine) listEnvs(r ref) []map[string]*ir.Expr {
	n := m.node(r)
	list := append(make([]map[string]*ir.Expr, 0, 8), n.Env)
	if g := m.agentOf(r); g != nil {
		list = append(list, g.Env)
	}
	for up := n.Parent; up != plan.None; up = m.graph.Nodes[up].Parent {
		list = append(list, m.graph.Nodes[up].Env)
	}
	list = append(list, m.graph.Workflow.Env)
	slices.Reverse(list)
	return list
}

// passEnv returns the nearest list of names of the caller's environment: the step's, the agent's,
// a group's, the workflow's.
func (m *Machine) passEnv(r ref) []string {
	n := m.node(r)
	if n.PassEnv != nil {
		return n.PassEnv
	}
	if g := m.agentOf(r); g != nil && g.PassEnv != nil {
		return g.PassEnv
	}
	for up := n.Parent; up != plan.None; up = m.graph.Nodes[up].Parent {
		if list := m.graph.Nodes[up].PassEnv; list != nil {
			return list
		}
	}
	return m.graph.Workflow.PassEnv
}

func (m *Machine) composeEnv(a *event.Attempt, layers []map[string]*ir.Expr, sc *scope) error {
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
		if err := m.composePart(a, request.Env+name, "env: "+name, nearest[name], sc); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// listDirs lists the expressions for a node's folder, the nearest first.
func (m *Machine) listDirs(r ref) []*ir.Expr {
	list := append(make([]*ir.Expr, 0, 8), m.node(r).Dir)
	if g := m.agentOf(r); g != nil {
		list = append(list, g.Dir)
	}
	for n := m.node(r).Parent; n != plan.None; n = m.graph.Nodes[n].Parent {
		list = append(list, m.graph.Nodes[n].Dir)
	}
	return append(list, m.graph.Workflow.Dir)
}

// evalDir returns the absolute folder of an attempt. A relative folder is below the program's
// folder.
func (m *Machine) evalDir(list []*ir.Expr, sc *scope) (string, error) {
	for _, e := range list {
		if e == nil {
			continue
		}
		s, err := m.evalText(e, sc)
		if err != nil || path.IsAbs(s) {
			return s, err
		}
		return path.Join(m.run.Dir, s), nil
	}
	return m.run.Dir, nil
}
