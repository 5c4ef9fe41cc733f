package check

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// metricsType are the figures that rules of adapt read. metricsInRules are the same in a condition: one that reads null does not hold
// and is not a fault.
var (
	metricsType = value.Object(map[string]value.Type{
		"attempts": value.IntType, "failed": value.IntType, "error_rate": value.NumberType.OrNull(), "retry_rate": value.NumberType.OrNull(),
		"running": value.IntType, "queued": value.IntType, "limit": value.IntType, "elapsed": value.NumberType, "remaining": value.NumberType.OrNull(),
		"cost_usd": value.NumberType, "tokens": value.NumberType, "cpu": value.NumberType.OrNull(), "memory": value.NumberType.OrNull(),
	})
	metricsInRules = plainMembers(metricsType)
)

// adapts are the rules that stand in a group or a workflow.
func (b *Block) adapts() (out []*Block) {
	for _, r := range b.Blocks {
		if r.Schema.Kind == "adapt" {
			out = append(out, r)
		}
	}
	return out
}

// adapt checks the rules of a group, or of the workflow where n is nil.
func (c *checker) adapt(w *Workflow, n *Node) {
	of, nodes, run := w.Block, w.Nodes, w.roots["run"]
	if n != nil {
		of, nodes = n.Block, n.Children
	}
	for _, r := range of.adapts() {
		c.tells(r, "notify")
		why := map[string]string{"step": "flowrun can evaluate a rule at any time, so it reads only metrics, run and input.", "each": "A rule applies to all instances of the group, so it reads only metrics, run and input."}
		asked := c.env(roots{"input": w.roots["input"], "run": run, "metrics": root("metrics", metricsInRules)}, why)
		computed := c.env(roots{"input": w.roots["input"], "run": run, "metrics": root("metrics", metricsType)}, why)
		fixed := c.env(roots{"input": w.roots["input"], "run": run}, map[string]string{"step": why["step"], "each": why["each"], "metrics": "It is evaluated once, before the rule."})
		c.expressions(r, func(attr string) *expr.Env {
			switch attr {
			case "when", "until":
				return asked
			case "for", "cooldown":
				return fixed
			}
			return computed
		})
		if !r.stray {
			c.adaptRule(w, n, r, nodes)
		}
	}
}

// adaptRule checks one rule by what it is for.
func (c *checker) adaptRule(w *Workflow, n *Node, r *Block, nodes []*Node) {
	limit, starts, when := r.attr("max_concurrency"), r.attr("workflow"), r.attr("when")
	report := func(d diag.Diagnostic) {
		d.Context = r.Words()
		c.report(d)
	}
	switch {
	case limit == nil && starts == nil && r.attr("notify") == nil:
		report(diag.Diagnostic{Code: "F0322", Subject: r.Src.Header, Summary: "A rule that changes nothing",
			Detail: "Add an effect:  max_concurrency = 2, workflow = workflow.NAME, notify = [channel.NAME], or several of them."})
		return
	case starts == nil && r.attr("with") != nil:
		report(diag.Diagnostic{Code: "F0322", Subject: r.attr("with").span(), Summary: "with has no effect without workflow",
			Detail: "It sets the inputs of the workflow that the rule starts:  workflow = workflow.NAME."})
	case limit != nil && !slices.ContainsFunc(nodes, (*Node).spends):
		report(diag.Diagnostic{Code: "F0322", Subject: limit.span(), Summary: "The rule limits no attempts",
			Detail: "max_concurrency limits attempts of steps, and value, wait, approve, fail and end make no attempts. Remove the rule."})
	}
	if when != nil && when.Expr != nil && !slices.ContainsFunc(when.Expr.Reads, changes) {
		report(diag.Diagnostic{Code: "F0323", Subject: when.span(), Summary: "The condition of the rule never changes",
			Detail: "The rule would be active always or never. Read a metric of the run or the machine:  when = \"metrics.error_rate > 0.05\"."})
	}
	for _, name := range []string{"when", "until"} {
		if a := r.attr(name); a != nil && a.Expr != nil && slices.ContainsFunc(a.Expr.Reads, isRemaining) && !w.isTimed(n) {
			report(diag.Diagnostic{Code: "F0324", Subject: a.span(), Summary: "metrics.remaining is always null here",
				Detail: "No block around the rule has a timeout or a deadline, so the remaining time is unknown. Give the workflow or a group around the rule  timeout = \"1h\", or a group  deadline { after = \"1h\" }."})
		}
	}
	if to := c.workflows[refName(starts)]; to != nil {
		c.givenTo(to, r, starts)
	}
}

// changes reports whether what is read can change while a run goes on.
func changes(r ir.Ref) bool {
	return r.Root == "metrics" || r.Root == "run" && r.Name != "id" && r.Name != "workflow" && r.Name != "cause" && r.Name != "started_at"
}

func isRemaining(r ir.Ref) bool { return r.Root == "metrics" && r.Name == "remaining" }

// isTimed reports whether a workflow, or a group of it or one around that group, has a timeout or a deadline. Finally always has one.
func (w *Workflow) isTimed(n *Node) bool {
	if n != nil && n.final {
		return true
	}
	for ; n != nil; n = n.Parent {
		if n.attr("timeout") != nil || n.Inner("deadline") != nil {
			return true
		}
	}
	return w.attr("timeout") != nil
}

func refName(a *Attr) string {
	if a == nil || len(a.Names) == 0 {
		return ""
	}
	return a.Names[0].Name
}

// adaptReferences checks that the workflows that rules start are declared.
func (c *checker) adaptReferences(b *Block) {
	for _, r := range b.adapts() {
		a := r.attr("workflow")
		if a == nil {
			continue
		}
		known := a.Names[:0]
		for _, n := range a.Names {
			if c.callable[n.Name] != nil {
				known = append(known, n)
			} else {
				c.unknownDeclared(r, n, "workflow", c.callable)
			}
		}
		a.Names = known
	}
}

// adaptCalls are the workflows that rules of a workflow start.
func (c *checker) adaptCalls(w *Workflow) (out []*Workflow) {
	add := func(b *Block) {
		for _, r := range b.adapts() {
			if to := c.workflows[refName(r.attr("workflow"))]; to != nil {
				out = append(out, to)
			}
		}
	}
	add(w.Block)
	for _, n := range w.All {
		add(n.Block)
	}
	return out
}

// adaptTakes reports workflows of rules that take something that the run, or another one, can hold while it waits.
func (c *checker) adaptTakes(w *Workflow) {
	check := func(b *Block) {
		for _, r := range b.adapts() {
			a := r.attr("workflow")
			to := c.workflows[refName(a)]
			if to == nil || len(c.takings[to]) == 0 && !c.takesTurns(to) {
				continue
			}
			c.report(diag.Diagnostic{Code: "F0325", Subject: a.span(), Context: r.Words(), Summary: fmt.Sprintf("%s takes a quota or takes turns", upper(to.Words())),
				Detail: "A rule can start the workflow while the run holds the quota or the turn that the workflow waits for, and the run waits for the workflow. Start a workflow without quota and concurrency.",
				Notes:  []diag.Note{{Text: to.Words() + " is declared here", Range: nameRange(to.Block)}}})
		}
	}
	check(w.Block)
	for _, n := range w.All {
		check(n.Block)
	}
}

// notMetrics says why metrics cannot be read in a place.
const notMetrics = "Only rules of adapt can read metrics:  adapt { when = \"metrics.error_rate > 0.05\" … }. For the usage of a run, read run.usage."
