package check

import (
	"fmt"
	"sort"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// outline reads the names of a workflow and what is fixed in the file.
func (c *checker) outline(w *Workflow) {
	w.forget()
	c.nodes(w)
	c.adaptReferences(w.Block)
	for _, n := range w.All {
		c.static(n.Block)
		n.shells(w)
		c.references(n)
		n.again = n.Schema.Kind != "step" && c.asksAgain(n)
		if n.Schema.Kind == "step" {
			c.action(n)
			c.asked(n)
		}
	}
	c.namesEscalation(w)
	inputs, places := map[string]value.Type{}, map[string]diag.Range{}
	for _, in := range w.Inputs {
		c.decl(in)
		c.inputGates(in)
		inputs[in.Name], places[in.Name] = in.read(), nameRange(in.Block)
	}
	w.inputs = &expr.Root{What: "input", Names: inputs, Secret: secrets(w.Inputs), Used: map[string]bool{}, Decl: func(n string) diag.Range { return places[n] }}
	for _, in := range w.Inputs {
		env := c.env(roots{"input": w.inputs}, nil)
		delete(env.Roots, "local")
		env.Hidden["local"] = notLocal
		c.validations(in, "input", env)
	}
}

// workflow checks all that is inside a workflow.
func (c *checker) workflow(w *Workflow) {
	c.nodeTypes(w)
	c.judgesInputs(w)
	own := c.envAt(w, nil, inWorkflow)
	c.takesQuotas(w.Block)
	c.expressions(w.Block, func(string) *expr.Env { return own })
	c.retry(w.Block, c.retryEnv(w, nil), own)
	for _, b := range w.Blocks {
		if b.Schema.Kind == "concurrency" {
			only := c.env(roots{"input": w.inputs}, map[string]string{"run": "The group is evaluated before its run begins.", "step": "The group is evaluated before any step runs."})
			c.expressions(b, func(string) *expr.Env { return only })
		}
		if b.Schema.Kind == "require" || b.Schema.Kind == "finally" || b.Schema.Kind == "budget" {
			c.expressions(b, func(string) *expr.Env { return own })
		}
	}
	c.classifies(w.Block, c.envAt(w, nil, inClassify))
	c.budget(w.Block, w.Nodes)
	c.adapt(w, nil)
	uses, first := make([][]use, len(w.All)), len(c.list)
	for i, n := range w.All {
		c.node(w, n)
		uses[i] = c.depend(w, n)
		c.compensated(w, n)
	}
	circles := c.cycles(w, uses, first)
	for _, o := range w.Outputs {
		env := c.envAt(w, nil, inOutput)
		c.expressions(o, func(string) *expr.Env { return env })
		c.reading(w, o, &outside)
	}
	if len(circles) == 0 {
		c.sound(w)
	}
	c.holding(w)
	c.adaptTakes(w)
	w.forget()
	w.result, w.roots = nil, nil
}

// node checks the expressions of a node that its type did not need.
func (c *checker) node(w *Workflow, n *Node) {
	if a := n.attr("for_each"); a != nil && !a.done {
		c.eachType(w, n)
	}
	if a := n.attr("max_concurrency"); a != nil && n.Schema.Kind == "step" && n.attr("for_each") == nil {
		c.report(diag.Diagnostic{Code: "F0124", Subject: a.Src.Range, Context: n.Words(), Summary: "max_concurrency on a single step",
			Detail: "It limits the instances of a for_each or the nodes of a group. This step has neither."})
	}
	c.handsIn(n)
	c.expressions(n.Block, func(attr string) *expr.Env { return c.envAt(w, n, n.placeOf(attr)) })
	for _, b := range n.Blocks {
		c.part(w, n, b)
	}
	c.joined(n)
	c.priority(n)
	c.deadline(n)
	c.budget(n.Block, []*Node{n})
	c.adapt(w, n)
	c.callWith(n)
	c.toolWith(n)
	c.personal(n)
	c.gatesEscalate(n)
	if a := n.attr("gates"); a != nil {
		for _, r := range a.Names {
			if g := c.gates[r.Name]; g != nil && n.ownGate(r.Name) == nil {
				c.judges(g, n, r.Range)
				c.selfJudged(n, g)
			}
		}
	}
}

// part checks the expressions of a block that stands in a node and is none itself.
func (c *checker) part(w *Workflow, n *Node, b *Block) {
	at := perNode
	action, isAction := actions[ir.ActionKind(b.Schema.Kind)]
	if isAction {
		at = action.place
	}
	switch b.Schema.Kind {
	case "adapt":
		return
	case "retry":
		c.retry(n.Block, c.retryEnv(w, n), c.envAt(w, n, perNode))
		return
	case "repeat":
		c.expressions(b, func(attr string) *expr.Env {
			if attr == "until" {
				return c.envAt(w, n, inUntil)
			}
			return c.envAt(w, n, atStart)
		})
		return
	case "require", "case", "default", "deadline":
		at = atStart
	case "budget":
		at = once
	case "degrade":
		at = inDegrade
	case "classify":
		at = inClassify
	case "compensate":
		at = inCompensate
	case "gate":
		c.gate(b)
		at = inGate
	}
	if !isNode(b) {
		c.expressions(b, func(attr string) *expr.Env {
			if attr == "match" {
				return c.envAt(w, n, inMatch)
			}
			return c.envAt(w, n, at)
		})
	}
	if b.Schema.Kind == "gate" {
		c.schema(b)
		for _, in := range b.Blocks {
			c.expressions(in, func(string) *expr.Env { return c.envAt(w, n, inGate) })
		}
		c.selfJudged(n, b)
	}
	if isAction && action.block != nil {
		action.block(c, b)
	}
}

func (n *Node) placeOf(attr string) where {
	switch attr {
	case "value", "winner":
		if n.Schema.Kind != "step" {
			return inResult
		}
	case "join":
		return inJoin
	case "priority":
		return atStart
	case "quota":
		if n.Schema.Kind != "step" {
			return atStart
		}
	case "for_each", "max_concurrency":
		return once
	case "when":
		return inWhen
	case "run", "task", "with", "env", "dir", "stdin":
		return perAttempt
	}
	return perNode
}

// retryEnv is for retry.when: what the node may read, and the error.
func (c *checker) retryEnv(w *Workflow, n *Node) *expr.Env { return c.envAt(w, n, inRetry) }

// references checks that the agents and gates that a node names are declared.
func (c *checker) references(n *Node) {
	look := func(attr string, declared map[string]*Block, kind string) {
		a := n.attr(attr)
		if a == nil {
			return
		}
		known := a.Names[:0]
		for _, r := range a.Names {
			declared, kind := declared, kind
			if r.Pool {
				declared, kind = c.pools, "pool"
			}
			if declared[r.Name] != nil || kind == "gate" && n.ownGate(r.Name) != nil {
				known = append(known, r)
				continue
			}
			c.unknownDeclared(n.Block, r, kind, declared)
		}
		a.Names = known
	}
	look("agent", c.agents, "agent")
	look("call", c.callable, "workflow")
	look("fallback", c.agents, "agent")
	look("escalate", c.escalations, "escalation")
	c.able(n)
	c.fallbacks(n)
	c.takesQuotas(n.Block)
	c.adaptReferences(n.Block)
	look("gates", c.gates, "gate")
	if a := n.attr("gates"); a != nil {
		seen := map[string]bool{}
		for _, r := range a.Names {
			if seen[r.Name] {
				c.report(diag.Diagnostic{Code: "F0219", Subject: r.Range, Context: n.Words(), Summary: fmt.Sprintf("gates names %q twice", r.Name), Detail: "It would judge the same result twice. Remove one of the two."})
			}
			seen[r.Name] = true
		}
	}
}

// ownGate returns the gate of a name that is written inside the step.
func (n *Node) ownGate(name string) *Block {
	for _, g := range n.Gates {
		if g.Name == name {
			return g
		}
	}
	return nil
}

func keys(m map[string]*Block) []string {
	out := make([]string, 0, len(m))
	for k := range m { // any order: sorted below
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// reading refuses references of a block that makes no dependencies to what exists only inside a for_each or repeat.
func (c *checker) reading(w *Workflow, o *Block, from *Node) {
	walk(o, func(a *Attr, e *ir.Expr) {
		for _, r := range e.Reads {
			to := w.ByName[r.Name]
			if r.Root != "step" || to == nil {
				continue
			}
			at := from
			if from.holds(to) { // the group has ended
				at = &Node{Parent: from}
			}
			if d := refused(at, to); d != nil {
				d.Subject, d.Context = a.locate(r.Name), o.Words()
				c.report(*d)
			}
		}
	})
}

// outside stands for a place that is in no node.
var outside Node

// nearest returns the declared name that a mistyped one most likely meant, or "". It compares no more names once
// [expr.MaxSuggestions] were looked for: a file with 10,000 names and as many mistakes must be refused in seconds.
func (c *checker) nearest(name string, declared map[string]*Block) string {
	return c.nearestOf(name, func() []string { return keys(declared) })
}

func (c *checker) nearestOf(name string, names func() []string) string {
	if c.suggested++; c.suggested > expr.MaxSuggestions {
		return ""
	}
	return diag.Nearest(name, names())
}
