package outline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/plan"
)

// steps lists what the graph holds, wave by wave, and adds up.
func (o *outliner) steps(out *Outline) {
	total := 0
	for i := range o.g.Nodes {
		if o.g.Nodes[i].Kind != ir.Step {
			continue
		}
		s := o.step(i)
		if s.Attempts == nil {
			out.Unknown = append(out.Unknown, s.Node)
		} else {
			total = min(total+*s.Attempts, MaxCount)
		}
		if o.finally(i) {
			out.Finally = append(out.Finally, s)
			continue
		}
		s.Wave = o.start[i]
		out.Steps = append(out.Steps, s)
		for len(out.Waves) < s.Wave {
			out.Waves = append(out.Waves, []string{})
		}
		out.Waves[s.Wave-1] = append(out.Waves[s.Wave-1], s.Node)
	}
	slices.SortStableFunc(out.Steps, func(a, b Step) int { return a.Wave - b.Wave })
	if len(out.Unknown) == 0 {
		out.Attempts = &total
	}
}

func (o *outliner) step(i int) Step {
	n := &o.g.Nodes[i]
	s := Step{Node: o.path(i), Name: n.Name, Description: n.Description, Does: does(n)}
	for _, a := range n.Awaits {
		s.After = append(s.After, o.g.Nodes[a.Node].Name)
	}
	for _, a := range slices.Concat([]*plan.Assignee{n.Own, n.Else}, n.Others, n.To()) {
		if a == nil {
			continue
		}
		for _, g := range a.Members {
			if !slices.Contains(s.Agents, g.Name) {
				s.Agents = append(s.Agents, g.Name)
			}
		}
	}
	one, rounds := 1, 1
	instances, most := &one, &rounds
	repeated := false
	for at := i; at != plan.None; at = o.g.Nodes[at].Parent {
		around := &o.g.Nodes[at]
		o.conditions(&s, around)
		if around.ForEach != nil {
			s.ForEach = append(s.ForEach, around.ForEach.Text)
			instances = times(instances, o.members(around.ForEach))
		}
		if around.Repeat != nil {
			repeated, most = true, times(most, o.rounds(around))
		}
	}
	s.Each = o.withLevels(n, o.attempts(n))
	s.Escalates = n.Escalate
	s.Attempts = times(times(instances, most), s.Each)
	if s.Skipped != "" {
		s.Attempts = new(int)
	}
	if s.ForEach != nil {
		s.Instances = instances
	}
	if repeated {
		s.Rounds = most
	}
	return s
}

// conditions notes why a step inside a node (or the node itself) may not run.
func (o *outliner) conditions(s *Step, n *plan.Node) {
	if n.TriggerRule != "" && n.TriggerRule != ir.AllDone && n.TriggerRule != ir.Always {
		s.Conditions = append(s.Conditions, "trigger_rule "+string(n.TriggerRule))
	}
	if n.Case > 0 && n.Parent != plan.None {
		s.Conditions = append(s.Conditions, o.chosen(n))
	}
	if n.When == nil {
		return
	}
	s.Conditions = append(s.Conditions, n.When.Text)
	if v, ok := o.known(n.When); ok && v == false {
		s.Skipped = n.When.Text
	}
}

// chosen says which case of a switch it takes.
func (o *outliner) chosen(n *plan.Node) string {
	group := &o.g.Nodes[n.Parent]
	if when := group.Cases[n.Case-1].When; when != nil {
		return "case of " + group.Name + ": " + when.Text
	}
	return "default of " + group.Name
}

// members is how many instances a for_each makes.
func (o *outliner) members(e *ir.Expr) *int {
	v, ok := o.known(e)
	if !ok {
		return nil
	}
	n := 0
	switch v := v.(type) {
	case []value.Value:
		n = len(v)
	case map[string]value.Value:
		n = len(v)
	default:
		return nil
	}
	return &n
}

// who names an agent, or a pool and those of it that may have the task.
func who(a *plan.Assignee) string {
	if a.Agent != nil {
		return "agent " + a.Agent.Name
	}
	names := make([]string, len(a.Members))
	for i, g := range a.Members {
		names[i] = g.Name
	}
	member := ""
	if a.Member != nil {
		member = "[" + a.Member.Text + "]"
	}
	return fmt.Sprintf("pool %s%s (%s)", a.Pool.Name, member, strings.Join(names, ", "))
}

// does names a step's action: by its kind, and whom it names.
func does(n *plan.Node) string {
	kind := string(n.Action.Kind())
	switch a := n.Action.(type) {
	case *ir.AgentTask:
		if n.Else == nil {
			return who(n.Own)
		}
		if n.Own.Agent != nil && n.Else.Agent != nil {
			return kind + " " + n.Own.Agent.Name + " or " + n.Else.Agent.Name
		}
		return who(n.Own) + " or " + who(n.Else)
	case *ir.Call:
		return kind + " " + a.Workflow
	}
	return kind
}
