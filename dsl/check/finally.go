package check

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/diag"
)

// top is the outermost node around n, or n itself.
func (n *Node) top() *Node {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

// crosses says of a reference what the border of finally makes of it. There is no dependency to be drawn where the order is
// known: finally runs after all else, and its nodes one after the other. A reference against that order is a fault.
func crosses(n, to *Node) (drawn bool, d *diag.Diagnostic) {
	from, other := n.top(), to.top()
	switch {
	case !n.final && !to.final || from == other:
		return true, nil
	case to.final && !n.final:
		return false, &diag.Diagnostic{Code: "F0275", Summary: fmt.Sprintf("%s is in finally, which runs after %s", upper(to.Words()), n.Words()),
			Detail: "finally runs after all other nodes; only outputs of the workflow can read it. Move the node out of finally, or this one into it."}
	case to.final && other.index > from.index:
		return false, &diag.Diagnostic{Code: "F0275", Summary: fmt.Sprintf("%s runs after %s in finally", upper(to.Words()), n.Words()),
			Detail: "The nodes of finally run one after the other, in the order of the file. Change their order, or put both into a group."}
	}
	return false, nil
}

// compensated refuses what the compensation of a node cannot refer to. It makes no dependency: what has not run by then
// reads as null.
func (c *checker) compensated(w *Workflow, n *Node) {
	b := n.Inner("compensate")
	if b == nil {
		return
	}
	c.reading(w, b, n)
}
