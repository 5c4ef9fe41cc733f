package check

import (
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
)

// handsIn checks that an attempt that hands in what it has when its time is up has a time.
func (c *checker) handsIn(n *Node) {
	a := n.attr("on_timeout")
	if a == nil || a.Text != "hand_in" || n.attr("timeout") != nil {
		return
	}
	if slices.ContainsFunc(c.agentsOf(n), func(g *Block) bool { return g.attr("timeout") != nil }) {
		return
	}
	c.report(diag.Diagnostic{Code: "F0127", Subject: a.Src.Range, Context: n.Words(), Summary: "on_timeout has no effect without a timeout",
		Detail: "The attempt has no time limit. Add one:  timeout = \"10m\", here or in the agent."})
}
