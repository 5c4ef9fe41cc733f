package graph

import (
	"fmt"
	"slices"
)

// signs stand behind the titles of nodes that share a mark.
var signs = []string{"¹", "²", "³"}

// manySteps is how many steps must share a mark, and at least half of all steps, for a sign to take its place.
const manySteps = 4

// shareMarks is the graph with signs in place of marks that most steps have, and a note for each sign. Only a drawing needs it.
func (g *Graph) shareMarks() (out *Graph, notes []string) {
	count, steps := map[string]int{}, 0
	var order []string
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if len(n.below) > 0 || n.Kind != "step" {
			continue
		}
		steps++
		for j, m := range n.Marks {
			if slices.Contains(n.Marks[:j], m) {
				continue
			}
			if count[m]++; count[m] == 1 {
				order = append(order, m)
			}
		}
	}
	sign := map[string]string{}
	for _, m := range order {
		if k := count[m]; k >= manySteps && 2*k >= steps && len(notes) < len(signs) {
			sign[m] = signs[len(notes)]
			notes = append(notes, fmt.Sprintf("%s %s", sign[m], cut(m, mostChars)))
		}
	}
	if len(notes) == 0 {
		return g, nil
	}
	copied := *g
	copied.Nodes = slices.Clone(g.Nodes)
	for i := range copied.Nodes {
		n := &copied.Nodes[i]
		if len(n.below) > 0 || n.Kind != "step" {
			continue
		}
		for _, m := range n.Marks {
			if s := sign[m]; s != "" && !slices.Contains(n.shared, m) {
				n.signs += " " + s
				n.shared = append(n.shared, m)
			}
		}
	}
	return &copied, notes
}
