package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// Reasons that go without saying where people read.
const (
	Free   = "it depends on no other node"
	Member = "an instance of for_each"
	Last   = "in finally"
)

// Reasons of a for_each that ended without ever starting.
const (
	Empty   = "its for_each has no members"
	NoneRan = "none of its instances ran"
)

// Why says why a node ran, waits, was skipped or blocked: what the machine said of it, else, of a node that ran, what it
// had waited for. It is "" for a node that is still pending, and where the workflow is not known.
func (r *Run) Why(n *Node) string {
	if n.Reason != "" {
		return n.Reason
	}
	d := r.declared[n.Name]
	if d != nil && d.ForEach != nil && n.StartedAt == 0 && n.Status == event.Succeeded {
		if len(n.Children) == 0 {
			return Empty
		}
		return NoneRan
	}
	if d == nil || n.StartedAt == 0 || n.Status == event.Pending {
		return ""
	}
	var parts []string
	if n.Parent == nil && r.final[n.Name] {
		parts = append(parts, Last)
	}
	if i := n.Iteration(); i > 0 {
		return fmt.Sprintf("iteration %d", i)
	}
	instance := strings.HasSuffix(n.Path, "]") && d.ForEach != nil
	if instance {
		parts = append(parts, Member)
	} else if awaited := r.awaited(n, d); len(awaited) > 0 {
		parts = append(parts, "after "+strings.Join(awaited, ", "))
	}
	if d.When != nil && (d.ForEach == nil || instance == perInstance(d.When)) {
		parts = append(parts, "its condition holds")
	}
	if len(parts) == 0 {
		return Free
	}
	return strings.Join(parts, "; ")
}

// perInstance tells whether a condition is asked for each instance of a for_each, not once before them.
func perInstance(when *ir.Expr) bool {
	return slices.ContainsFunc(when.Reads, func(r ir.Ref) bool { return r.Root == "each" })
}

// awaited lists what a node waits for: what it needs, what it observes, and the sibling before it in a sequence.
func (r *Run) awaited(n *Node, d *ir.Node) []string {
	if n.Parent == nil && r.final[n.Name] {
		return nil
	}
	names := append(append([]string{}, d.Needs...), d.Observes...)
	if n.Parent == nil {
		return names
	}
	if group := r.declared[n.Parent.Name]; group != nil && group.Kind == ir.Sequence {
		for i := 1; i < len(group.Children); i++ {
			if before := group.Children[i-1].Name; group.Children[i].Name == n.Name && !slices.Contains(names, before) {
				names = append(names, before)
			}
		}
	}
	return names
}
