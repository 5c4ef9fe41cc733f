package check

import (
	"slices"

	"github.com/flowrun/flowrun/dsl/schema"
)

// isNode tells whether a block is a node of a workflow.
func isNode(b *Block) bool { return slices.Contains(schema.Nodes, b.Schema.Kind) }

// Cases are the cases of a switch in the order in which they are asked: the default, if there is one, is the last.
func (n *Node) Cases() (out []*Block) {
	var last []*Block
	for _, b := range n.Blocks {
		switch b.Schema.Kind {
		case "case":
			out = append(out, b)
		case "default":
			last = append(last, b)
		}
	}
	return append(out, last...)
}

// lenient tells whether the node's trigger rule can let it start after a failure of what it waits for.
func (n *Node) lenient() bool {
	switch n.Text("trigger_rule") {
	case "all_done", "one_success", "one_failed", "all_failed", "always":
		return true
	}
	return false
}

// tolerated tells whether the failure of the node leaves null as its output to those that need it.
func (n *Node) tolerated() bool { return n.Text("on_error") == "continue" }

// picks tells whether the node's join can be met before all that it joins has succeeded: what it leaves out is null.
func (n *Node) picks() bool {
	a := n.attr("join")
	return a != nil && a.Text != "all" && misspelledJoin(a) == ""
}

// region is the nearest node around n with a for_each or repeat, inside of which alone n can be named; or nil.
func (n *Node) region() *Node {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.attr("for_each") != nil || p.repeats() {
			return p
		}
	}
	return nil
}

// repeats reports whether a node makes iterations: it has a repeat, or is a group that a gate or an escalation can have made again.
func (n *Node) repeats() bool { return n.Inner("repeat") != nil || n.MadeAgain() }

// MadeAgain reports whether the node is a group with a gate, or an escalation, that can have all of it made again.
func (n *Node) MadeAgain() bool {
	return n.again || n.Schema.Kind != "step" && n.attr("escalate") != nil
}

// GatesAskAgain reports whether the node is a group with a gate that can have all of it made again.
func (n *Node) GatesAskAgain() bool { return n.again }

// repeatOf is the nearest node around n, or n itself unless outer, that has a repeat.
func repeatOf(n *Node, outer bool) *Node {
	if outer {
		n = n.Parent
	}
	for ; n != nil; n = n.Parent {
		if n.repeats() {
			return n
		}
	}
	return nil
}

// sameCase tells whether who reads runs only if the case of n is taken.
func (n *Node) sameCase(reader *Node) bool {
	for p := reader; p != nil; p = p.Parent {
		if p.Parent == n.Parent {
			return p.Case == n.Case
		}
	}
	return false
}
