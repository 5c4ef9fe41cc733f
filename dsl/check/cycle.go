package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
)

// cycles finds nodes that wait for each other: by what they refer to, by the order of sequences, and by groups, which
// end after all that is inside them.
func (c *checker) cycles(w *Workflow, uses [][]use, first int) (circles [][]int) {
	// Two points for each node: 2i is its start, 2i+1 its end.
	g := newGraph(2 * len(w.All))
	for i, n := range w.All {
		g.edge(2*i+1, 2*i)
		if n.Parent != nil {
			g.edge(2*i, 2*n.Parent.index)
			g.edge(2*n.Parent.index+1, 2*i+1)
		}
		if n.Before != nil {
			g.edge(2*i, 2*n.Before.index+1)
		}
		for _, u := range uses[i] {
			g.edge(2*i, 2*u.node.index+1)
		}
	}
	for _, points := range g.cycles() {
		circles = append(circles, distinct(points))
		c.circle("F0225", "wait for each other", neverBegin, distinct(points), func(i int) (string, diag.Range) {
			return w.All[i].Name, nameRange(w.All[i].Block)
		})
	}
	if len(circles) > 0 {
		c.follow(w, first, circles)
	}
	return circles
}

// follow takes out findings that follow from a circle: what its nodes make is not known, so it seemed that it may be null.
func (c *checker) follow(w *Workflow, first int, circles [][]int) {
	in := map[string]bool{}
	for _, circle := range circles {
		for _, i := range circle {
			in[w.All[i].Words()] = true
		}
	}
	out := c.list[:first]
	for _, d := range c.list[first:] {
		if !in[d.Context] || d.Code != "F0307" && d.Code != "F0229" {
			out = append(out, d)
		}
	}
	c.list = out
}

// distinct turns points into nodes, each once, in order.
func distinct(points []int) (out []int) {
	seen := map[int]bool{}
	for _, p := range points {
		if !seen[p/2] {
			seen[p/2] = true
			out = append(out, p/2)
		}
	}
	return out
}

// neverBegin is what a circle of references comes to.
const neverBegin = "None of them could ever start. Remove one of these references."

// circle reports things that need each other, in the order of need; what says how, and fix what comes of it.
func (c *checker) circle(code, what, fix string, members []int, at func(int) (string, diag.Range)) {
	d := diag.Diagnostic{Code: code, Summary: fmt.Sprintf("%d nodes %s", len(members), what)}
	var way []string
	for i, m := range members {
		name, place := at(m)
		if i == 0 {
			d.Subject = place
		} else if i < MaxShownCircle {
			d.Notes = append(d.Notes, diag.Note{Text: fmt.Sprintf("%q", name), Range: place})
		}
		if i < MaxShownCircle {
			way = append(way, name)
		}
	}
	first, _ := at(members[0])
	if len(way) <= 4 {
		d.Summary = list(way) + " " + what
	}
	if len(members) > MaxShownCircle {
		way = append(way, fmt.Sprintf("… (%d more)", len(members)-MaxShownCircle))
	}
	d.Detail = fmt.Sprintf("%s → %s. %s", strings.Join(way, " → "), first, fix)
	c.report(d)
}
