package outline

import (
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/policy"
)

// Worst is the most that a run can use: every attempt that retries, fallback agents, iterations, gates, compensations, finally and
// called runs allow, unless a budget allows less. Deaths of drivers add nothing.
type Worst struct {
	// Attempts is how many attempts can start; nil where that depends on values that only a run has.
	Attempts *int `json:"attempts"`
	// Known is how many can start besides those of Each.
	Known int `json:"attempts_known"`
	// Gates is how many of Known are attempts of gates; 0 also where a budget cuts their sum, which says nothing about its parts.
	Gates int `json:"attempts_of_gates,omitempty"`
	// Each are the nodes of which a run makes a number of instances or iterations that is not known.
	Each []Each `json:"attempts_each,omitempty"`
	// Tokens and CostUSD are those attempts, each at the most that one of its agent has used before. Nil: an agent has never said what
	// it uses, or the number of its attempts is not known.
	Tokens  *float64 `json:"tokens"`
	CostUSD *float64 `json:"cost_usd"`
	// Silent are the agents that work in the run, and of which no use is known.
	Silent []string `json:"agents_without_usage,omitempty"`
}

// Each is a node whose instances or iterations are not known, and how many attempts one of them makes at most; nil if that is not
// known either. Gates is as in Worst.
type Each struct {
	Node     string `json:"node"`
	Attempts *int   `json:"attempts"`
	Gates    int    `json:"attempts_of_gates,omitempty"`
}

// Used is the most that one attempt of each agent has used, by the agent's name. Its Attempts does not matter.
type Used map[string]event.Bounds

// load is the most that a part of a run uses.
type load struct {
	own, calls  float64 // attempts of the run itself, and of runs that it calls
	after       float64 // of compensations and finally, which no budget keeps from running
	gates       float64 // how many of all these are of gates
	gated       bool    // some attempts, perhaps of those that are left out, are of gates
	cut         bool    // a budget cuts a sum with attempts of gates, so gates does not say how many are
	tokens, usd float64
	unknown     bool // how often; own, calls, tokens and usd then leave those nodes out
	each        []Each
}

func (l *load) add(o load) {
	l.own, l.calls, l.after = min(l.own+o.own, MaxCount), min(l.calls+o.calls, MaxCount), min(l.after+o.after, MaxCount)
	l.gates, l.gated, l.cut = min(l.gates+o.gates, MaxCount), l.gated || o.gated, l.cut || o.cut
	l.tokens, l.usd = l.tokens+o.tokens, l.usd+o.usd
	l.unknown, l.each = l.unknown || o.unknown, append(l.each, o.each...)
}

// most is for parts of which one is carried out.
func (l *load) most(o load) {
	if o.total() > l.total() {
		l.gates = o.gates
	}
	l.gated, l.cut = l.gated || o.gated, l.cut || o.cut
	l.own, l.calls, l.after = max(l.own, o.own), max(l.calls, o.calls), max(l.after, o.after)
	l.tokens, l.usd = max(l.tokens, o.tokens), max(l.usd, o.usd)
	l.unknown, l.each = l.unknown || o.unknown, append(l.each, o.each...)
}

// total is all attempts.
func (l *load) total() int { return int(min(l.own+l.calls+l.after, MaxCount)) }

// ofGates is how many of the attempts are of gates, as far as that is known.
func (l *load) ofGates() int {
	if l.cut {
		return 0
	}
	return int(l.gates)
}

// times is the load of n copies; nil is a number that is not known.
func (l load) times(n *int, node string) load {
	if n == nil {
		out := load{unknown: true, gated: l.gated, cut: l.cut, each: []Each{{Node: node}}}
		if each := l.total(); !l.unknown {
			out.each[0].Attempts, out.each[0].Gates = &each, l.ofGates()
		}
		return out
	}
	f := float64(*n)
	l.own, l.calls, l.after = min(float64(l.own*f), MaxCount), min(float64(l.calls*f), MaxCount), min(float64(l.after*f), MaxCount)
	l.gates = min(float64(l.gates*f), MaxCount)
	l.tokens, l.usd = float64(l.tokens*f), float64(l.usd*f)
	if f == 0 {
		return load{}
	}
	return l
}

// counter counts one workflow.
type counter struct {
	*outliner
	*common
	slots float64 // attempts of the run that can be in flight at once
}

// common is shared with the counters of called workflows.
type common struct {
	used   Used
	silent map[string]bool
	asked  map[string]bool // the agents of all attempts that were counted
	called map[call]load
}

// call is a called workflow with what the budgets around the call leave for it at most.
type call struct {
	workflow string
	most     event.Bounds
}

// WorstOf computes the most that a run of the graph can use. parallel, if not 0, stands in place of the workflow's max_concurrency.
func WorstOf(g *plan.Graph, values Values, used Used, parallel int) *Worst {
	c := &common{used: used, silent: map[string]bool{}, asked: map[string]bool{}, called: map[call]load{}}
	l := c.worst(g, values, event.Bounds{}, parallel)
	w := &Worst{Known: l.total(), Gates: l.ofGates(), Each: l.each, Silent: slices.Sorted(maps.Keys(c.silent))}
	if l.unknown {
		return w
	}
	w.Attempts = &w.Known
	if len(c.silent) == 0 {
		w.Tokens, w.CostUSD = &l.tokens, &l.usd
	}
	return w
}

// worst is the load of a run within bounds.
func (of *common) worst(g *plan.Graph, values Values, most event.Bounds, parallel int) load {
	c := &counter{outliner: &outliner{g: g, values: values}, common: of, slots: plan.DefaultConcurrency}
	if g.Workflow.MaxConcurrency != nil {
		c.slots = limits.MaxConcurrency
		if n := c.whole(g.Workflow.MaxConcurrency, 0); n != nil {
			c.slots = float64(*n)
		}
	}
	if parallel > 0 {
		c.slots = float64(parallel)
	}
	most = most.Smallest(c.bounds(g.Workflow.Budget))
	var all load
	for _, i := range g.Top {
		all.add(c.node(i, most))
	}
	all.add(c.rules("", g.Workflow.Adapt, most))
	all = c.bounded(all, most, g.Top)
	for _, i := range g.Finally {
		l := c.node(i, event.Bounds{})
		l.after, l.own, l.calls = l.after+l.own+l.calls, 0, 0
		all.add(l)
	}
	return all
}

// bounds are those of a budget that stops, as far as they are known.
func (c *counter) bounds(b *ir.Budget) (most event.Bounds) {
	if b == nil || b.OnExceed == ir.OnExceedWarn || b.OnExceed == ir.OnExceedAsk {
		return most
	}
	number := func(e *ir.Expr) float64 {
		if e != nil {
			if v, ok := c.known(e); ok {
				f, _ := v.(float64)
				return f
			}
		}
		return 0
	}
	return event.Bounds{Attempts: int64(number(b.Attempts)), Tokens: number(b.Tokens), CostUSD: number(b.CostUSD)}
}

// bounded is the load of nodes within a budget. Attempts of the run and of those that it calls never exceed theirs, however many nodes
// would make some. Tokens and costs can be exceeded by what is in flight, and each called run has their bounds for itself.
func (c *counter) bounded(l load, most event.Bounds, nodes []int) load {
	if most == (event.Bounds{}) {
		return l
	}
	calls, flight := slices.ContainsFunc(c.g.Workflow.Adapt, starts), event.Bounds{}
	var look func(list []int)
	look = func(list []int) {
		for _, i := range list {
			n := &c.g.Nodes[i]
			if n.Heals() > 0 || slices.ContainsFunc(n.Adapt, starts) || n.Kind == ir.Step && n.Action.Kind().Course() == ir.Called {
				calls = true
			}
			for _, a := range append(agentsOf(n), c.judgesOf(n)...) {
				u := c.used[a.Name]
				flight.Tokens, flight.CostUSD = max(flight.Tokens, u.Tokens), max(flight.CostUSD, u.CostUSD)
			}
			look(n.Below)
		}
	}
	look(nodes)
	if bound := float64(most.Attempts); bound > 0 {
		l.cut = l.cut || l.gated && (l.own+l.calls > bound || l.unknown)
		l.own = min(l.own, bound)
		l.calls = min(l.calls, bound-l.own)
		if l.unknown && !c.undoes(nodes) && !(calls && c.calledUndo()) {
			l.own, l.calls, l.unknown, l.each = bound, 0, false, nil
			if calls {
				for name := range c.asked { // any order: the most
					u := c.used[name]
					flight.Tokens, flight.CostUSD = max(flight.Tokens, u.Tokens), max(flight.CostUSD, u.CostUSD)
				}
			}
			// Each attempt may be that of the agent that uses most.
			l.tokens, l.usd = float64(bound*flight.Tokens), float64(bound*flight.CostUSD)
		}
	}
	if calls {
		return l
	}
	if most.Tokens > 0 {
		l.tokens = min(l.tokens, most.Tokens+float64(c.slots*flight.Tokens))
	}
	if most.CostUSD > 0 {
		l.usd = min(l.usd, most.CostUSD+float64(c.slots*flight.CostUSD))
	}
	return l
}

// undoes reports whether one of the nodes, or one below it, has a compensation.
func (c *counter) undoes(nodes []int) bool {
	return slices.ContainsFunc(nodes, func(i int) bool { return c.g.Nodes[i].Compensate != nil || c.undoes(c.g.Nodes[i].Below) })
}

// calledUndo reports whether a workflow of the program has a compensation or a finally, which no budget keeps from running.
func (c *counter) calledUndo() bool {
	var undo func(nodes []ir.Node) bool
	undo = func(nodes []ir.Node) bool {
		return slices.ContainsFunc(nodes, func(n ir.Node) bool { return n.Compensate != nil || undo(n.Children) })
	}
	return slices.ContainsFunc(c.g.Program.Workflows, func(w ir.Workflow) bool { return w.Finally != nil || undo(w.Nodes) })
}

// node is the load of a node with all its instances and iterations, in one activation of what is around it.
func (c *counter) node(i int, most event.Bounds) load {
	n := &c.g.Nodes[i]
	if n.When != nil {
		if v, ok := c.known(n.When); ok && v == false {
			return load{}
		}
	}
	own := c.bounds(n.Budget)
	most = most.Smallest(own)
	var l load
	if n.Kind == ir.Step {
		l = c.step(n, most)
	} else {
		cases := map[int]*load{}
		for _, b := range n.Below {
			at := cases[c.g.Nodes[b].Case]
			if at == nil {
				at = &load{}
				cases[c.g.Nodes[b].Case] = at
			}
			at.add(c.node(b, most))
		}
		for _, k := range slices.Sorted(maps.Keys(cases)) { // one case of a switch; other groups have one that is all
			l.most(*cases[k])
		}
		l.add(c.gates(n))
		if n.Compensate != nil {
			l.add(load{after: 1})
		}
		l.add(c.rules(n.Name+"/", n.Adapt, most))
	}
	if n.Repeat != nil {
		l = l.times(c.rounds(n), c.path(i))
	}
	if n.Kind != ir.Step {
		c.addHealers(&l, n, most)
	}
	if n.ForEach != nil {
		l = l.times(c.members(n.ForEach), c.path(i))
	}
	return c.bounded(l, own, []int{i})
}

// gates is the load of the gates of a node, for one result: an attempt of each that runs a program, and those of the judge of a review.
func (c *counter) gates(n *plan.Node) (l load) {
	for _, g := range n.Gates {
		if g.Run != nil {
			l.add(load{own: 1, gates: 1, gated: true})
		}
		if judge := c.g.Judges[g]; judge != nil {
			var one load
			for _, who := range judge.Members {
				tries := new(policy.DefaultMaxAttempts)
				if who.Retry != nil {
					tries = c.whole(who.Retry.MaxAttempts, policy.DefaultMaxAttempts)
				}
				try := c.attempt(who)
				try.gates, try.gated = try.own, true
				one.most(try.times(tries, n.Name))
			}
			l.add(one)
		}
	}
	return l
}

// agentsOf lists the agents that a step can ask.
func agentsOf(n *plan.Node) (list []*ir.Agent) {
	for _, a := range slices.Concat([]*plan.Assignee{n.Own, n.Else}, n.Others, n.To()) {
		if a != nil {
			list = append(list, a.Members...)
		}
	}
	return list
}

// judgesOf lists the agents that can judge for the gates of a node.
func (c *counter) judgesOf(n *plan.Node) (list []*ir.Agent) {
	for _, g := range n.Gates {
		if judge := c.g.Judges[g]; judge != nil {
			list = append(list, judge.Members...)
		}
	}
	return list
}

// step is the load of one iteration of one instance of a step, with what its escalation adds.
func (c *counter) step(n *plan.Node, most event.Bounds) load {
	l := c.plainStep(n, most)
	for i, to := range n.To() {
		switch level := &n.Escalation.Levels[i]; {
		case level.Reassign != nil && to != nil:
			l.add(c.turns(n, to))
		case level.Heal != nil:
			l.add(c.oneMore(n, most))
		case level.Await != nil:
			l.add(c.attemptsAnew(n, most))
		}
	}
	c.addHealers(&l, n, most)
	return l
}

// attemptsAnew is the load of the attempts that a person has a step make anew, whoever has the task then.
func (c *counter) attemptsAnew(n *plan.Node, most event.Bounds) (l load) {
	switch {
	case n.Action.Kind().Course() == ir.Called:
		return c.callLoad(n, most, load{}, c.tries(n, nil))
	case n.Action.Kind().Course() == ir.Pausing:
		return c.pauses(n)
	case n.Own == nil:
		return c.turn(n, nil)
	}
	for _, g := range agentsOf(n) {
		l.most(c.turn(n, g))
	}
	return l
}

// oneMore is the load of the one attempt after a healing, whoever has the task then.
func (c *counter) oneMore(n *plan.Node, most event.Bounds) (l load) {
	if n.Action.Kind().Course() == ir.Called {
		return c.callLoad(n, most, load{}, new(1))
	}
	if n.Action.Kind().Course() != ir.Pausing {
		l.own = 1
	}
	for _, g := range agentsOf(n) {
		l.most(c.attempt(g))
	}
	l.add(c.gates(n))
	return l
}

// pauses is the load of a wait or an approval: that of its gates, as often as one of them can have it wait again.
func (c *counter) pauses(n *plan.Node) load {
	l := c.gates(n)
	if l.total() > 0 && slices.ContainsFunc(n.Gates, func(g *ir.Gate) bool { return g.OnFail == ir.OnFailRetry }) {
		return l.times(c.tries(n, nil), n.Name)
	}
	return l
}

// addHealers adds the runs of the workflows of an escalation.
func (c *counter) addHealers(l *load, n *plan.Node, most event.Bounds) {
	if n.Escalation == nil {
		return
	}
	for i := range n.Escalation.Levels {
		if heal := n.Escalation.Levels[i].Heal; heal != nil {
			child := c.childLoad(heal.Workflow, n.Name, most)
			child.calls, child.own = child.calls+child.own, 0
			l.add(child)
		}
	}
}

func (c *counter) plainStep(n *plan.Node, most event.Bounds) (l load) {
	if n.Compensate != nil {
		l.after = 1
	}
	switch n.Action.Kind().Course() {
	case ir.Computed:
		l.add(c.gates(n))
		return l
	case ir.Pausing:
		l.add(c.pauses(n))
		return l
	case ir.Stored:
		l.own = 1
		l.add(c.gates(n))
		return l
	case ir.Called:
		return c.callLoad(n, most, l, c.tries(n, nil))
	case ir.Attempted:
	}
	if n.Own == nil {
		l.add(c.turn(n, nil))
		return l
	}
	first := c.turns(n, n.Own)
	if n.Else != nil {
		first.most(c.turns(n, n.Else))
	}
	l.add(first)
	for _, a := range n.Others {
		l.add(c.turns(n, a))
	}
	return l
}

// turns is the load of a step while an agent or one member of a pool has it.
func (c *counter) turns(n *plan.Node, a *plan.Assignee) (l load) {
	for _, g := range a.Members {
		l.most(c.turn(n, g))
	}
	return l
}

// turn is the load of a step while one agent has it; nil for a step without agents.
func (c *counter) turn(n *plan.Node, a *ir.Agent) (l load) {
	one := load{own: 1}
	if a != nil {
		one = c.attempt(a)
	}
	one.add(c.gates(n))
	return one.times(c.tries(n, a), n.Name)
}

// attempt is the load of one attempt of an agent.
func (c *counter) attempt(a *ir.Agent) load {
	u, known := c.used[a.Name]
	c.asked[a.Name] = true
	if a.Type != ir.AgentNull && !known {
		c.silent[a.Name] = true
	}
	one := load{own: 1, tokens: u.Tokens, usd: u.CostUSD}
	if a.Heartbeat != nil { // an attempt that falls silent starts again
		one = one.times(new(plan.MaxSilences), "")
	}
	return one
}

// callLoad is the load of a call: of each run that its tries make.
func (c *counter) callLoad(n *plan.Node, most event.Bounds, l load, tries *int) load {
	child := c.childLoad(n.Action.(*ir.Call).Workflow, n.Name, most)
	child.calls, child.own = child.calls+child.own, 0
	child.add(c.gates(n))
	child = child.times(tries, n.Name)
	l.add(child)
	return l
}

// starts reports whether a rule of adapt starts a workflow.
func starts(r ir.Adapt) bool { return r.Call != nil }

// rules is the load of the workflows that rules of a group or a workflow start. Nobody knows how often.
func (c *counter) rules(prefix string, list []ir.Adapt, most event.Bounds) (l load) {
	for i := range list {
		if call := list[i].Call; call != nil {
			name := prefix + "adapt:" + call.Workflow
			child := c.childLoad(call.Workflow, name, most)
			child.calls, child.own = child.calls+child.own, 0
			l.add(child.times(nil, name))
		}
	}
	return l
}

// childLoad is the load of one run of a workflow that a node calls.
func (c *counter) childLoad(workflow, node string, most event.Bounds) load {
	key := call{workflow, most}
	child, counted := c.called[key]
	if !counted {
		g, err := plan.Build(c.g.Program, key.workflow)
		if err != nil {
			return load{unknown: true, each: []Each{{Node: node}}}
		}
		child = c.worst(g, nil, most, 0)
		c.called[key] = child
	}
	child.each = slices.Clone(child.each)
	for i := range child.each {
		child.each[i].Node = node + "/" + child.each[i].Node
	}
	return child
}
