// Package forecast says how long a run would take, from what earlier runs took.
//
// It rehearses the run: the real machine (runner/machine) is given a workflow of the same shape, in which a step does nothing
// and takes, on a clock of its own, what it is expected to take. So the forecast knows what the machine knows: which of
// those that are ready goes first, the run's slots, those of groups and for_each, and those of agents.
//
// What only a run can know is taken as it was: a for_each has as many instances as it had in the newest run, a repeat as
// many iterations. A condition that is known to be false skips; a node under another one that has never succeeded is
// taken to be skipped again. All other nodes run, and succeed at once; of a node that is new the middle duration of the
// others is expected. A call and a wait hold no slot.
//
// The package is pure. Enter at [Of]. The cost is that of a run without any I/O, so it is for plan and not for apply.
package forecast

import (
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/durations"
	"github.com/flowrun/flowrun/runner/plan"
)

// MaxExecutions bounds a rehearsal: of a run with more executions of steps there is no forecast.
const MaxExecutions = 200_000

// Forecast is what is expected of a run.
type Forecast struct {
	// Runs is how many earlier runs of the workflow have been counted; without any there is nothing else.
	Runs int `json:"earlier_runs"`
	// Steps is how many steps take time of their own, and Known of how many of them it is known how long.
	Steps int `json:"steps"`
	Known int `json:"steps_known"`
	// Seconds is how long the run would take with Slots attempts at once; nil where it is too large or too long to be rehearsed.
	Seconds *float64 `json:"seconds,omitempty"`
	Slots   int      `json:"slots,omitempty"`
	// Chain is the longest chain of steps that wait for each other, by their names, and ChainSeconds how long it takes:
	// the run cannot take less, however many slots it has.
	Chain        []string `json:"chain,omitempty"`
	ChainSeconds float64  `json:"chain_seconds,omitempty"`
	// Node is how long one execution of a step is expected to take, in seconds, by its name.
	Node map[string]float64 `json:"step_seconds,omitempty"`
}

// Values computes an expression from what is known before a run; ok is false where that does not suffice.
type Values func(e *ir.Expr) (v value.Value, ok bool)

// Of makes the forecast of a graph. x is what is expected after so many runs. parallel, if not 0, stands in place of the
// workflow's max_concurrency.
func Of(g *plan.Graph, known Values, x durations.Expected, runs, parallel int) *Forecast {
	f := &Forecast{Runs: runs, Node: map[string]float64{}}
	if runs == 0 {
		return f
	}
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Acts() {
			f.Steps++
			if us, ok := x.US[n.Name]; ok {
				f.Known++
				f.Node[n.Name] = seconds(us)
			}
		}
	}
	if f.Known == 0 {
		return f
	}
	f.Slots = slots(g.Workflow, known, parallel)
	s := &shaper{known: known, x: x, usual: plan.Usual(x.US), left: MaxExecutions, times: map[string]int{}}
	p, ok := s.shape(g)
	if !ok {
		return f
	}
	shape, err := plan.Build(p, g.Workflow.Name)
	if err != nil {
		return f
	}
	chain, took := shape.Chain(x.US, s.times, f.Slots)
	f.ChainSeconds = seconds(took)
	for _, n := range chain {
		f.Chain = append(f.Chain, g.Nodes[n].Name)
	}
	if us, ok := s.rehearse(shape, f.Slots); ok {
		total := seconds(us)
		f.Seconds = &total
	}
	return f
}

func seconds(us int64) float64 { return (time.Duration(us) * time.Microsecond).Seconds() }

func slots(w *ir.Workflow, known Values, parallel int) int {
	n := plan.DefaultConcurrency
	if w.MaxConcurrency != nil {
		if v, ok := known(w.MaxConcurrency); ok {
			if f, ok := v.(float64); ok && f >= 1 {
				n = int(min(f, limits.MaxConcurrency))
			}
		}
	}
	if parallel > 0 {
		n = min(parallel, limits.MaxConcurrency)
	}
	return n
}
