package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
)

// act is a step that takes time.
func act(name string, needs ...string) ir.Node {
	n := step(name, needs...)
	n.Action = &ir.Run{}
	return n
}

func ways(t *testing.T, us map[string]int64, times map[string]int, slots int, nodes ...ir.Node) string {
	t.Helper()
	p := &ir.Program{Workflows: []ir.Workflow{{Name: "w", Nodes: nodes}}}
	g, err := Build(p, "w")
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for i, way := range g.Left(us, times, slots) {
		words = append(words, fmt.Sprintf("%s=%d", g.Nodes[i].Name, way))
	}
	return strings.Join(words, " ")
}

func TestLeftFollowsWaitsThroughGroups(t *testing.T) {
	got := ways(t, map[string]int64{"a": 1, "b": 20, "c": 300, "d": 4000}, nil, 8,
		act("a"), group(ir.Sequence, "s", act("b"), act("c", "a")), act("d", "s"), step("computed", "a"), act("new"))
	if want := "a=4301 s=4320 b=4320 c=4300 d=4000 computed=0 new=300"; got != want {
		t.Errorf("the ways are %s, want %s", got, want)
	}
}

// A hundred instances of a group of 10 and 5 share 8 slots, which takes 187: what waits before them waits for all, one of
// them only for itself and what comes then.
func TestLeftCountsInstances(t *testing.T) {
	repeated := act("again", "e")
	repeated.Repeat = &ir.Repeat{}
	got := ways(t, map[string]int64{"before": 1, "x": 10, "y": 5, "again": 7}, map[string]int{"e": 100, "x": 100, "y": 100, "again": 3}, 8,
		act("before"), each(group(ir.Sequence, "e", act("x", "before"), act("y", "x"))), repeated)
	if want := "before=209 e=36 x=36 y=26 again=7"; got != want {
		t.Errorf("the ways are %s, want %s", got, want)
	}
}

func TestLeftIsBounded(t *testing.T) {
	got := ways(t, map[string]int64{"a": 1 << 62, "b": 1 << 62, "c": -5}, map[string]int{"b": 1 << 40}, 1, act("a"), each(act("b", "a")), act("c"))
	if want := fmt.Sprintf("a=%d b=%d c=0", MaxLeft, MaxLeft); got != want {
		t.Errorf("the ways are %s, want %s", got, want)
	}
}

// The cost grows with the nodes, and a long chain is no deeper problem than a short one.
func BenchmarkLeft(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		nodes, us := make([]ir.Node, n), map[string]int64{}
		for i := range nodes {
			nodes[i] = act(fmt.Sprint("s", i))
			if us[nodes[i].Name] = int64(i); i > 0 {
				nodes[i].Needs = []string{nodes[i-1].Name}
			}
		}
		g, err := Build(&ir.Program{Workflows: []ir.Workflow{{Name: "w", Nodes: nodes}}}, "w")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				g.Left(us, nil, 8)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}
