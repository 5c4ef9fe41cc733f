package outline

import (
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/plan"
)

// begin computes the wave before a node's first step: what it waits for has ended, and its group has begun.
func (o *outliner) begin(n int) int {
	if o.start[n] != 0 {
		return o.start[n]
	}
	node := &o.g.Nodes[n]
	wave, from := 1, 0
	if node.Parent != plan.None {
		wave, from = o.begin(node.Parent), o.from[node.Parent]
	}
	for _, a := range node.Awaits {
		if end := o.finish(a.Node); end > wave {
			wave, from = end, o.last[a.Node]
		}
	}
	o.start[n], o.from[n] = wave, from
	return wave
}

// finish computes the wave in which a node has ended: one more than before for a step, that of its last child for a group.
func (o *outliner) finish(n int) int {
	if o.end[n] != 0 {
		return o.end[n]
	}
	node := &o.g.Nodes[n]
	end, last := o.begin(n), o.from[n]
	if node.Kind == ir.Step {
		end, last = end+1, n+1
	}
	for _, child := range node.Below {
		if e := o.finish(child); e > end {
			end, last = e, o.last[child]
		}
	}
	o.end[n], o.last[n] = end, last
	return end
}

// critical follows a longest chain back from its end.
func (o *outliner) critical(out *Outline) {
	latest, step := 0, 0
	for _, n := range o.g.Top {
		if o.end[n] > latest {
			latest, step = o.end[n], o.last[n]
		}
	}
	out.Critical = []string{}
	for step != 0 {
		n := step - 1
		out.Critical = append(out.Critical, o.path(n))
		step = o.from[n]
	}
	slices.Reverse(out.Critical)
}

// path is a node's name below those of its groups.
func (o *outliner) path(n int) string {
	node := &o.g.Nodes[n]
	if node.Parent == plan.None {
		return node.Name
	}
	return o.path(node.Parent) + "/" + node.Name
}

// finally tells that a node belongs to what a run does last.
func (o *outliner) finally(n int) bool {
	for o.g.Nodes[n].Parent != plan.None {
		n = o.g.Nodes[n].Parent
	}
	_, top := slices.BinarySearch(o.g.Top, n)
	return !top
}
