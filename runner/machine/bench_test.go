package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// BenchmarkFold runs whole workflows of null attempts through machine, journal encoding and digest, without a disk. The
// figure to watch is ns/step at growing sizes: it must not grow with the run.
func BenchmarkFold(b *testing.B) {
	for _, shape := range []string{"wide", "chain", "for_each", "values", "rules", "join", "repeat"} {
		for _, n := range []int{100, 1000, 10_000, 100_000} {
			if n == 100_000 && testing.Short() || n > limits.MaxIterations && shape == "repeat" {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", shape, n), func(b *testing.B) {
				g := shapeGraph(b, shape, n)
				b.ResetTimer()
				b.ReportAllocs()
				for range b.N {
					drive(b, g)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/step")
			})
		}
	}
}

// shapeGraph is a workflow of n null attempts (or value steps), at once, each after the one before, as the instances of a
// step or as its iterations.
func shapeGraph(tb testing.TB, shape string, n int) *plan.Graph {
	tb.Helper()
	var src strings.Builder
	src.WriteString("agent \"null\" { type = \"null\" }\nworkflow \"w\" {\n")
	switch shape {
	case "for_each":
		fmt.Fprintf(&src, "  step \"s\" {\n    for_each = range(%d)\n    agent    = agent.null\n    with     = each.value\n  }\n", n)
	case "join":
		fmt.Fprintf(&src, "  step \"s\" {\n    for_each = range(%d)\n    agent    = agent.null\n    join     = \"succeeded >= %d\"\n  }\n", n, n)
	case "repeat":
		fmt.Fprintf(&src, "  step \"s\" {\n    agent = agent.null\n    repeat {\n      max = %d\n    }\n  }\n", n)
	default:
		for i := range n {
			fmt.Fprintf(&src, "  step \"s%d\" {\n", i)
			if shape == "values" {
				fmt.Fprintf(&src, "    value = %d\n", i)
			} else {
				src.WriteString("    agent = agent.null\n")
			}
			if i > 0 && shape != "wide" {
				fmt.Fprintf(&src, "    depends_on = [step.s%d]\n", i-1)
			}
			if i > 0 && shape == "rules" {
				src.WriteString("    trigger_rule = \"one_success\"\n    on_error = \"continue\"\n")
			}
			src.WriteString("  }\n")
		}
	}
	src.WriteString("}\n")
	p, err := load(src.String())
	if err != nil {
		tb.Fatal(err)
	}
	g, err := plan.Build(p, "w")
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// drive answers every start with success until the run ends, in batches as large as what was started.
func drive(tb testing.TB, g *plan.Graph) {
	fold := engine.NewFold(journal.Header{Run: "bench"}, machine.New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules()))
	events := []event.Event{{RunStarted: &event.RunStarted{Run: "bench", Workflow: "w", Parallel: 64}}}
	var r event.Reaction
	for len(events) > 0 {
		if _, err := fold.Feed(epoch, events, &r); err != nil {
			tb.Fatal(err)
		}
		events = events[:0]
		for _, c := range r.Commands {
			if c.Start != nil {
				events = append(events, event.Event{AttemptFinished: &event.AttemptFinished{
					Ticket: c.Start.Ticket, Node: c.Start.Node, Attempt: c.Start.Attempt, Outcome: event.OK}})
			}
		}
	}
	if fold.End() == nil || fold.End().Status != event.Succeeded {
		tb.Fatalf("the run ended %+v", fold.End())
	}
}
