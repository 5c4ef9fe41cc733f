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
// had waited for. It is "" for a node that is pending until another one ends, and where the workflow is not known.
func (r *Run) Why(n *Node) string {
	if n.Reason != "" {
		return n.Reason
	}
	if r.WaitsForSlot(n) {
		return Slot
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

// Slot is why a node is pending of which WaitsForSlot is true.
const Slot = "it waits for a slot: no more nodes may run at once (max_concurrency)"

// WaitsForSlot tells that a node is pending though all that it waits for has ended: as many nodes run as max_concurrency of a workflow or a
// group allows. It is false where the view cannot know, and where no process drives the run. It costs the same whatever the size of the run.
func (r *Run) WaitsForSlot(n *Node) bool {
	d := r.declared[n.Name]
	switch {
	case n.Status != event.Pending || d == nil || len(d.Children) > 0 || r.Targets != nil || r.final[n.Name]:
		return false
	case r.Stands != 0 || r.Status.Terminal() || r.Leaves[event.Running] == 0 || n.Parent != nil && n.Parent.Status != event.Running:
		return false
	}
	return !slices.ContainsFunc(r.awaited(n, d), func(name string) bool {
		o := r.around(n, name)
		return o == nil || !o.Status.Terminal()
	})
}

// around finds the node of a name beside a node, or beside a group around it.
func (r *Run) around(n *Node, name string) *Node {
	for up := n.Parent; up != nil; up = up.Parent {
		if o := r.byPath[up.Path+"/"+name]; o != nil {
			return o
		}
	}
	return r.byPath[name]
}

// Unmade counts the instances of a for_each that have not begun, as they wait for slots.
func (n *Node) Unmade() int {
	if n.Status != event.Running {
		return 0
	}
	return max(0, n.Members-len(n.Children))
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
