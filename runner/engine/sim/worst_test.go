package sim_test

import (
	"flag"
	"testing"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/outline"
	"github.com/flowrun/flowrun/runner/plan"
)

var worstSeeds = flag.Int("sim.worst", 80, "how many random programs TestWorstCaseIsWorse runs")

// TestWorstCaseIsWorse runs random programs, with budgets and without, and compares what they used with what outline says that they
// can use at most. An agent has used before what it uses at most here.
//
// The whole: go test ./runner/engine/sim -run TestWorstCaseIsWorse -sim.worst=1000
func TestWorstCaseIsWorse(t *testing.T) {
	first, n := uint64(1), *worstSeeds
	if *seed1 != 0 {
		first, n = *seed1, 1
	}
	most := event.Bounds{Tokens: 38, CostUSD: 0.049}
	counted, full, priced := 0, 0, 0
	for seed := first; seed < first+uint64(n); seed++ {
		c := newCase(t, seed)
		g, err := plan.Build(c.program, "w")
		if err != nil {
			t.Fatal(err)
		}
		used := outline.Used{}
		for i := range c.program.Agents {
			used[c.program.Agents[i].Name] = most
		}
		w := outline.WorstOf(g, constants, used, 0)
		c.run(t, sim.Faults{})
		u := event.Usage{}
		if c.end.Usage != nil {
			u = *c.end.Usage
		}
		if w.Attempts == nil {
			continue
		}
		counted++
		if u.Attempts == *w.Attempts {
			full++
		}
		tokens := float64(u.InputTokens + u.OutputTokens)
		if u.Attempts > *w.Attempts || w.Tokens != nil && (tokens > *w.Tokens || u.CostUSD > *w.CostUSD+1e-9) {
			t.Errorf("seed %d: the run used %+v, and %d attempts, %v tokens and %v dollars are the worst case", seed, u, *w.Attempts, *w.Tokens, *w.CostUSD)
		}
		if w.CostUSD != nil && u.CostUSD > 0 {
			priced++
		}
	}
	t.Logf("%d of %d programs have a worst case, %d came to it, %d cost something", counted, n, full, priced)
	if *seed1 == 0 && (counted < n*3/4 || full < n/40 || priced < n/20) {
		t.Error("too few to mean anything")
	}
}

// constants computes what reads nothing.
func constants(e *ir.Expr) (value.Value, bool) {
	if len(e.Reads) > 0 {
		return nil, false
	}
	v, err := expr.NewEvaluator(ir.NewestRules()).Eval(e, nil)
	return v, err == nil
}
