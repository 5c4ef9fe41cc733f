package check

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// deadline checks the percentages at which a node says that it still runs: written out, above 0, below 100, rising.
func (c *checker) deadline(n *Node) {
	b := n.Inner("deadline")
	if b != nil {
		c.tells(b, "notify")
	}
	if b == nil || b.Expr("progress") == nil {
		return
	}
	a, last := b.attr("progress"), 0.0
	d := diag.Diagnostic{Code: "F0278", Subject: a.span(), Context: n.Words(), Summary: "progress must be written out",
		Detail: "It is read before anything runs:  progress = [25, 50, 75]."}
	list, _ := a.Expr.Const.([]any)
	if a.Expr.Kind == ir.Const && len(list) > 0 {
		d.Summary = ""
	}
	for _, v := range list {
		p := v.(float64) // its type was checked
		if p <= last || p >= 100 {
			d.Summary = fmt.Sprintf("progress cannot have %s here", value.Text(p))
			d.Detail = "Percentages lie above 0 and below 100, each above the one before:  progress = [25, 50, 75]."
			break
		}
		last = p
	}
	if d.Summary != "" {
		c.report(d)
	}
}

// fallbacks checks that each agent that a step falls back to is another one.
func (c *checker) fallbacks(n *Node) {
	a := n.attr("fallback")
	if a == nil || n.attr("agent") == nil {
		return
	}
	seen := map[string]expr.Name{}
	for _, r := range append([]expr.Name{n.attr("agent").ref()}, a.Names...) {
		said := false
		for _, g := range c.assigned(r) {
			if !g.has(n.capabilities()) {
				continue
			}
			if at, twice := seen[g.Name]; twice && !said {
				d := diag.Diagnostic{Code: "F0282", Subject: r.Range, Context: n.Words(), Summary: fmt.Sprintf("Agent %q is asked twice in one step", g.Name),
					Detail: "It would fail again as it has failed before. Remove it; for more attempts there is  retry { max_attempts = N }.",
					Notes:  []diag.Note{{Text: "asked first here", Range: at.Range}}}
				if r.Pool || at.Pool {
					d.Detail = "A pool stands for each of its members, and one that has failed would fail again. Name agents and pools that share nobody; for more attempts there is  retry { max_attempts = N }."
				}
				c.report(d)
				said = true
			}
			seen[g.Name] = r
		}
	}
}
