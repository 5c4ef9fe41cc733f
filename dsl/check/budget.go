package check

import (
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
)

// budget checks that the budget of a node or workflow bounds something that is used in there. nodes are those at the top of it.
func (c *checker) budget(of *Block, nodes []*Node) {
	b := of.Inner("budget")
	if b == nil || b.stray {
		return
	}
	c.tells(b, "notify")
	d := diag.Diagnostic{Code: "F0147", Subject: b.Src.Header, Context: b.Words(), Summary: "Budget without a limit",
		Detail: "Set a limit:  attempts = 20, tokens = 100000 or cost_usd = 2.5, or several of them."}
	if b.attr("attempts") == nil && b.attr("tokens") == nil && b.attr("cost_usd") == nil {
		c.report(d)
		return
	}
	if !slices.ContainsFunc(nodes, (*Node).spends) {
		d.Summary = "Nothing in the budget makes an attempt"
		d.Detail = "A budget limits the attempts of steps and the usage of agents. value, wait, approve, fail and end make no attempts. Remove the budget."
		c.report(d)
		return
	}
	for _, name := range []string{"tokens", "cost_usd"} {
		if a := b.attr(name); a != nil && !slices.ContainsFunc(nodes, (*Node).asksAgent) {
			c.report(diag.Diagnostic{Severity: diag.Warning, Code: "F0148", Subject: a.Src.Range, Context: b.Words(), Summary: name + " has no effect without agents",
				Detail: "Only agents report usage. Limit the attempts:  attempts = 20."})
		}
	}
}

// spends reports whether a step, or one below a group, makes attempts or calls a run.
func (n *Node) spends() bool {
	if n.Schema.Kind != "step" {
		return slices.ContainsFunc(n.Children, (*Node).spends)
	}
	switch n.Does.Course() {
	case ir.Computed, ir.Pausing:
		return len(n.Gates) > 0 || n.attr("gates") != nil
	case ir.Attempted, ir.Stored, ir.Called:
	}
	return true
}

// asksAgent reports whether a step, or one below a group, gives work to an agent, or calls a run that can.
func (n *Node) asksAgent() bool {
	return n.Does == ir.AgentAction || n.Does == ir.CallAction || n.Schema.Kind == "step" && n.Does == "" || slices.ContainsFunc(n.Children, (*Node).asksAgent)
}
