package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// seeds is how many random workflows the gain is measured over.
const seeds = 1000

// dag is a random workflow: steps of which each waits for up to three of those shortly before it, and takes from seconds to
// hours, most of them little. Groups and for_each are left out: they have chains of their own to be exact about.
func dag(r *rand.Rand) (g *plan.Graph, us map[string]int64) {
	us = map[string]int64{}
	nodes := make([]ir.Node, 10+r.IntN(60))
	reach, waits := 5+r.IntN(30), r.IntN(4)
	for i := range nodes {
		n := ir.Node{Name: fmt.Sprint("s", i), Kind: ir.Step, Action: &ir.AgentTask{Assignee: ir.Assignee{Agent: nobody}}}
		for range min(i, r.IntN(waits+1)) {
			if on := fmt.Sprint("s", max(0, i-1-r.IntN(reach))); on != n.Name && !contains(n.Needs, on) {
				n.Needs = append(n.Needs, on)
			}
		}
		us[n.Name] = int64(1e6 * math.Exp(3+1.2*r.NormFloat64()))
		nodes[i] = n
	}
	p := &ir.Program{Agents: []ir.Agent{{Name: nobody, Type: "null"}}, Workflows: []ir.Workflow{{Name: "w", Nodes: nodes}}}
	g, err := plan.Build(p, "w")
	if err != nil {
		panic(err)
	}
	return g, us
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// makespan plays a run in which steps take what they take, whatever was expected of them.
func makespan(t *testing.T, g *plan.Graph, us, expected map[string]int64, slots int) int64 {
	t.Helper()
	h := &host{m: machine.New(g, constants{}, ir.NewestRules()), took: func(name string) int64 { return us[name] }, gone: map[uint64]bool{}, now: 1}
	took, ok := h.run(event.RunStarted{Run: "gain", Workflow: "w", Parallel: slots, ExpectedUS: expected})
	if !ok {
		t.Fatal("the run did not end")
	}
	return took
}

// measured are the ratios of makespans, ordered over first come first served.
type measured struct {
	sum, best, worst float64
	better, worse, n int
}

func (m *measured) add(ratio float64) {
	if m.n++; m.n == 1 {
		m.best, m.worst = ratio, ratio
	}
	m.sum, m.best, m.worst = m.sum+ratio, min(m.best, ratio), max(m.worst, ratio)
	switch {
	case ratio < 0.999:
		m.better++
	case ratio > 1.001:
		m.worse++
	}
}

func (m *measured) String() string {
	return fmt.Sprintf("mean %.3f, best %.3f, worst %.3f; shorter %d, longer %d, equal %d", m.sum/float64(m.n), m.best, m.worst,
		m.better, m.worse, m.n-m.better-m.worse)
}

// TestLongestWayFirst measures what the order gains over that of becoming ready, where the expectation is exact, and where it
// is off by a factor of up to two either way. No order that keeps slots busy takes more than Graham's bound ("Bounds on
// Multiprocessing Timing Anomalies", 1969): the work shared by the slots, and what is left of the longest chain.
func TestLongestWayFirst(t *testing.T) {
	var exact, rough, optimum measured
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 42))
		g, us := dag(r)
		slots := 2 + r.IntN(7)
		guess, work := map[string]int64{}, int64(0)
		for i := range g.Nodes {
			name := g.Nodes[i].Name
			work += us[name]
			guess[name] = int64(float64(us[name]) * math.Exp2(2*r.Float64()-1))
		}
		_, chain := g.Chain(us, nil, slots)
		least := max(chain, work/int64(slots))
		most := (work + int64(slots-1)*chain) / int64(slots)
		fifo := makespan(t, g, us, nil, slots)
		for _, run := range []struct {
			expected map[string]int64
			m        *measured
		}{{us, &exact}, {guess, &rough}} {
			took := makespan(t, g, us, run.expected, slots)
			run.m.add(float64(took) / float64(fifo))
			if took < least || took > most+int64(len(g.Nodes)) || fifo > most+int64(len(g.Nodes)) {
				t.Errorf("seed %d: %d µs, and %d first come first served, where %d to %d is possible", seed, took, fifo, least, most)
			}
			if run.m == &exact {
				optimum.add(float64(took) / float64(least))
			}
		}
	}
	t.Logf("%d random workflows; makespan over that of first come first served:", seeds)
	t.Logf("  exact expectation:  %v", &exact)
	t.Logf("  off by up to two:   %v", &rough)
	t.Logf("  exact, over the least that any order could take: %v", &optimum)
	if exact.sum/seeds > 0.93 || rough.sum/seeds > 0.94 || exact.worst > 1.1 || rough.worst > 1.15 {
		t.Error("the order gains too little")
	}
}
