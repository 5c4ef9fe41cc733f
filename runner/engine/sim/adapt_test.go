package sim_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
)

// rules are the rules that random programs have.
const rules = `workflow "w" {
  timeout = "1000h"
  adapt {
    when            = "metrics.queued > 1"
    max_concurrency = metrics.limit + 1
    cooldown        = "20s"
  }
  adapt {
    when            = "metrics.attempts >= 2"
    until           = "metrics.attempts >= 5"
    max_concurrency = 1
  }
  adapt {
    when            = "metrics.running > 0 && metrics.elapsed > 20"
    for             = "10s"
    max_concurrency = 2
  }
  adapt {
    when            = "metrics.failed > 1"
    until           = "metrics.failed > 3"
    max_concurrency = metrics.limit / 2
    cooldown        = "10s"
  }
  adapt {
    when            = "metrics.error_rate > 0.2 || metrics.retry_rate > 0.3"
    max_concurrency = 3
  }
  step "a" { run = ["a"] }
}`

// adapt gives rules to workflows and groups.
func adapt(t *testing.T, r *rand.Rand, p *ir.Program) {
	t.Helper()
	loaded, diags := dsl.Load(fstest.MapFS{"w.flow.hcl": {Data: []byte(rules)}}, "w.flow.hcl", dsl.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	all := loaded.IR.Workflows[0].Adapt
	some := func() (list []ir.Adapt) {
		for range r.IntN(4) {
			list = append(list, all[r.IntN(len(all))])
		}
		return list
	}
	for i := range p.Workflows {
		w := &p.Workflows[i]
		if r.IntN(4) == 0 {
			w.Adapt = some()
		}
		eachNode(w.Nodes, func(n *ir.Node) {
			if n.Kind != ir.Step && !forPeople(n) && r.IntN(4) == 0 {
				n.Adapt = some()
			}
		})
	}
}

// numbers are those that rules have put into force in a run, by the paths of groups, and "" for the run. They are taken from what the run
// shows; 0 is the number of the file. Of those of a batch the highest counts, because an attempt may have started before the number went
// down.
type numbers struct {
	last    map[string]int
	batch   map[string][]int
	ever    map[string]int  // the highest
	seen    map[uint64]bool // attempts that were to start, by ticket
	fresh   map[uint64]bool // those of them that the last batch was the first to start: a new driver starts again what runs
	changes int
}

func newNumbers() *numbers {
	return &numbers{last: map[string]int{}, batch: map[string][]int{}, ever: map[string]int{}, seen: map[uint64]bool{}}
}

// starts reports whether the last batch was the first to start an attempt.
func (s *numbers) starts(ticket uint64) bool { return s.fresh[ticket] }

func (s *numbers) watch(events []event.Event, r *event.Reaction) {
	if events[0].RunStarted != nil {
		s.last, s.changes = map[string]int{}, 0
	}
	s.batch, s.fresh = map[string][]int{}, map[uint64]bool{}
	for _, c := range r.Commands {
		if a := c.Start; a != nil && !s.seen[a.Ticket] {
			s.seen[a.Ticket], s.fresh[a.Ticket] = true, true
		}
	}
	for _, t := range r.Transitions {
		change := t.Change()
		if change == nil || change.What != event.ChangeConcurrency {
			continue
		}
		s.changes++
		s.ever[t.Node] = max(s.ever[t.Node], int(change.To.(float64)))
		s.batch[t.Node] = append(s.batch[t.Node], s.last[t.Node])
		if s.last[t.Node] = int(change.To.(float64)); change.Rule == 0 {
			s.last[t.Node] = 0
		}
	}
}

// most is how many attempts may be live at once: the number in force, or that of the file. For what has its slot already it is the highest
// number so far: a call that waits for what it holds, and an attempt that another driver starts again.
func (s *numbers) most(path string, declared *ir.Expr, holds bool) int {
	file := math.MaxInt
	if declared != nil {
		file = int(declared.Const.(float64))
	}
	most := 0
	if holds {
		most = max(file, s.ever[path])
	}
	for _, number := range append(s.batch[path], s.last[path]) {
		if number == 0 {
			number = file
		}
		most = max(most, number)
	}
	return most
}

// TestRulesChangeNumbers makes sure that rules change something in the simulation.
func TestRulesChangeNumbers(t *testing.T) {
	changes := 0
	for seed := uint64(1); seed < 200 && changes < 40; seed++ {
		c := newCase(t, seed)
		c.run(t, sim.Faults{})
		for _, s := range c.runs { // any order: a sum
			changes += s.numbers.changes
		}
	}
	if changes < 40 {
		t.Errorf("%d changes", changes)
	}
}
