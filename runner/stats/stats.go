// Package stats computes what the runs of a store did: how many tasks were done and how well, how long they took, how often they were
// tried again and escalated, how busy the agents were, and what it cost.
//
// A task is one execution of a step by an agent: one instance in one iteration, with all of its attempts. A task counts when it
// succeeds or fails; a task that is cancelled or skipped, or whose result comes from an earlier run, does not. [Run] is a fold over
// the events of one run, so all figures follow from journals alone. [Compute] adds the runs of a store up.
//
// The formulas are those of the documents that flowrun follows: throughput = tasks that succeeded / hours; success rate = tasks that
// succeeded / tasks; mean time = average of (end - start); idle = time without an attempt / time; retry rate = attempts beyond the
// first / attempts; escalation rate = tasks that came to a level of their escalation / tasks.
//
// The package is pure: it knows no store and no clock. Enter at [NewRun] and [Compute].
package stats

import (
	"cmp"
	"slices"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// Group says by what the figures are set apart.
type Group string

// The groups.
const (
	ByWorkflow Group = "workflow"
	ByAgent    Group = "agent"
	ByPattern  Group = "pattern" // the pattern of the file that the step belongs to, or the kind of the nearest group around it
	ByVersion  Group = "version" // the definition that the run pins
)

// Groups lists all groups.
var Groups = []Group{ByWorkflow, ByAgent, ByPattern, ByVersion}

// Figures are the figures of some runs and tasks in a span of time. A rate of nothing is nil.
type Figures struct {
	Runs      int `json:"runs"` // that ended in the span, or had not ended at its end; of an agent or a pattern, those in which it worked
	Tasks     int `json:"tasks"`
	Succeeded int `json:"succeeded"` // tasks
	Failed    int `json:"failed"`    // tasks
	Attempts  int `json:"attempts"`  // of the tasks
	Retries   int `json:"retries"`   // attempts beyond the first of each task
	Escalated int `json:"escalated"` // tasks
	Agents    int `json:"agents"`    // that had an attempt in the span

	Throughput     float64  `json:"throughput"`      // tasks that succeeded, an hour
	SuccessRate    *float64 `json:"success_rate"`    // 0 to 1, as all rates
	ErrorRate      *float64 `json:"error_rate"`      //
	MeanTime       *float64 `json:"mean_time"`       // of a task, in seconds
	Idle           *float64 `json:"idle"`            // part of the span in which an agent had no attempt, over all agents
	Utilization    *float64 `json:"utilization"`     // 1 - idle
	RetryRate      *float64 `json:"retry_rate"`      //
	EscalationRate *float64 `json:"escalation_rate"` //

	Tokens  float64 `json:"tokens"`
	CostUSD float64 `json:"cost_usd"`

	// What is going on at the end of the span.
	Live  int `json:"live"`  // runs that have not ended
	Busy  int `json:"busy"`  // agents with an attempt
	Queue int `json:"queue"` // steps that wait
}

// Named are the figures of one workflow, agent, pattern or version.
type Named struct {
	Name string `json:"name"`
	Figures
}

// Compute adds up what happened from since to until. With a group, it also adds up what belongs to each member of the group, in the order
// of their names.
func Compute(runs []*Run, since, until event.Time, by Group) (total Figures, groups []Named) {
	sums := map[string]*sum{}
	all := &sum{busy: map[string][]span{}}
	at := func(name string) *sum {
		if name == "" {
			return all // it is added to all anyway
		}
		if sums[name] == nil {
			sums[name] = &sum{busy: map[string][]span{}}
		}
		return sums[name]
	}
	for _, r := range runs {
		found := []*sum{all}
		sumsOf := func(t Task) []*sum {
			s := at(r.member(by, t))
			if !slices.Contains(found, s) {
				found = append(found, s)
			}
			if s == all {
				return []*sum{all}
			}
			return []*sum{all, s}
		}
		sumsOf(Task{}) // of a workflow and a version also the runs without a task
		for _, name := range r.queue() {
			all.Queue++
			if s := at(r.member(by, Task{Name: name})); s != all {
				s.Queue++
			}
		}
		for _, t := range r.Tasks {
			if t.Ended > since && t.Ended <= until {
				for _, s := range sumsOf(t) {
					s.addTask(&t)
				}
			}
		}
		for _, w := range r.work(until) {
			if w.from, w.to = max(w.from, since), min(w.to, until); w.from < w.to {
				for _, s := range sumsOf(w.task) {
					s.busy[w.task.Agent] = append(s.busy[w.task.Agent], w.span)
				}
			}
		}
		for _, a := range r.working() {
			for _, s := range sumsOf(Task{Agent: a.agent, Name: a.name}) {
				s.now = append(s.now, a.agent)
			}
		}
		for _, s := range found {
			s.Runs++
			if !r.ended {
				s.Live++
			}
		}
	}
	for name, s := range sums { // any order: sorted below
		groups = append(groups, Named{name, s.figures(since, until)})
	}
	slices.SortFunc(groups, func(a, b Named) int { return cmp.Compare(a.Name, b.Name) })
	return all.figures(since, until), groups
}

// sum is what figures are computed of.
type sum struct {
	Figures
	took time.Duration
	busy map[string][]span // by agent
	now  []string          // agents that have an attempt
}

type span struct{ from, to event.Time }

func (s *sum) addTask(t *Task) {
	s.Tasks++
	if t.Status == event.Succeeded {
		s.Succeeded++
	} else {
		s.Failed++
	}
	s.Attempts += t.Attempts
	s.Retries += max(0, t.Attempts-1)
	if t.Escalated {
		s.Escalated++
	}
	s.took += t.Ended.Sub(t.Started)
	s.Tokens += float64(t.Usage.InputTokens + t.Usage.OutputTokens + t.Usage.OtherTokens)
	s.CostUSD += t.Usage.CostUSD
}

func (s *sum) figures(since, until event.Time) Figures {
	f := s.Figures
	length := until.Sub(since)
	if length > 0 {
		f.Throughput = float64(f.Succeeded) / length.Hours()
	}
	f.SuccessRate = rate(f.Succeeded, f.Tasks)
	f.ErrorRate = rate(f.Failed, f.Tasks)
	f.RetryRate = rate(f.Retries, f.Attempts)
	f.EscalationRate = rate(f.Escalated, f.Tasks)
	if f.Tasks > 0 {
		mean := s.took.Seconds() / float64(f.Tasks)
		f.MeanTime = &mean
	}
	if f.Agents = len(s.busy); f.Agents > 0 && length > 0 {
		var worked time.Duration
		for _, spans := range s.busy { // any order: a sum of whole numbers
			worked += covered(spans)
		}
		used := worked.Seconds() / (length.Seconds() * float64(f.Agents))
		idle := 1 - used
		f.Utilization, f.Idle = &used, &idle
	}
	slices.Sort(s.now)
	f.Busy = len(slices.Compact(s.now))
	return f
}

func rate(part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	r := float64(part) / float64(whole)
	return &r
}

// covered is how long at least one of the spans lasts.
func covered(spans []span) (d time.Duration) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var end event.Time
	for _, s := range spans {
		if from := max(s.from, end); s.to > from {
			d += s.to.Sub(from)
			end = s.to
		}
	}
	return d
}
