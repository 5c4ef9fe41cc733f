package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

func step(name string, needs ...string) ir.Node {
	return ir.Node{Name: name, Kind: ir.Step, Needs: needs, Action: &ir.Value{Expr: *ir.Lit(nil, value.AnyType)}}
}

func each(n ir.Node) ir.Node {
	n.ForEach = ir.Lit([]any{"x"}, value.List(value.StringType))
	return n
}

func group(kind ir.NodeKind, name string, children ...ir.Node) ir.Node {
	return ir.Node{Name: name, Kind: kind, Children: children}
}

// picture writes a graph down: each node with its region and slot, and what it waits for (! needs, ? observes).
func picture(g *Graph) string {
	var b strings.Builder
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "%s r%d/%d", n.Name, n.Region, n.Slot)
		if n.Body != None {
			fmt.Fprintf(&b, " makes r%d", n.Body)
		}
		for _, a := range n.Awaits {
			mark := "?"
			if a.Needs {
				mark = "!"
			}
			b.WriteString(" " + mark + g.Nodes[a.Node].Name)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestRegionsAndEdges(t *testing.T) {
	observer := step("seen")
	observer.Observes = []string{"first"}
	p := &ir.Program{Workflows: []ir.Workflow{{Name: "w", Nodes: []ir.Node{
		step("base"),
		group(ir.Sequence, "s", step("first", "base"), observer, each(group(ir.Parallel, "copies", step("in", "base"), each(step("deep"))))),
		step("last", "s", "in"),
	}}}}
	g, err := Build(p, "w")
	if err != nil {
		t.Fatal(err)
	}
	const want = `base r0/0
s r0/1
first r0/2 !base
seen r0/3 ?first
copies r0/4 makes r1 !seen
in r1/1 !base
deep r1/2 makes r2
last r0/5 !s !in
`
	if got := picture(g); got != want {
		t.Errorf("the graph is\n%swant\n%s", got, want)
	}
	if g.Regions[1].Nodes[0] != g.Number("copies") || g.Regions[2].Nodes[0] != g.Number("deep") {
		t.Error("slot 0 of a region is not the node that makes it")
	}
	if base := g.Nodes[g.Number("base")]; len(base.Awaited) != 1 || g.Nodes[base.Awaited[0].Node].Name != "first" {
		t.Errorf("base is awaited in its region by %v, want first alone: in lives further in", base.Awaited)
	}
}

// A repeat has a region inside of that of its instances; what lies below lives in the innermost.
func TestRegionsOfRepeats(t *testing.T) {
	both := each(group(ir.Sequence, "both", step("in")))
	both.Repeat = &ir.Repeat{}
	both.Priority = ir.Lit(1.0, value.NumberType)
	once := step("once")
	once.Repeat = &ir.Repeat{}
	once.Require = []ir.Require{{Condition: ir.Expr{Reads: []ir.Ref{{Root: "each"}}}}}
	g, err := Build(&ir.Program{Workflows: []ir.Workflow{{Name: "w", Nodes: []ir.Node{both, once}}}}, "w")
	if err != nil {
		t.Fatal(err)
	}
	b, in, o := g.Nodes[0], g.Nodes[1], g.Nodes[2]
	if b.Region != 0 || b.Body != 1 || b.Loop != 2 || b.Inner != 2 || in.Region != 2 || in.Slot != 1 {
		t.Errorf("both lives in %d, %d and %d, and what is in it in %d/%d", b.Region, b.Body, b.Loop, in.Region, in.Slot)
	}
	if o.Body != None || o.Loop != 3 || o.Inner != 3 || g.Regions[3].Owner != 2 {
		t.Errorf("once repeats in region %d", o.Loop)
	}
	if in.Ranked != 0 || o.Ranked != None {
		t.Errorf("in has the rank of node %d, once that of %d", in.Ranked, o.Ranked)
	}
	if len(o.Requires) != 1 || o.Requires[0].PerInstance {
		t.Errorf("once requires %v: it has no instances", o.Requires)
	}
}

func TestBuildRefusesWhatWasNotChecked(t *testing.T) {
	agent := ir.Node{Name: "a", Kind: ir.Step, Action: &ir.AgentTask{Assignee: ir.Assignee{Agent: "nobody"}}}
	gated := step("a")
	gated.Gates = []string{"none"}
	for name, c := range map[string]struct {
		nodes    []ir.Node
		workflow string
		want     string
	}{
		"workflow": {nil, "other", `no workflow "other"`},
		"node":     {[]ir.Node{step("a", "b")}, "w", `"a" waits for "b"`},
		"agent":    {[]ir.Node{agent}, "w", `no agent "nobody"`},
		"gate":     {[]ir.Node{gated}, "w", `no gate "none"`},
	} {
		p := &ir.Program{Workflows: []ir.Workflow{{Name: "w", Nodes: c.nodes}}}
		if _, err := Build(p, c.workflow); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
