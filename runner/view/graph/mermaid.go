package graph

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
)

// Mermaid gives the graph as a flowchart for mermaid, which many wikis and code hosts draw.
func (g *Graph) Mermaid() []byte {
	var out bytes.Buffer
	out.WriteString("flowchart TD\n")
	for i := range g.Nodes {
		if g.Nodes[i].parent < 0 {
			g.mermaidNode(&out, i, "  ")
		}
	}
	arrows := map[EdgeKind]string{Needs: "-->", Observes: "-.->", Sequence: "-->"}
	for _, e := range g.Edges {
		fmt.Fprintf(&out, "  n%d %s n%d\n", e.from, arrows[e.Kind], e.to)
	}
	for _, t := range tints {
		var of []string
		for i := range g.Nodes {
			if s := g.Nodes[i].State; s != nil && s.Status == event.Status(t.status) {
				of = append(of, fmt.Sprintf("n%d", i))
			}
		}
		if len(of) > 0 {
			fmt.Fprintf(&out, "  classDef %s fill:%s,stroke:%s,color:#1f2328\n  class %s %s\n", t.status, t.fill, t.line,
				strings.Join(of, ","), t.status)
		}
	}
	return out.Bytes()
}

func (g *Graph) mermaidNode(out *bytes.Buffer, i int, indent string) {
	n := &g.Nodes[i]
	label := escapesMermaid.Replace(n.label("\n"))
	if len(n.below) == 0 {
		fmt.Fprintf(out, "%sn%d[\"%s\"]\n", indent, i, label)
		return
	}
	fmt.Fprintf(out, "%ssubgraph n%d[\"%s\"]\n", indent, i, label)
	for _, b := range n.below {
		g.mermaidNode(out, b, indent+"  ")
	}
	fmt.Fprintf(out, "%send\n", indent)
}

// escapesMermaid writes what means something to mermaid, or to the page around it, as its entities.
var escapesMermaid = strings.NewReplacer("#", "#35;", "\"", "#quot;", "&", "#amp;", "<", "#lt;", ">", "#gt;", "`", "#96;", "\\", "#92;", "\n", "<br/>")

// label is what is written in a node's box, by lines; that of a group also says what kind it is.
func (n *Node) label(newline string) string {
	var lines []string
	for i, r := range n.rows(maxChars) {
		if i == 0 && len(n.below) > 0 && n.Kind != Case && n.Kind != Finally {
			r.text += " (" + n.word() + ")"
		}
		lines = append(lines, r.text)
	}
	return strings.Join(lines, newline)
}
