package graph

import (
	"bytes"
	"fmt"
	"strings"
)

// DOT gives the graph for Graphviz.
func (g *Graph) DOT() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "digraph %s {\n", quote(g.heading()))
	out.WriteString("  compound=true\n  fontname=monospace\n  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=monospace, fontsize=11]\n")
	for i := range g.Nodes {
		if g.Nodes[i].parent < 0 {
			g.dotNode(&out, i, "  ")
		}
	}
	for _, e := range g.Edges {
		g.dotEdge(&out, e)
	}
	out.WriteString("}\n")
	return out.Bytes()
}

func (g *Graph) dotNode(out *bytes.Buffer, i int, indent string) {
	n := &g.Nodes[i]
	var look tint
	for _, t := range tints {
		if n.State != nil && string(n.State.Status) == t.status {
			look = t
		}
	}
	if len(n.below) == 0 {
		fmt.Fprintf(out, "%sn%d [label=%s", indent, i, quote(n.label("\n")))
		if look.status != "" {
			fmt.Fprintf(out, ", fillcolor=%q, color=%q", look.fill, look.line)
		}
		out.WriteString("]\n")
		return
	}
	fmt.Fprintf(out, "%ssubgraph cluster_%d {\n%s  label=%s\n%s  labeljust=l\n", indent, i, indent, quote(n.label("\n")), indent)
	if look.status != "" {
		fmt.Fprintf(out, "%s  color=%q\n", indent, look.line)
	}
	for _, b := range n.below {
		g.dotNode(out, b, indent+"  ")
	}
	fmt.Fprintf(out, "%s}\n", indent)
}

// dotEdge writes an edge. Graphviz has none between groups: it goes between a step of each and is clipped at their borders.
func (g *Graph) dotEdge(out *bytes.Buffer, e Edge) {
	var looks []string
	ends := [2]int{e.from, e.to}
	for i, clip := range []string{"ltail", "lhead"} {
		if len(g.Nodes[ends[i]].below) > 0 {
			looks = append(looks, fmt.Sprintf("%s=cluster_%d", clip, ends[i]))
		}
		for len(g.Nodes[ends[i]].below) > 0 {
			ends[i] = g.Nodes[ends[i]].below[0]
		}
	}
	if e.Kind == Observes {
		looks = append(looks, "style=dashed")
	}
	fmt.Fprintf(out, "  n%d -> n%d", ends[0], ends[1])
	if len(looks) > 0 {
		fmt.Fprintf(out, " [%s]", strings.Join(looks, ", "))
	}
	out.WriteString("\n")
}

var escapesDOT = strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n")

func quote(s string) string { return "\"" + escapesDOT.Replace(s) + "\"" }
