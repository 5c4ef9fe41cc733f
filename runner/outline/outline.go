// Package outline says what a workflow would do before it does it: in which order, how many steps at once, what is
// conditional, and how many attempts there are at most.
//
// An [Outline] is computed from the graph of runner/plan and what is known of values already; it runs nothing and is
// exact about structure: a wave is the length of the longest chain of waits before a step, through groups and all. What
// depends on values that only a run has is said to be unknown, never guessed.
//
// The package is pure; it knows neither files nor the machine. Enter at [Of]. The cost is linear in nodes and edges.
package outline

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/policy"
)

// Outline is what a run of a workflow would do.
type Outline struct {
	Workflow    string `json:"workflow"`
	Description string `json:"description,omitempty"`
	Steps       []Step `json:"steps"` // the steps, not the groups, in the order of their waves
	// Waves are the names of the steps that can run at once, one wave after the other.
	Waves [][]string `json:"waves"`
	// Critical is a longest chain of steps that wait for each other: the run cannot take fewer turns.
	Critical []string `json:"critical_path"`
	// Attempts is how many attempts there are at most; nil where that depends on values that are not known.
	Attempts *int `json:"attempts_at_most"`
	// Unknown names the steps whose attempts are not known.
	Unknown []string `json:"attempts_unknown,omitempty"`
	Finally []Step   `json:"finally,omitempty"`
	// Shared are the agents with bounds, the pools and the quotas of the run, and Budgets the budgets in it.
	Shared  []Resource `json:"shared,omitempty"`
	Budgets []Budget   `json:"budgets,omitempty"`
	// Rules are the rules of adapt, those of the workflow first and then those of its groups, in file order.
	Rules []Rule `json:"adapt,omitempty"`
	// Patterns are the nodes that the file has as patterns, in file order.
	Patterns []Pattern `json:"patterns,omitempty"`
	// Loops are the loops that start the workflow for items and have a quota or a target.
	Loops []Loop `json:"loops,omitempty"`
}

// Rule is a rule of adapt. Its expressions are as the file has them; "" is one that it does not have.
type Rule struct {
	Node           string   `json:"node"` // the group that it stands in, below the names of the groups around; "" is the workflow
	Number         int      `json:"rule"` // in its group or workflow, from 1
	When           string   `json:"when"`
	Until          string   `json:"until,omitempty"`
	For            string   `json:"for,omitempty"`
	Cooldown       string   `json:"cooldown,omitempty"`
	MaxConcurrency string   `json:"max_concurrency,omitempty"`
	Workflow       string   `json:"workflow,omitempty"`
	Notify         []string `json:"notify,omitempty"` // channels
}

// Pattern is a group that the file has as a feedback, a consensus or a compete.
type Pattern struct {
	Node    string   `json:"node"` // its name, below the names of the groups around
	Pattern string   `json:"pattern"`
	Steps   []string `json:"steps"` // the names of the steps that it is made of
}

// Step is one step of the outline.
type Step struct {
	Node string `json:"node"` // its name, below the names of the groups it lies in
	Name string `json:"name"`
	Wave int    `json:"wave"` // from 1; 0 in finally
	// Description is the description of the step in the file.
	Description string   `json:"description,omitempty"`
	Does        string   `json:"does"` // the kind of its action, with the NAME of an agent or a workflow: run, agent NAME, call NAME, value …
	After       []string `json:"after,omitempty"`
	Agents      []string `json:"agents,omitempty"`
	// Conditions are why it may not run, those of the groups around it included.
	Conditions []string `json:"conditions,omitempty"`
	// Skipped is the condition that is known to be false already.
	Skipped string `json:"skipped,omitempty"`
	// ForEach are the expressions that make instances of it, its own and those of the groups around it.
	ForEach []string `json:"for_each,omitempty"`
	// Escalates is the escalation of the step; "" if it has none.
	Escalates string `json:"escalates,omitempty"`
	// Instances is how many of it that makes; nil without one or where it is not known.
	Instances *int `json:"instances,omitempty"`
	// Rounds is how often the repeats around it make it at most; nil without a repeat or where it is not known.
	Rounds *int `json:"rounds_at_most,omitempty"`
	// Attempts is how many attempts it makes at most: instances × rounds × agents × retries; nil where it is not known.
	Attempts *int `json:"attempts_at_most"`
	// Each is how many of them an instance makes in a round; nil where it is not known.
	Each *int `json:"attempts_each"`
}

// Values computes an expression from what is known before a run; ok is false where that does not suffice.
type Values func(e *ir.Expr) (v value.Value, ok bool)

// MaxCount bounds what is counted: a product beyond it is given as it.
const MaxCount = 1_000_000_000

// Of makes the outline of a graph. Values may be nil: then only constants are known.
func Of(g *plan.Graph, values Values) *Outline {
	o := &outliner{g: g, values: values, start: make([]int, len(g.Nodes)), end: make([]int, len(g.Nodes)),
		from: make([]int, len(g.Nodes)), last: make([]int, len(g.Nodes))}
	out := &Outline{Workflow: g.Workflow.Name, Description: g.Workflow.Description, Steps: []Step{}, Waves: [][]string{}}
	for n := range g.Nodes {
		if o.finally(n) {
			continue
		}
		o.finish(n)
	}
	o.steps(out)
	o.critical(out)
	o.shared(out)
	out.Rules = rules(nil, "", g.Workflow.Adapt)
	for n := range g.Nodes {
		out.Rules = rules(out.Rules, o.path(n), g.Nodes[n].Adapt)
		if node := &g.Nodes[n]; node.Pattern != "" {
			out.Patterns = append(out.Patterns, Pattern{o.path(n), node.Pattern, stepsOf(node.Children)})
		}
	}
	out.Loops = o.loops()
	return out
}

// stepsOf lists the names of the steps among nodes and in them.
func stepsOf(nodes []ir.Node) (names []string) {
	for n := range ir.All(nodes) {
		if n.Kind == ir.Step {
			names = append(names, n.Name)
		}
	}
	return names
}

// SharedBy lists what a workflow shares with other runs, as [Outline.Shared] does. Only constants are known.
func SharedBy(g *plan.Graph) []Resource {
	o, out := &outliner{g: g}, &Outline{}
	o.shared(out)
	return out.Shared
}

// rules adds rules of a group or a workflow to a list.
func rules(list []Rule, node string, of []ir.Adapt) []Rule {
	text := func(e *ir.Expr) string {
		switch {
		case e == nil:
			return ""
		case e.Kind == ir.Const:
			return value.Text(e.Const)
		}
		return strings.Join(strings.Fields(e.Text), " ")
	}
	for i := range of {
		a := &of[i]
		r := Rule{Node: node, Number: i + 1, When: text(&a.When), Until: text(a.Until), For: text(a.For), Cooldown: text(a.Cooldown), MaxConcurrency: text(a.MaxConcurrency), Notify: a.Notify}
		if a.Call != nil {
			r.Workflow = a.Call.Workflow
		}
		list = append(list, r)
	}
	return list
}

type outliner struct {
	g      *plan.Graph
	values Values
	// start and end are the waves before a node's first step and at its last one; 0: not computed yet (they count from 1).
	start, end []int
	from       []int // the step that a node's start waits for, plus 1
	last       []int // the step that ends last in a node, plus 1
}

// known computes an expression, if it can be now.
func (o *outliner) known(e *ir.Expr) (value.Value, bool) {
	if e.Kind == ir.Const {
		return e.Const, true
	}
	if o.values == nil {
		return nil, false
	}
	return o.values(e)
}

// whole is a number that an expression is known to give; nil e gives the default.
func (o *outliner) whole(e *ir.Expr, otherwise int) *int {
	if e == nil {
		return &otherwise
	}
	if v, ok := o.known(e); ok {
		if f, ok := v.(float64); ok && f >= 0 && f <= MaxCount {
			n := int(f)
			return &n
		}
	}
	return nil
}

// times multiplies, bounded; unknown times anything is unknown.
func times(a, b *int) *int {
	if a == nil || b == nil {
		return nil
	}
	n := MaxCount
	if *a == 0 || *b <= MaxCount/max(*a, 1) {
		n = *a * *b
	}
	return &n
}

// attempts is how many attempts one round of a step makes at most: those of its agent and of each that it falls back to. What is
// computed, and a wait, is not an attempt.
func (o *outliner) attempts(n *plan.Node) *int {
	one, course := 1, n.Action.Kind().Course()
	switch {
	case course == ir.Computed || course == ir.Pausing:
		return new(int)
	case !n.Action.Kind().Retried():
		return &one
	case n.Own == nil:
		return o.tries(n, nil)
	}
	sum := o.most(n, n.Own)
	if n.Else != nil { // one of the two has it
		if other := o.most(n, n.Else); sum == nil || other == nil || *other > *sum {
			sum = other
		}
	}
	for _, other := range n.Others {
		more := o.most(n, other)
		if sum == nil || more == nil {
			return nil
		}
		total := min(*sum+*more, MaxCount)
		sum = &total
	}
	return sum
}

// withLevels adds the attempts that the levels of an escalation let a step make.
func (o *outliner) withLevels(n *plan.Node, sum *int) *int {
	if n.Action.Kind().Course() == ir.Pausing {
		return sum
	}
	for i, to := range n.To() {
		more := new(1)
		switch l := &n.Escalation.Levels[i]; {
		case l.Reassign != nil && to != nil:
			more = o.most(n, to)
		case l.Await != nil:
			more = o.anew(n)
		case l.Heal == nil:
			continue
		}
		if sum == nil || more == nil {
			return nil
		}
		sum = new(min(*sum+*more, MaxCount))
	}
	return sum
}

// rounds is how often all of a node can be made: its iterations, and as many again for each level that has a group made again.
func (o *outliner) rounds(n *plan.Node) *int {
	most := o.whole(&n.Repeat.Max, 1)
	if n.Kind != ir.Step {
		most = times(most, new(1+n.Heals()+n.AwaitsPeople()))
	}
	return most
}

// anew is what retries allow when a person has a step make its attempts anew, whoever has it then.
func (o *outliner) anew(n *plan.Node) *int {
	if n.Own == nil {
		return o.tries(n, nil)
	}
	var all plan.Assignee
	for _, a := range slices.Concat([]*plan.Assignee{n.Own, n.Else}, n.Others, n.To()) {
		if a != nil {
			all.Members = append(all.Members, a.Members...)
		}
	}
	return o.most(n, &all)
}

// most is what retries allow with an agent, or with the member of a pool that is tried most often: one of them has the task.
func (o *outliner) most(n *plan.Node, a *plan.Assignee) (most *int) {
	for _, g := range a.Members {
		tries := o.tries(n, g)
		if tries == nil {
			return nil
		}
		if most == nil || *tries > *most {
			most = tries
		}
	}
	return most
}

// tries is what retries allow with one agent: the step's word over the agent's over the workflow's.
func (o *outliner) tries(n *plan.Node, agent *ir.Agent) *int {
	otherwise := policy.DefaultMaxAttempts
	for _, g := range n.Gates {
		if g.OnFail == ir.OnFailRetry {
			otherwise = policy.DefaultRejections
		}
	}
	layers := []*ir.Retry{n.Retry, nil, o.g.Workflow.Retry}
	if agent != nil {
		layers[1] = agent.Retry
	}
	for _, l := range layers {
		if l != nil && l.MaxAttempts != nil {
			return o.whole(l.MaxAttempts, otherwise)
		}
	}
	return &otherwise
}
