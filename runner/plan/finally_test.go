package plan

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
)

// The nodes of finally run when all else has ended, so that they wait for nothing outside of themselves; whatever targets
// are asked for, they run.
func TestFinallyWaitsForNothingBefore(t *testing.T) {
	always := step("watch")
	always.TriggerRule = ir.Always
	guard := group(ir.Parallel, "guard", step("inner"))
	guard.TriggerRule = ir.Always
	p := &ir.Program{Workflows: []ir.Workflow{{Name: "w", Nodes: []ir.Node{step("a"), always, guard},
		Finally: &ir.Finally{Nodes: []ir.Node{
			step("report", "a"),
			group(ir.Sequence, "tidy", step("first", "a", "report"), step("second", "first", "a")),
		}}}}}
	g, err := Build(p, "w")
	if err != nil {
		t.Fatal(err)
	}
	const want = `a r0/0
watch r0/1
guard r0/2
inner r0/3
report r0/4
tidy r0/5
first r0/6
second r0/7 !first
`
	if got := picture(g); got != want {
		t.Errorf("the graph is\n%swant\n%s", got, want)
	}
	if len(g.Top) != 3 || len(g.Finally) != 2 || g.Nodes[g.Finally[1]].Name != "tidy" {
		t.Errorf("top %v, finally %v", g.Top, g.Finally)
	}
	for name, want := range map[string]bool{"a": false, "watch": true, "guard": true, "inner": true} {
		if g.Nodes[g.Number(name)].Always != want {
			t.Errorf("%s always: %v", name, !want)
		}
	}
	wanted := g.Closure([]string{"watch"})
	for name, want := range map[string]bool{"a": false, "watch": true, "report": true, "second": true} {
		if wanted[g.Number(name)] != want {
			t.Errorf("with the target \"watch\" %s runs: %v", name, !want)
		}
	}
}

func TestFallbackIsResolved(t *testing.T) {
	n := step("a")
	n.Action, n.Fallback = &ir.AgentTask{Assignee: ir.Assignee{Agent: "x"}}, []ir.Assignee{{Agent: "y"}}
	p := &ir.Program{Agents: []ir.Agent{{Name: "x"}, {Name: "y"}}, Workflows: []ir.Workflow{{Name: "w", Nodes: []ir.Node{n}}}}
	g, err := Build(p, "w")
	if err != nil || len(g.Nodes[0].Others) != 1 || g.Nodes[0].Others[0].Agent.Name != "y" {
		t.Fatalf("%v %+v", err, g)
	}
	p.Agents = p.Agents[:1]
	if _, err := Build(p, "w"); err == nil {
		t.Error("an agent that is not there is fallen back to")
	}
}
