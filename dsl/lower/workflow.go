package lower

import (
	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/ir"
)

// workflow lowers one workflow; gates written inside its steps join the program's under "WORKFLOW/STEP/GATE".
type workflow struct {
	src     *check.Workflow
	checked *check.Program
	program *ir.Program
	agents  map[string]*ir.Retry // what each agent says of retries
	pools   map[string][]string  // the members of each pool
	at      Positions
}

// inherited is what a group hands down to the steps inside it, because the IR has it on steps only: the nearest wins.
// env and dir stay with the group, where the machine finds them.
type inherited struct {
	shell string
	retry *ir.Retry
}

func (l *workflow) lower() ir.Workflow {
	w := l.src
	out := ir.Workflow{Name: w.Name, Description: w.Text("description"), MaxConcurrency: w.Expr("max_concurrency"),
		Timeout: w.Expr("timeout"), Retry: retry(w.Block), Classify: classify(w.Block), Env: env(w.Block), PassEnv: passEnv(w.Block), Dir: w.Expr("dir"), Quotas: quotas(w.Block, l.checked)}
	if a := w.Attrs["default"]; a != nil {
		out.Default = a.Flag
	}
	l.at[w.Name] = w.Src.Header
	for _, in := range w.Inputs {
		out.Inputs = append(out.Inputs, variable(in))
		l.at[w.Name+"/input."+in.Name] = in.Src.Header
	}
	out.Nodes = l.nodes(w.Nodes, inherited{shell: w.Text("shell")})
	out.Require = requires(w.Block)
	out.Budget = budget(w.Block)
	out.Adapt = adapt(w.Block)
	if b := w.Inner("concurrency"); b != nil {
		out.Concurrency = &ir.Concurrency{Group: *b.Expr("group"), WhenBusy: ir.WhenBusy(b.Text("when_busy"))}
	}
	if b := w.Inner("finally"); b != nil {
		out.Finally = &ir.Finally{Timeout: b.Expr("timeout"), Nodes: l.nodes(w.Finally, inherited{shell: w.Text("shell")})}
		for i := range out.Finally.Nodes {
			if n := &out.Finally.Nodes[i]; n.TriggerRule == "" {
				n.TriggerRule = ir.Always
			}
		}
	}
	for _, o := range w.Outputs {
		out.Outputs = append(out.Outputs, ir.Output{Name: o.Name, Expr: *o.Expr("value")})
		l.at[w.Name+"/output."+o.Name] = o.Src.Header
	}
	return out
}

func (l *workflow) nodes(nodes []*check.Node, from inherited) []ir.Node {
	out := make([]ir.Node, 0, len(nodes))
	for _, n := range nodes {
		out = append(out, l.node(n, from))
	}
	return out
}

func (l *workflow) node(n *check.Node, from inherited) ir.Node {
	path := l.src.Name + "/" + n.Name
	l.at[path] = n.Src.Header
	for _, a := range n.Src.Body.Attrs {
		l.at[path+"/"+a.Name] = a.Range
	}
	out := ir.Node{Name: n.Name, Kind: ir.NodeKind(n.Schema.Kind), Description: n.Text("description"), Needs: n.Needs, Observes: n.Observes, When: n.Expr("when"),
		ForEach: n.Expr("for_each"), MaxConcurrency: n.Expr("max_concurrency"), Timeout: n.Expr("timeout"), Output: n.OutputType(),
		Env: env(n.Block), PassEnv: passEnv(n.Block), Dir: n.Expr("dir"), TriggerRule: ir.TriggerRule(n.Text("trigger_rule")), Join: join(n), Losers: ir.Losers(n.Text("losers")),
		OnError: ir.OnError(n.Text("on_error")), OnLost: ir.OnLost(n.Text("on_lost")), OnTimeout: ir.OnTimeout(n.Text("on_timeout")), Priority: n.Expr("priority"), Repeat: repeat(n), Require: requires(n.Block),
		Case: n.Case}
	if b := n.Inner("deadline"); b != nil {
		out.Deadline = &ir.Deadline{After: *b.Expr("after"), Progress: progress(b), Notify: names(b.Attrs["notify"])}
	}
	out.Budget, out.Classify = budget(n.Block), classify(n.Block)
	out.Adapt = adapt(n.Block)
	if b := n.Inner("degrade"); b != nil {
		out.Degrade = b.Expr("output")
	}
	out.Quotas = quotas(n.Block, l.checked)
	out.Escalate = n.Escalation()
	own := from.over(n.Block)
	out.Compensate = compensate(n, own.shell)
	if out.Kind != ir.Step {
		out.Result, out.Winner, out.Gates = n.Expr("value"), n.Expr("winner"), names(n.Attrs["gates"])
		out.Children = l.nodes(n.Children, own)
		for _, b := range n.Cases() {
			out.Cases = append(out.Cases, ir.Case{When: b.Expr("when")})
		}
		return out
	}
	out.Action, out.Fallback = action(n, own), assignees(n.Attrs["fallback"])
	out.Gates = l.gates(n, own.shell)
	if out.Action.Kind().Retried() || n.WaitsAgain() {
		out.Retry = l.retry(n, own.retry)
	}
	return out
}

// gates lists a step's gates: those it names, in that order, then those written inside it and not named.
func (l *workflow) gates(n *check.Node, shell string) (out []string) {
	path := l.src.Name + "/" + n.Name + "/"
	named := map[string]bool{}
	inside := map[string]bool{}
	for _, g := range n.Gates {
		inside[g.Name] = true
		l.program.Gates = append(l.program.Gates, gate(g, path+g.Name, shell))
		l.at[path+"gate."+g.Name] = g.Src.Header
	}
	if a := n.Attrs["gates"]; a != nil {
		for _, r := range a.Names {
			named[r.Name] = true
			if inside[r.Name] {
				out = append(out, path+r.Name)
			} else {
				out = append(out, r.Name)
			}
		}
	}
	for _, g := range n.Gates {
		if !named[g.Name] {
			out = append(out, path+g.Name)
		}
	}
	return out
}

// over lays what a block sets over what it inherits.
func (from inherited) over(b *check.Block) inherited {
	if s := b.Text("shell"); s != "" {
		from.shell = s
	}
	if r := retry(b); r != nil && b.Schema.Kind != "step" {
		from.retry = merge(from.retry, r)
	}
	return from
}

// retry is what a step says over what the groups around it say. The agent's word lies between the two, and the machine
// lays it under the step's, so what the agent says itself is taken out of what the groups say.
func (l *workflow) retry(n *check.Node, groups *ir.Retry) *ir.Retry {
	own := retry(n.Block)
	if groups == nil {
		return own
	}
	for _, agent := range l.agentsOf(n.Attrs["agent"]) {
		groups = without(groups, l.agents[agent])
	}
	if own == nil {
		return groups
	}
	return merge(groups, own)
}

// agentsOf names the agents that may have a task which an attribute gives.
func (l *workflow) agentsOf(a *check.Attr) (out []string) {
	if a == nil {
		return nil
	}
	for i, n := range a.Names {
		if _, known := a.Member(i); known != "" {
			out = append(out, known)
		} else if n.Pool {
			out = append(out, l.pools[n.Name]...)
		} else {
			out = append(out, n.Name)
		}
	}
	return out
}

// without leaves out of a retry what another one says.
func without(r, said *ir.Retry) *ir.Retry {
	if said == nil {
		return r
	}
	out := *r
	for _, p := range []struct{ to, said **ir.Expr }{
		{&out.MaxAttempts, &said.MaxAttempts}, {&out.BaseDelay, &said.BaseDelay}, {&out.MaxDelay, &said.MaxDelay},
		{&out.Multiplier, &said.Multiplier}, {&out.When, &said.When},
	} {
		if *p.said != nil {
			*p.to = nil
		}
	}
	if said.Jitter != "" {
		out.Jitter = ""
	}
	return &out
}

// merge lays one retry over another, attribute by attribute.
func merge(under, over *ir.Retry) *ir.Retry {
	if under == nil {
		return over
	}
	out := *under
	for _, p := range []struct{ to, from **ir.Expr }{
		{&out.MaxAttempts, &over.MaxAttempts}, {&out.BaseDelay, &over.BaseDelay}, {&out.MaxDelay, &over.MaxDelay},
		{&out.Multiplier, &over.Multiplier}, {&out.When, &over.When},
	} {
		if *p.from != nil {
			*p.to = *p.from
		}
	}
	if over.Jitter != "" {
		out.Jitter = over.Jitter
	}
	return &out
}
