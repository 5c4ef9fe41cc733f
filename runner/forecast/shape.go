package forecast

import (
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/durations"
	"github.com/flowrun/flowrun/runner/plan"
)

// nobody is the agent of steps that have none. A name in a file cannot be empty.
const nobody = ""

// shaper makes the workflow that is rehearsed.
type shaper struct {
	known Values
	x     durations.Expected
	usual int64
	left  int            // executions that are still allowed
	times map[string]int // how often what is made any number of times is made in all
}

// shape is the program of a workflow of the same shape; ok is false if it would be too large.
func (s *shaper) shape(g *plan.Graph) (p *ir.Program, ok bool) {
	p = &ir.Program{Agents: []ir.Agent{{Name: nobody, Type: ir.AgentNull}}}
	for i := range g.Program.Agents {
		a := &g.Program.Agents[i]
		p.Agents = append(p.Agents, ir.Agent{Name: a.Name, Type: ir.AgentNull, Concurrency: s.constant(a.Concurrency)})
	}
	p.Pools = g.Program.Pools
	w := ir.Workflow{Name: g.Workflow.Name, Nodes: s.nodes(g.Workflow.Nodes, 1, 1)}
	if g.Workflow.Finally != nil {
		w.Finally = &ir.Finally{Timeout: ir.Lit("100000h", value.StringType), Nodes: s.nodes(g.Workflow.Finally.Nodes, 1, 1)}
	}
	p.Workflows = []ir.Workflow{w}
	return p, s.left >= 0
}

// nodes are those of one body. copies is how often it is made in all; before, how often it was in the newest run.
func (s *shaper) nodes(list []ir.Node, copies, before int) []ir.Node {
	out := make([]ir.Node, 0, len(list))
	for i := range list {
		if s.left < 0 {
			return nil
		}
		out = append(out, s.node(&list[i], copies, before))
	}
	return out
}

func (s *shaper) node(n *ir.Node, copies, before int) ir.Node {
	m := ir.Node{Name: n.Name, Kind: n.Kind, Needs: n.Needs, Observes: n.Observes, TriggerRule: n.TriggerRule,
		Priority: s.constant(n.Priority), MaxConcurrency: s.constant(n.MaxConcurrency)}
	if n.Kind == ir.Switch {
		m.Kind = ir.Parallel
	}
	if s.skips(n) {
		m.MaxConcurrency = nil
		if m.Kind == ir.Step {
			m.Action = nothing()
		}
		return m
	}
	instances, rounds := s.executions(n, before)
	if n.ForEach != nil {
		m.ForEach = ir.Lit(make([]any, instances), value.List(value.AnyType))
		m.Join, m.Losers = s.join(n), n.Losers
	} else if n.Kind == ir.Parallel {
		m.Join, m.Losers = s.join(n), n.Losers
	}
	if n.Repeat != nil {
		m.Repeat = &ir.Repeat{Max: *ir.Lit(float64(rounds), value.NumberType), Delay: s.constant(n.Repeat.Delay)}
	}
	copies *= instances * rounds
	if copies > MaxExecutions { // and so the product of any depth stays small
		s.left = -1
		return m
	}
	if n.ForEach != nil || n.Repeat != nil {
		before = max(s.x.Times[n.Name], 1)
		s.times[n.Name] = copies
	}
	if n.Kind == ir.Step {
		s.left -= copies
		s.act(n, &m)
		return m
	}
	m.Children = s.nodes(n.Children, copies, before)
	return m
}

// act gives a step what takes its time.
func (s *shaper) act(n, m *ir.Node) {
	switch n.Action.Kind().Course() {
	case ir.Attempted:
		who := ir.Assignee{Agent: nobody}
		if task, ok := n.Action.(*ir.AgentTask); ok {
			who = task.Assignee
			who.Member = nil // nobody knows the member yet: as the strategy would choose
		}
		m.Action = &ir.AgentTask{Assignee: who}
	case ir.Called, ir.Pausing, ir.Stored:
		m.Action = &ir.Wait{Duration: ir.Lit((time.Duration(max(s.took(n.Name), 1)) * time.Microsecond).String(), value.StringType)}
	case ir.Computed:
		m.Action = nothing()
	}
}

// nothing is an action that takes no time.
func nothing() ir.Action { return &ir.Value{Expr: *ir.Lit(nil, value.AnyType)} }

func (s *shaper) took(name string) int64 {
	if us, ok := s.x.US[name]; ok {
		return us
	}
	return s.usual
}

// executions is how many instances a node has, and how many iterations each, where it was made so often in the newest run.
func (s *shaper) executions(n *ir.Node, before int) (instances, rounds int) {
	times := max(s.x.Times[n.Name], 1)
	instances, rounds = 1, 1
	if n.ForEach != nil {
		instances = (times + before - 1) / before
		if v, ok := s.known(n.ForEach); ok {
			switch v := v.(type) {
			case []value.Value:
				instances = len(v)
			case map[string]value.Value:
				instances = len(v)
			}
		}
		instances = min(instances, MaxExecutions+1)
	}
	if n.Repeat != nil {
		each := before * max(instances, 1)
		rounds = max((times+each-1)/each, 1)
	}
	return instances, rounds
}

// skips tells that a node would not run, as far as that can be told.
func (s *shaper) skips(n *ir.Node) bool {
	if n.When != nil {
		if v, ok := s.known(n.When); ok {
			return v == false
		}
	}
	return (n.When != nil || n.Case > 0) && !s.ran(n)
}

// ran tells that a node, or one in it, is known from earlier runs, or takes no time that could be.
func (s *shaper) ran(n *ir.Node) bool {
	if n.Kind == ir.Step {
		_, ok := s.x.US[n.Name]
		return ok || n.Action.Kind() == ir.ValueAction
	}
	for i := range n.Children {
		if s.ran(&n.Children[i]) {
			return true
		}
	}
	return false
}

// join keeps what does not depend on values.
func (s *shaper) join(n *ir.Node) *ir.Join {
	switch {
	case n.Join == nil || n.Join.Condition != nil:
		return nil
	case n.Join.Count != nil:
		if c := s.constant(n.Join.Count); c != nil {
			return &ir.Join{Count: c}
		}
		return nil
	}
	return &ir.Join{Word: n.Join.Word}
}

// constant is what an expression is known to give; nil if nothing.
func (s *shaper) constant(e *ir.Expr) *ir.Expr {
	if e == nil {
		return nil
	}
	if v, ok := s.known(e); ok && v != nil {
		return ir.Lit(v, e.Type)
	}
	return nil
}
