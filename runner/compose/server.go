package compose

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/request"
)

// composeServers computes the MCP servers whose tools an agent may use.
func (c *Composer) composeServers(a *event.Attempt, g *ir.Agent, sc *Scope) (place string, err error) {
	if len(g.Servers) == 0 {
		return "", nil
	}
	of := fmt.Sprintf(" of agent %q", g.Name)
	a.Agent.Servers = make([]event.ToolServer, len(g.Servers))
	for i := range g.Servers {
		s := &g.Servers[i]
		to := &a.Agent.Servers[i]
		to.Name, to.PassEnv = s.Name, s.PassEnv
		if to.PassEnv == nil {
			to.PassEnv = a.Agent.PassEnv
		}
		if to.Dir = a.Dir; s.Dir != nil {
			if to.Dir, err = c.evalDir([]*ir.Expr{s.Dir}, sc); err != nil {
				return fmt.Sprintf("dir of server %q%s", s.Name, of), err
			}
		}
		for _, t := range s.Tools {
			to.Tools = append(to.Tools, event.ToolRequest{Name: t.Name, Pin: t.Pin})
		}
		if place, err = c.composeServer(a, s, fmt.Sprintf("%s%d.", request.Server, i), fmt.Sprintf(" of server %q%s", s.Name, of), sc); err != nil {
			return place, err
		}
	}
	return "", nil
}

func (c *Composer) composeServer(a *event.Attempt, s *ir.ToolServer, at, of string, sc *Scope) (place string, err error) {
	for _, part := range []struct {
		name string
		expr *ir.Expr
	}{{"command", s.Command}, {"url", s.URL}, {"headers", s.Headers}} {
		if part.expr == nil {
			continue
		}
		if err = c.composePart(a, at+part.name, part.name+of, part.expr, sc); err != nil {
			return part.name + of, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		what := "env " + name + of
		if err = c.composePart(a, at+request.Env+name, what, s.Env[name], sc); err != nil {
			return what, err
		}
	}
	return "", nil
}
