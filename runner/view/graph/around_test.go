package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// partOf draws the part of a workflow as words: nodes with their marks, and edges.
func partOf(t *testing.T, w *ir.Workflow, name string, depth int) string {
	t.Helper()
	g, ok := Of(w).Around(name, depth)
	if !ok {
		t.Fatalf("there is no node %s", name)
	}
	var words []string
	for i := range g.Nodes {
		n := &g.Nodes[i]
		word := n.ID
		if n.Parent != "" {
			word = n.Parent + "/" + word
			if n.parent < 0 || g.Nodes[n.parent].ID != n.Parent {
				t.Errorf("%s lies in node %d", word, n.parent)
			}
		}
		if len(n.Marks) > 0 {
			word += " (" + strings.Join(n.Marks, "; ") + ")"
		}
		words = append(words, word)
	}
	for _, e := range g.Edges {
		if g.Nodes[e.from].ID != e.From || g.Nodes[e.to].ID != e.To {
			t.Errorf("the edge from %s to %s has the numbers %d and %d", e.From, e.To, e.from, e.to)
		}
		words = append(words, e.From+">"+e.To)
	}
	if svg, err := g.SVG(); err != nil || !strings.Contains(string(svg), fmt.Sprintf("within %d of %s", depth, name)) {
		t.Errorf("the drawing does not say which part it is: %v", err)
	}
	return strings.Join(words, ", ")
}

func TestAround(t *testing.T) {
	chain := &ir.Workflow{Name: "w", Nodes: []ir.Node{step("a"), step("b", "a"), step("c", "b"), step("d", "c"), step("x")}}
	grouped := &ir.Workflow{Name: "w", Nodes: []ir.Node{step("first"), with(group(ir.Parallel, "g", step("p"), step("q", "p"), step("r")), func(n *ir.Node) {
		n.Needs = []string{"first"}
	}), step("end", "g"), step("far", "end")}}
	for _, c := range []struct {
		w     *ir.Workflow
		name  string
		depth int
		want  string
	}{
		{chain, "b", 0, "b"},
		{chain, "b", 1, "a, b, c, a>b, b>c"},
		{chain, "b", 2, "a, b, c, d, a>b, b>c, c>d"},
		{chain, "b", 9, "a, b, c, d, a>b, b>c, c>d"},
		{chain, "x", 3, "x"},
		{grouped, "p", 0, "g (2 nodes not drawn), g/p"},
		{grouped, "p", 1, "first, g (1 node not drawn), g/p, g/q, end, first>g, p>q, g>end"},
		{grouped, "g", 0, "g, g/p, g/q, g/r, p>q"},
		{grouped, "first", 1, "first, g (3 nodes not drawn), first>g"},
		{grouped, "far", 1, "end, far, end>far"},
		{grouped, "far", 2, "g (3 nodes not drawn), end, far, g>end, end>far"},
	} {
		if have := partOf(t, c.w, c.name, c.depth); have != c.want {
			t.Errorf("%d around %s:\n%s, want\n%s", c.depth, c.name, have, c.want)
		}
	}
	whole := Of(grouped)
	if _, ok := whole.Around("nothing", 1); ok {
		t.Error("a node that does not exist has a part")
	}
	if whole.Around("p", 0); len(whole.Nodes) != 7 || len(whole.Nodes[1].Marks) != 0 || whole.Excerpt != "" {
		t.Error("the part changes the whole")
	}
}

// A mark that most steps have is told once; what few have stays in their boxes, and the tip of a box has all.
func TestSharedMarks(t *testing.T) {
	w := &ir.Workflow{Name: "w"}
	for i := range 6 {
		w.Nodes = append(w.Nodes, with(step(fmt.Sprintf("s%d", i)), func(n *ir.Node) {
			if i < 5 {
				n.Retry = &ir.Retry{MaxAttempts: ir.Lit(2.0, value.NumberType)}
			}
			if i == 0 {
				n.When = condition("input.x")
			}
		}))
	}
	svg, err := Of(w).SVG()
	if err != nil {
		t.Fatal(err)
	}
	text := string(svg)
	if strings.Count(text, ">at most 2 attempts<") != 0 || strings.Count(text, ">¹ at most 2 attempts<") != 1 || strings.Count(text, " ¹</text>") != 5 ||
		strings.Count(text, ">when input.x<") != 1 || strings.Count(text, "at most 2 attempts</title>") != 5 {
		t.Errorf("%s", text)
	}
	w.Nodes = w.Nodes[:3]
	if svg, _ := Of(w).SVG(); strings.Count(string(svg), ">at most 2 attempts<") != 3 || strings.Contains(string(svg), "¹") {
		t.Errorf("three steps have a sign: %s", svg)
	}
}

// A command is cut only where its row has no room.
func TestTextUsesTheRoom(t *testing.T) {
	long := func(name string, needs ...string) ir.Node {
		return with(step(name, needs...), func(n *ir.Node) {
			n.Action = &ir.Run{Argv: ir.Lit([]any{"./check", "with", "--an-option", "and", "--another-option", "end"}, value.AnyType)}
		})
	}
	const whole = ">run ./check with --an-option and --another-option end<"
	one, err := Of(&ir.Workflow{Name: "w", Nodes: []ir.Node{long("a")}}).SVG()
	if err != nil || !strings.Contains(string(one), whole) {
		t.Errorf("the only box cuts its text: %v\n%s", err, one)
	}
	many := &ir.Workflow{Name: "w"}
	for i := range 8 {
		many.Nodes = append(many.Nodes, long(fmt.Sprintf("s%d", i)))
	}
	many.Nodes = append(many.Nodes, long("end", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"))
	svg, err := Of(many).SVG()
	if err != nil || strings.Count(string(svg), whole) != 1 || strings.Count(string(svg), "…<") != 8 {
		t.Errorf("%d of nine boxes have the whole text, %v", strings.Count(string(svg), whole), err)
	}
}
