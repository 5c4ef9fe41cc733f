package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// request computes an attempt. An error is the attempt's own: blocking, for trying again would give the same.
func (m *Machine) request(w want) (*event.Attempt, *event.Error) {
	n, d := m.node(w.ref), m.detail(w.ref)
	a := &event.Attempt{
		Node: d.path, Name: n.Name, Attempt: d.attempts, Run: m.run.Run, Workflow: m.run.Workflow, Base: m.run.Env,
	}
	sc := m.scope(w.ref)
	if w.gate != work {
		g := n.Gates[w.gate]
		a.Gate, a.Key = g.Name, m.key(w.ref, g.Name, strconv.Itoa(d.attempts)) // it judges one attempt's result
		sc.mode = gates
		dirs := m.dirs(w.ref)
		if g.Dir != nil {
			dirs = []*ir.Expr{g.Dir}
		}
		if a.PassEnv = g.PassEnv; g.PassEnv == nil {
			a.PassEnv = m.passEnv(w.ref)
		}
		return a, m.fill(a, sc, append(m.envs(w.ref), g.Env), dirs, g.Run, g.Timeout)
	}
	a.Key = m.key(w.ref)
	if n.Run != nil {
		a.PassEnv = m.passEnv(w.ref)
	}
	g, timeout := m.agent(w.ref), n.Timeout
	if timeout == nil && g != nil {
		timeout = g.Timeout
	}
	if err := m.fill(a, sc, m.envs(w.ref), m.dirs(w.ref), n.Run, timeout); err != nil {
		return nil, err
	}
	var place string
	var err error
	switch {
	case g != nil:
		place, err = m.task(a, n, g, sc)
	case n.HTTP != nil:
		place, err = m.http(a, n.HTTP, sc)
	}
	if err != nil {
		return nil, evaluation(place, err)
	}
	return a, nil
}

// fill computes what attempts of all sorts have, and the program of those that run one.
func (m *Machine) fill(a *event.Attempt, sc *scope, env []map[string]*ir.Expr, dirs []*ir.Expr, run *ir.Run, timeout *ir.Expr) *event.Error {
	var err error
	if a.Env, err = m.env(env, sc); err != nil {
		return evaluation("env", err)
	}
	if a.Dir, err = m.dir(dirs, sc); err != nil {
		return evaluation("dir", err)
	}
	if run != nil {
		if place, err := m.program(a, run, sc); err != nil {
			return evaluation(place, err)
		}
	}
	if timeout != nil {
		if a.Timeout, err = m.duration(timeout, sc); err != nil {
			return evaluation("timeout", err)
		}
	}
	return nil
}

// key is the idempotency key of a node's work, or of something about it: the same for every attempt at the same work.
// Work that was refused, or that another agent is given, is other work: it has another generation.
func (m *Machine) key(r ref, about ...string) string {
	d := m.detail(r)
	text := m.run.Run + "\x00" + d.path + "\x00" + strconv.Itoa(m.generation(d))
	for _, a := range about {
		text += "\x00" + a
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

func (m *Machine) generation(d *detail) int {
	if d.rare == nil {
		return 0
	}
	return d.rare.generation
}

func (m *Machine) program(a *event.Attempt, run *ir.Run, sc *scope) (place string, err error) {
	a.Shell, a.Parse, a.OutputFile = run.Shell, string(run.Parse), run.OutputFile
	if run.Stdin != nil {
		v, err := m.eval.Eval(run.Stdin, sc)
		if err != nil {
			return "stdin", err
		}
		text, err := printed(v)
		if err != nil {
			return "stdin", err
		}
		a.Stdin = &text
	}
	if run.Script != nil {
		if a.Script, err = m.text(run.Script, sc); err == nil {
			a.Values, err = m.values(run.Values, sc)
		}
		return "run", err
	}
	v, err := m.eval.Eval(run.Argv, sc)
	if err != nil {
		return "run", err
	}
	a.Argv, err = arguments(v)
	return "run", err
}

// arguments makes an argument list of a list of strings, numbers and bools.
func arguments(v value.Value) ([]string, error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("a list of a program and its arguments is needed, but this is %.60s", value.Text(v))
	}
	argv := make([]string, len(list))
	for i, e := range list {
		s, err := plain(e)
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, err)
		}
		argv[i] = s
	}
	return argv, nil
}

func (m *Machine) task(a *event.Attempt, n *plan.Node, g *ir.Agent, sc *scope) (place string, err error) {
	q := &event.AgentRequest{Name: g.Name, Type: string(g.Type), PassEnv: m.passEnv(sc.ref), Input: g.Input, OutputFormat: g.OutputFormat,
		Feedback: m.feedback(sc.ref)}
	a.Agent, a.Shell = q, g.Shell
	if g.Command != nil {
		v, err := m.eval.Eval(g.Command, sc)
		if err == nil {
			a.Argv, err = arguments(v)
		}
		if err != nil {
			return fmt.Sprintf("command of agent %q", g.Name), err
		}
	}
	if g.Run != nil {
		if a.Script, err = m.text(g.Run, sc); err == nil {
			a.Values, err = m.values(g.Values, sc)
		}
		if err != nil {
			return fmt.Sprintf("run of agent %q", g.Name), err
		}
	}
	if g.URL != nil {
		if place, err = m.post(a, g, sc); err != nil {
			return fmt.Sprintf("%s of agent %q", place, g.Name), err
		}
	}
	if t := n.Node.Agent.Task; t != nil {
		if q.Task, err = m.text(t, sc); err != nil {
			return "task", err
		}
	}
	if w := n.Node.Agent.With; w != nil {
		if q.With, err = m.eval.Eval(w, sc); err != nil {
			return "with", err
		}
		if err = sized(q.With); err != nil {
			return "with", err
		}
	}
	return "", nil
}

// envs lists what the file adds to a node's environment, the farthest first, so that the nearest wins: the workflow,
// groups from the outside in, the agent, the step.
func (m *Machine) envs(r ref) []map[string]*ir.Expr {
	n := m.node(r)
	list := []map[string]*ir.Expr{n.Env}
	if g := m.agent(r); g != nil {
		list = append(list, g.Env)
	}
	for up := n.Parent; up != plan.None; up = m.graph.Nodes[up].Parent {
		list = append(list, m.graph.Nodes[up].Env)
	}
	list = append(list, m.graph.Workflow.Env)
	slices.Reverse(list)
	return list
}

// passEnv is the nearest list of names of the caller's environment: the step's, the agent's, that of a group, the workflow's.
func (m *Machine) passEnv(r ref) []string {
	n := m.node(r)
	if n.PassEnv != nil {
		return n.PassEnv
	}
	if g := m.agent(r); g != nil && g.PassEnv != nil {
		return g.PassEnv
	}
	for up := n.Parent; up != plan.None; up = m.graph.Nodes[up].Parent {
		if list := m.graph.Nodes[up].PassEnv; list != nil {
			return list
		}
	}
	return m.graph.Workflow.PassEnv
}

func (m *Machine) env(layers []map[string]*ir.Expr, sc *scope) (map[string]string, error) {
	var env map[string]string
	for _, exprs := range layers {
		for _, name := range slices.Sorted(maps.Keys(exprs)) {
			s, err := m.text(exprs[name], sc)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if env == nil {
				env = map[string]string{}
			}
			env[name] = s
		}
	}
	return env, nil
}

// dirs lists where a node's folder may be given, the nearest first.
func (m *Machine) dirs(r ref) []*ir.Expr {
	list := []*ir.Expr{m.node(r).Dir}
	if g := m.agent(r); g != nil {
		list = append(list, g.Dir)
	}
	for n := m.node(r).Parent; n != plan.None; n = m.graph.Nodes[n].Parent {
		list = append(list, m.graph.Nodes[n].Dir)
	}
	return append(list, m.graph.Workflow.Dir)
}

// dir is the folder that an attempt runs in: absolute, below the program's folder if it is relative.
func (m *Machine) dir(list []*ir.Expr, sc *scope) (string, error) {
	for _, e := range list {
		if e == nil {
			continue
		}
		s, err := m.text(e, sc)
		if err != nil || path.IsAbs(s) {
			return s, err
		}
		return path.Join(m.run.Dir, s), nil
	}
	return m.run.Dir, nil
}
