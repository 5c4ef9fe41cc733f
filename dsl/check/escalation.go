package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// checkEscalations checks the escalations, once the inputs and outputs of all workflows are known.
func (c *checker) checkEscalations() {
	const why = "All workflows share an escalation, so it reads only var, local, result, error, attempt and elapsed."
	rule := c.env(failureRoots(), map[string]string{"step": why, "input": why})
	for _, b := range c.program.Escalations {
		levels := map[string]*Block{}
		for _, l := range b.levels() {
			if first := levels[l.Name]; first != nil && l.Name != "" {
				c.report(diag.Diagnostic{Code: "F0201", Subject: nameRange(l), Context: b.Words(), Summary: fmt.Sprintf("Level %q is declared twice", l.Name),
					Detail: "Names must be unique. Rename one of the two.", Notes: []diag.Note{{Text: "declared first", Range: nameRange(first)}}})
				continue
			}
			levels[l.Name] = l
			roots := failureRoots()
			// It is null where no level has healed before this one. That is left to the run: which levels come before is up to the rules.
			roots["healed"] = root("healed", healedType(c.healersBeside(b, l)))
			level := c.env(roots, map[string]string{"step": why, "input": why})
			c.expressions(l, func(string) *expr.Env { return level })
			c.level(l)
		}
		if len(levels) == 0 && !b.stray {
			c.report(diag.Diagnostic{Code: "F0350", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("No levels in %s", b.Words()),
				Detail: "An escalation needs at least one level:  level \"self_heal\" { workflow = workflow.NAME }."})
		}
		c.rules(b, levels, rule)
	}
}

// rules checks that the rules of an escalation name levels, and that each can be asked.
func (c *checker) rules(b *Block, levels map[string]*Block, env *expr.Env) {
	var last *Block // the first rule without a condition
	for _, r := range b.Blocks {
		if r.Schema.Kind != "rule" {
			continue
		}
		c.expressions(r, func(string) *expr.Env { return env })
		a := r.attr("level")
		if a != nil && a.Text != "" && levels[a.Text] == nil {
			d := diag.Diagnostic{Code: "F0350", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("%s has no level %.80q", upper(b.Words()), a.Text),
				Detail: "Add the level, or name another one."}
			if near := c.nearest(a.Text, levels); near != "" {
				d.Detail = fmt.Sprintf("Did you mean %q?", near)
				d.Edit = &diag.Edit{Range: a.span(), Text: fmt.Sprintf("%q", near)}
				d.Notes = []diag.Note{{Text: fmt.Sprintf("%q is declared here", near), Range: nameRange(levels[near])}}
			}
			c.report(d)
		}
		if r.attr("when") != nil || r.stray {
			continue
		}
		if last != nil {
			c.report(diag.Diagnostic{Code: "F0351", Severity: diag.Warning, Subject: r.Src.Range, Context: b.Words(), Summary: "A second rule without a condition",
				Detail: "The first rule already gets all failures that remain after retries and fallback agents. Give one of the two a condition (when), or remove it.",
				Notes:  []diag.Note{{Text: "the first one", Range: last.Src.Range}}})
			continue
		}
		last = r
	}
}

// level checks one level: it does one thing at most, and what it names is declared.
func (c *checker) level(b *Block) {
	c.tells(b, "notify")
	if a := b.attr("workflow"); a != nil {
		if r := a.ref(); r.Name != "" && c.workflows[r.Name] == nil {
			c.unknownDeclared(b, r, "workflow", c.callable)
		} else if r.Name != "" {
			c.givenTo(c.workflows[r.Name], b, a)
		}
	} else if a := b.attr("with"); a != nil && !b.stray {
		c.report(diag.Diagnostic{Code: "F0354", Subject: a.Src.Range, Context: b.Words(), Summary: "with has no effect without a workflow",
			Detail: "It sets the inputs of the workflow that a level runs. Name the workflow, or remove with."})
	}
	if a := b.attr("reassign"); a != nil {
		if r := a.ref(); r.Name != "" && r.Pool && c.pools[r.Name] == nil {
			c.unknownDeclared(b, r, "pool", c.pools)
		} else if r.Name != "" && !r.Pool && c.agents[r.Name] == nil {
			c.unknownDeclared(b, r, "agent", c.agents)
		}
	}
	c.oneDeed(b)
	for _, name := range []string{"after", "after_ack"} {
		if a := b.attr(name); a != nil && b.attr("await") == nil && !b.stray {
			c.report(diag.Diagnostic{Code: "F0354", Subject: a.Src.Range, Context: b.Words(), Summary: fmt.Sprintf("%s has no effect without await", name),
				Detail: "It is the time that a level waits for a person. Write  await = \"decision\",  or remove it."})
		}
	}
}

// oneDeed checks that a level does one thing at most.
func (c *checker) oneDeed(b *Block) {
	var first *Attr
	for _, name := range []string{"workflow", "reassign", "await"} {
		a := b.attr(name)
		switch {
		case a == nil:
		case first == nil:
			first = a
		default:
			c.report(diag.Diagnostic{Code: "F0352", Subject: a.Src.Range, Context: b.Words(), Summary: fmt.Sprintf("A level with %s and %s", first.Src.Name, name),
				Detail: "A level does only one of the two. Move the other one into a separate level, which follows if the first one does not help."})
		}
	}
}

// awaits reports whether a person may have to decide about a node: a level of its escalation awaits a decision.
func (n *Node) awaits() bool {
	return n.escalation != nil && slices.ContainsFunc(n.escalation.levels(), func(l *Block) bool { return l.attr("await") != nil })
}

// levels are the levels of an escalation, in order.
func (b *Block) levels() (out []*Block) {
	for _, l := range b.Blocks {
		if l.Schema.Kind == "level" {
			out = append(out, l)
		}
	}
	return out
}

// namesEscalation finds the escalation of each node: its own, or for a step that makes attempts that of its workflow.
func (c *checker) namesEscalation(w *Workflow) {
	if a := w.attr("escalate"); a != nil && a.ref().Name != "" {
		if r := a.ref(); c.escalations[r.Name] == nil {
			c.unknownDeclared(w.Block, r, "escalation", c.escalations)
			a.Names = nil
		}
		c.escalated[a.ref().Name] = true
	}
	for _, n := range w.All {
		a := n.attr("escalate")
		if a != nil {
			c.escalated[a.ref().Name] = true
		} else if n.Schema.Kind == "step" && n.Does.Outward() && n.Does.Course() != ir.Pausing && !n.final {
			a = w.attr("escalate")
		}
		n.escalation = c.escalations[a.ref().Name]
	}
}

// Escalation is the name of the escalation of a node; "" if it has none.
func (n *Node) Escalation() string {
	if n.escalation == nil {
		return ""
	}
	return n.escalation.Name
}

// healers are the workflows of the levels of an escalation, which may be nil.
func (c *checker) healers(b *Block) (out []*Workflow) {
	if b == nil {
		return nil
	}
	for _, l := range b.levels() {
		if w := c.workflows[l.attr("workflow").ref().Name]; w != nil {
			out = append(out, w)
		}
	}
	return out
}

// allAssignees names all who may have the task of a node: those of its own attributes, and those of the levels of its escalation.
func (c *checker) allAssignees(n *Node) []expr.Name {
	out := n.assignees()
	b := n.escalation
	if len(out) == 0 || b == nil {
		return out
	}
	for _, l := range b.levels() {
		if r := l.attr("reassign").ref(); r.Name != "" {
			out = append(out, r)
		}
	}
	return out
}

// healersBeside are the workflows of the other levels of an escalation. No level is entered twice, so the run of the level itself is not
// among those that it reads; rules can lead to the levels in any order.
func (c *checker) healersBeside(b, level *Block) (out []*Workflow) {
	for _, l := range b.levels() {
		if w := c.workflows[l.attr("workflow").ref().Name]; w != nil && l != level {
			out = append(out, w)
		}
	}
	return out
}

// healing is the set of workflows that can have healed a node: those of its escalation, and of the escalations of the groups around it.
// Nodes with the same escalations share one.
type healing struct{ by []*Workflow }

type healingKey struct {
	escalation *Block
	around     *healing
}

// healing returns the workflows that can have healed a node, or nil.
func (c *checker) healing(n *Node) *healing {
	if n == nil {
		return nil
	}
	around := c.healing(n.Parent)
	own := c.healers(n.escalation)
	if len(own) == 0 {
		return around
	}
	k := healingKey{n.escalation, around}
	h := c.healings[k]
	if h == nil {
		h = &healing{by: own}
		if around != nil {
			h.by = append(h.by, around.by...)
		}
		c.healings[k] = h
	}
	return h
}

// healedType is the type of healed after one of the workflows has healed. An output that only some of them have can be null.
func healedType(by []*Workflow) value.Type {
	if len(by) == 0 {
		return value.AnyType
	}
	attrs, have := map[string]value.Type{}, map[string]int{}
	seen := map[*Workflow]bool{}
	for _, w := range by {
		if seen[w] {
			continue
		}
		seen[w] = true
		gives := w.outputType()
		for _, name := range gives.Names() {
			if t, known := attrs[name]; known {
				attrs[name] = expr.Unify(t, gives.Attrs[name])
			} else {
				attrs[name] = gives.Attrs[name]
			}
			have[name]++
		}
	}
	for name, n := range have { // any order: each for itself
		if n < len(seen) {
			attrs[name] = attrs[name].OrNull()
		}
	}
	return value.Object(attrs)
}

// gatesEscalate checks that a node with a gate that escalates has an escalation.
func (c *checker) gatesEscalate(n *Node) {
	if n.escalation != nil {
		return
	}
	say := func(g *Block, at diag.Range) {
		if g == nil || g.Text("on_fail") != "escalate" {
			return
		}
		d := diag.Diagnostic{Code: "F0353", Subject: at, Context: n.Words(), Summary: fmt.Sprintf("Gate %q escalates, and %s has no escalation", g.Name, n.Words()),
			Detail: "Add to the node:  escalate = escalation.NAME."}
		if n.Schema.Kind == "step" {
			d.Detail = "Add to the step or the workflow:  escalate = escalation.NAME."
		}
		c.report(d)
	}
	if a := n.attr("gates"); a != nil {
		for _, r := range a.Names {
			if n.ownGate(r.Name) == nil {
				say(c.gates[r.Name], r.Range)
			}
		}
	}
	for _, g := range n.Gates {
		say(g, nameRange(g))
	}
}

// takenByHealers adds what the workflows of an escalation take while a node holds something.
func (c *checker) takenByHealers(n *Node, held []string, holder *Block, out taking) {
	for _, to := range c.healers(n.escalation) {
		at := nameRange(n.Block)
		if a := n.attr("escalate"); a != nil {
			at = a.span()
		}
		if holder != nil && c.takesTurns(to) {
			c.turnInside(n.Block, at, to, holder)
		}
		for _, name := range slices.Sorted(maps.Keys(c.takings[to])) {
			if !slices.Contains(held, name) {
				out[name] = at
			}
		}
	}
}
