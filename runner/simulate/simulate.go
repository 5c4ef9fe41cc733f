// Package simulate says what the runs of a workflow come to: how long they take, how often they succeed, and what they cost.
//
// It runs the workflow many times in virtual time (flowtest.Rehearse). Each attempt ends as one of the attempts of its node in earlier runs did,
// drawn at random: with the same outcome, output, duration and usage. So rules, conditions, retries, slots and quotas count as in a real run;
// that an attempt ends depends on nothing but its node is what the simulation assumes. What people are asked is answered likewise, as late as it
// was in an earlier run; without one the run waits in the end. The method is the bootstrap of B. Efron, "Bootstrap
// methods: another look at the jackknife", The Annals of Statistics 7 (1979).
//
// The package starts nothing, and reads runs through [History] alone. Enter at [Learn] and [Of].
package simulate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/flowtest"
)

// MaxRuns is how many of the newest runs of a workflow are learned from, and MaxSamples how many attempts of a node and gate are kept.
const (
	MaxRuns    = 100
	MaxSamples = 1000
)

// History reads earlier runs.
type History interface {
	List(ctx context.Context, limit int) ([]engine.Info, error)
	Past(ctx context.Context, run string) (*runner.Past, error)
}

// sample is an attempt of an earlier run.
type sample struct {
	answer event.AttemptFinished
	took   time.Duration
}

// place is what the attempts have in common that are drawn for each other.
type place struct {
	workflow, node, gate string
	undo                 bool
}

// Samples are the attempts of earlier runs.
type Samples struct {
	Runs int // how many runs they are from
	of   map[place][]sample
	all  []time.Duration // how long attempts took that were no gates
	asks map[asked][]settled
}

// asked is what the asks have in common whose answers are drawn for each other.
type asked struct {
	workflow, node string
	kind           event.AskKind
}

// settled is how people answered an ask of an earlier run. No decision: nobody answered in time.
type settled struct {
	decisions []event.Decision
	took      time.Duration
}

// Learn reads the attempts of the newest runs of the workflows of a program.
func Learn(ctx context.Context, h History, p *ir.Program) (*Samples, error) {
	s := &Samples{of: map[place][]sample{}, asks: map[asked][]settled{}}
	list, err := h.List(ctx, 0)
	if err != nil {
		return nil, err
	}
	read := map[string]int{}
	for i := range list {
		r := &list[i]
		if p.Workflow(r.Workflow) == nil || !r.Status.Terminal() || read[r.Workflow] >= MaxRuns {
			continue
		}
		read[r.Workflow]++
		past, err := h.Past(ctx, r.Run)
		if err != nil {
			continue // its definition is damaged, or newer than this release; another run will do
		}
		s.Runs++
		people := listener{open: map[uint64]*event.Ask{}, said: map[uint64][]event.Decision{}}
		if err := past.Replay(ctx, func(e runner.Seen) bool {
			people.hear(s, r.Workflow, &e)
			if f := e.Event.AttemptFinished; f != nil {
				s.add(r.Workflow, past, f, e.Event.At)
			}
			return true
		}); err != nil {
			return nil, err
		}
	}
	slices.Sort(s.all)
	return s, nil
}

// listener hears what people are asked in one run, and what they answer.
type listener struct {
	open map[uint64]*event.Ask
	said map[uint64][]event.Decision
}

func (l *listener) hear(s *Samples, workflow string, e *runner.Seen) {
	if x := e.Event.External; x != nil && x.Kind == event.ExternalDecision {
		if d, err := event.DecisionOf(x.Data); err == nil {
			l.said[d.Ask] = append(l.said[d.Ask], d)
		}
	}
	for i := range e.Caused.Commands {
		c := &e.Caused.Commands[i]
		if q := c.Ask; q != nil && l.open[q.Number] == nil {
			own := *q
			l.open[q.Number] = &own
		}
		if c.EndAsk == nil {
			continue
		}
		q := l.open[c.EndAsk.Number]
		if q == nil {
			continue
		}
		delete(l.open, q.Number)
		x := settled{took: max(0, e.Event.At.Sub(q.Since))}
		for _, d := range l.said[q.Number] {
			if d.Word == c.EndAsk.Word {
				x.decisions = append(x.decisions, d)
			}
		}
		k := asked{workflow, q.Name, q.Kind}
		late := e.Event.TimerFired != nil // nobody answered in time; else the node ended for another reason, which says nothing
		if (len(x.decisions) > 0 || late) && len(s.asks[k]) < MaxSamples {
			s.asks[k] = append(s.asks[k], x)
		}
	}
}

func (s *Samples) add(workflow string, past *runner.Past, f *event.AttemptFinished, at event.Time) {
	n := past.View.Node(f.Node)
	if n == nil || f.StartedAt == 0 || f.Resource != "" || f.Outcome == event.Lost || f.Outcome == event.Refused {
		return // what a dead process or a full quota did says nothing about the work
	}
	k := place{workflow, n.Name, f.Gate, f.Compensate}
	took := max(0, at.Sub(f.StartedAt))
	if len(s.of[k]) < MaxSamples {
		s.of[k] = append(s.of[k], sample{*f, took})
	}
	if f.Gate == "" && f.Outcome == event.OK {
		s.all = append(s.all, took)
	}
}

// Result is what the simulated runs came to. Times are in seconds.
type Result struct {
	Workflow string `json:"workflow"`
	// Learned is how many earlier runs the attempts are from, and Unknown the steps that ran and of which no earlier run had an attempt: each was
	// taken to succeed, in the middle of the time of all others.
	Learned int      `json:"earlier_runs"`
	Unknown []string `json:"unknown_steps"`
	Runs    int      `json:"runs"`
	Slots   int      `json:"slots,omitempty"` // 0: those of the workflow
	// Success is the share of runs that succeeded, and Waiting of those that wait for a person or an event in the end.
	Success float64 `json:"success"`
	Waiting float64 `json:"waiting"`
	Seconds Marks   `json:"seconds"`
	CostUSD Marks   `json:"cost_usd"`
	Tokens  Marks   `json:"tokens"`
	// Changes are what other settings would change, if somebody asked.
	Changes []Change `json:"changes,omitempty"`
}

// Marks are percentiles: so many percent of the runs are at most at the mark.
type Marks struct {
	P10 float64 `json:"p10"`
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
}

// marks sorts its argument. The mark of a share is the smallest value that as large a share of all does not exceed.
func marks(all []float64) Marks {
	if len(all) == 0 {
		return Marks{}
	}
	slices.Sort(all)
	at := func(share float64) float64 { return all[max(0, int(math.Ceil(share*float64(len(all))))-1)] }
	return Marks{at(0.10), at(0.50), at(0.90), at(0.99)}
}

// Of simulates so many runs. first is the first event of each; seed draws.
func Of(ctx context.Context, p *ir.Program, first event.RunStarted, secrets map[string]value.Value, s *Samples, runs int, seed uint64) (*Result, error) {
	ends, unknown, err := s.play(ctx, p, first, secrets, runs, seed)
	if err != nil {
		return nil, err
	}
	r := &Result{Workflow: first.Workflow, Learned: s.Runs, Runs: runs, Slots: first.Parallel, Unknown: unknown}
	var took, cost, tokens []float64
	succeeded, waiting := 0, 0
	for _, end := range ends {
		switch end.Status {
		case event.Succeeded:
			succeeded++
		case event.Waiting:
			waiting++
		}
		took = append(took, end.Elapsed.Seconds())
		cost = append(cost, end.Usage.CostUSD)
		tokens = append(tokens, float64(end.Usage.InputTokens+end.Usage.OutputTokens+end.Usage.OtherTokens))
	}
	r.Success, r.Waiting = float64(succeeded)/float64(max(1, runs)), float64(waiting)/float64(max(1, runs))
	r.Seconds, r.CostUSD, r.Tokens = marks(took), marks(cost), marks(tokens)
	return r, nil
}

// play carries the simulated runs out, and names the nodes of which nothing is known.
func (s *Samples) play(ctx context.Context, p *ir.Program, first event.RunStarted, secrets map[string]value.Value, runs int, seed uint64) (ends []flowtest.Rehearsal, unknown []string, err error) {
	program, unknown := flowtest.NewProgram(p), []string{}
	for i := range runs {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		end, err := flowtest.Rehearse(ctx, program, first, secrets, i, func(name string, a *event.Attempt) (event.AttemptFinished, time.Duration, bool) {
			all := s.of[place{a.Workflow, name, a.Gate, a.Compensate}]
			if len(all) == 0 {
				if !slices.Contains(unknown, name) {
					unknown = append(unknown, name)
				}
				return event.AttemptFinished{}, s.middle(a), false
			}
			x := all[random.IntN(len(all))]
			return x.answer, x.took, true
		}, func(workflow string, q *event.Ask) ([]event.Decision, time.Duration, bool) {
			all := s.asks[asked{workflow, q.Name, q.Kind}]
			if len(all) == 0 {
				return nil, 0, false
			}
			x := all[random.IntN(len(all))]
			return x.decisions, x.took, true
		})
		if err != nil {
			return nil, nil, fmt.Errorf("simulated run %d: %w", i+1, err)
		}
		ends = append(ends, end)
	}
	slices.Sort(unknown)
	return ends, unknown, nil
}

// middle is how long an attempt takes of which nothing is known.
func (s *Samples) middle(a *event.Attempt) time.Duration {
	if len(s.all) == 0 || a.Gate != "" {
		return 0
	}
	return s.all[len(s.all)/2]
}
