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
	d := diag.Diagnostic{Code: "F0278", Subject: a.span(), Context: n.Words(), Summary: "progress must be a literal",
		Detail: "It is read before the run:  progress = [25, 50, 75]."}
	list, _ := a.Expr.Const.([]any)
	if a.Expr.Kind == ir.Const && (len(list) > 0 || a.Expr.Const != nil && list == nil) { // F0503 says what is not a list
		d.Summary = ""
	}
	for _, v := range list {
		p, number := v.(float64)
		if !number { // F0503 says so
			break
		}
		if p <= last || p >= 100 {
			d.Summary = fmt.Sprintf("progress cannot contain %s here", value.Text(p))
			d.Detail = "Percentages are between 0 and 100, in increasing order:  progress = [25, 50, 75]."
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
				d := diag.Diagnostic{Code: "F0282", Subject: r.Range, Context: n.Words(), Summary: fmt.Sprintf("Agent %q is named twice in one step", g.Name),
					Detail: "It would fail again. Remove it; for more attempts, use  retry { max_attempts = N }.",
					Notes:  []diag.Note{{Text: "asked first here", Range: at.Range}}}
				if r.Pool || at.Pool {
					d.Detail = "A pool contains all its members, and a member that failed would fail again. Name agents and pools without common members; for more attempts, use  retry { max_attempts = N }."
				}
				c.report(d)
				said = true
			}
			seen[g.Name] = r
		}
	}
}
