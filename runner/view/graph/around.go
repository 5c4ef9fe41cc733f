package graph

import (
	"fmt"
	"slices"
	"strings"
)

// Around is the part of the graph within depth edges of a node, in both directions. The groups that its nodes lie in are a part of it, and
// if the node is a group, all that lies in it. The edges of a group count as edges of the nodes in it. Another group is a box
// without what lies in it, but for nodes that are a part themselves. ok is false if the graph has no such node.
func (g *Graph) Around(name string, depth int) (part *Graph, ok bool) {
	start := slices.IndexFunc(g.Nodes, func(n Node) bool { return n.ID == name })
	if start < 0 {
		return nil, false
	}
	near := make([][]int, len(g.Nodes)) // the nodes at the other ends of edges
	for _, e := range g.Edges {
		near[e.from] = append(near[e.from], e.to)
		near[e.to] = append(near[e.to], e.from)
	}
	kept := make([]bool, len(g.Nodes))
	var round []int
	keep := func(i int) { // with the groups around it, whose edges are its own
		for ; i >= 0 && !kept[i]; i = g.Nodes[i].parent {
			kept[i] = true
			round = append(round, i)
		}
	}
	keep(start)
	for at := 0; at < len(round); at++ { // round grows
		if i := round[at]; i == start || within(g, i, start) {
			for _, below := range g.Nodes[i].below {
				keep(below)
			}
		}
	}
	for range depth {
		last := round
		round = nil
		for _, i := range last {
			for _, other := range near[i] {
				keep(other)
			}
		}
	}
	return g.only(kept, fmt.Sprintf("within %d of %s", depth, name)), true
}

// within reports whether a node lies in a group, at any depth.
func within(g *Graph, node, group int) bool {
	for node >= 0 && node != group {
		node = g.Nodes[node].parent
	}
	return node == group
}

// only is the graph without the nodes that are not kept. A group that loses nodes says how many.
func (g *Graph) only(kept []bool, words string) *Graph {
	out := *g
	out.Nodes, out.Edges = []Node{}, []Edge{}
	number := make([]int, len(g.Nodes))
	for i := range g.Nodes {
		if !kept[i] {
			continue
		}
		n := g.Nodes[i]
		below := n.below
		n.below, number[i] = nil, len(out.Nodes)
		if n.parent >= 0 {
			n.parent = number[n.parent]
			p := &out.Nodes[n.parent]
			p.below = append(p.below, number[i])
		}
		if left := len(slices.DeleteFunc(slices.Clone(below), func(i int) bool { return kept[i] })); left > 0 {
			n.Marks = append(slices.Clip(n.Marks), strings.Replace(fmt.Sprintf("%d nodes not drawn", left), "1 nodes", "1 node", 1))
		}
		out.Nodes = append(out.Nodes, n)
	}
	for _, e := range g.Edges {
		if kept[e.from] && kept[e.to] {
			e.from, e.to = number[e.from], number[e.to]
			out.Edges = append(out.Edges, e)
		}
	}
	out.Excerpt = fmt.Sprintf("%d of %d nodes, %s", len(out.Nodes), len(g.Nodes), words)
	return &out
}
