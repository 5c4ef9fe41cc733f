package admission

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// Judge reports whether the condition of a breaker holds.
type Judge func(run string, condition *event.Late) (bool, error)

// NeedAgent returns the needs of an attempt, and its agent as the last of them. Where the agent has no bounds, its need has none: only a
// person who stops it, or a moment that the other side names, can refuse it.
func NeedAgent(a *event.Attempt) *event.Admission {
	of := event.Need{Kind: event.NeedAgent, Name: a.Agent.Name}
	var needs event.Admission
	if a.Admission != nil {
		needs = *a.Admission
	}
	if !slices.ContainsFunc(needs.Needs, func(n event.Need) bool { return n.Kind == of.Kind && n.Name == of.Name }) {
		needs.Needs = append(slices.Clip(needs.Needs), of)
	}
	return &needs
}

// NamesMoment reports whether the end of an attempt names the moment before which nothing else of its agent starts.
func NamesMoment(a *event.Attempt, f *event.AttemptFinished) bool {
	return a.Agent != nil && f.Outcome == event.Failed && f.Error != nil && f.Error.Kind == event.RateLimited && f.Error.RetryAfter > 0
}

// NewEnd says how the end of an attempt counts that began and ended at two moments. An error that does not count: a cancel, the
// verdict of a gate, a pause that the other side asks for, and what the condition of a breaker leaves out. A condition that cannot be
// evaluated leaves out nothing; warning says why.
func NewEnd(a *event.Attempt, f *event.AttemptFinished, began, ended event.Time, holds Judge) (end End, warning string) {
	end = End{Key: a.Key, Began: true}
	if u := f.Usage; u != nil {
		end.Used = event.Bounds{Tokens: float64(u.InputTokens + u.OutputTokens + u.OtherTokens), CostUSD: u.CostUSD}
	}
	if a.Admission != nil {
		end.Needs = a.Admission.Needs
	}
	end.Error = classify(a, f, began, ended, holds)
	how := shared.Uncounted
	switch e := end.Error; {
	case f.Outcome == event.OK:
		how = shared.Good
	case f.Outcome == event.Failed && e != nil && e.Kind == event.RateLimited && e.RetryAfter > 0:
		end.Until = ended.Add(time.Duration(min(e.RetryAfter, value.MaxDuration.Seconds()) * float64(time.Second)))
		if a.Agent != nil {
			end.Needs = NeedAgent(a).Needs
		}
	case f.Outcome == event.Failed && (a.Gate != "" || e != nil && e.Reason == event.ReasonCancelled):
	case f.Outcome == event.Failed, f.Outcome == event.Lost:
		how = shared.Bad
	}
	for i := range end.Needs {
		counted := how
		if b := end.Needs[i].Breaker; b != nil && b.When != nil && how == shared.Bad {
			says, err := holds(a.Run, conditionOf(b.When, a, f, end.Error, ended.Sub(began)))
			switch {
			case err != nil:
				warning = fmt.Sprintf("the condition of the circuit breaker of %q cannot be evaluated, so the error counts: %v", end.Needs[i].Name, err)
			case !says:
				counted = shared.Uncounted
			}
		}
		end.Endings = append(end.Endings, counted)
	}
	return end, warning
}

// classify is the error of an attempt with the kind that the first rule that holds gives it, as the run will read it. A rule that cannot be
// evaluated does not hold; the run warns of it.
func classify(a *event.Attempt, f *event.AttemptFinished, began, ended event.Time, holds Judge) *event.Error {
	if f.Error == nil || f.Outcome != event.Failed || a.Admission == nil {
		return f.Error
	}
	if since := a.Admission.Since; since != 0 {
		began = min(since, ended)
	}
	own := *f.Error
	own.Node, own.Attempt = a.Node, a.Attempt
	for i := range a.Admission.Classify {
		rule := &a.Admission.Classify[i]
		if says, err := holds(a.Run, conditionOf(&rule.When, a, f, &own, ended.Sub(began))); err == nil && says {
			own.Kind = rule.Kind
			return &own
		}
	}
	return f.Error
}

// conditionOf adds what is known of an attempt that failed to a condition.
func conditionOf(when *event.Late, a *event.Attempt, f *event.AttemptFinished, failure *event.Error, took time.Duration) *event.Late {
	l := *when
	if l.Names = maps.Clone(l.Names); l.Names == nil {
		l.Names = map[string]value.Value{}
	}
	if failure == nil {
		failure = &event.Error{Kind: event.Transient, Reason: event.ReasonUnexplained, ExitCode: -1}
	}
	stdout, stderr := f.Streams()
	l.Names["attempt"], l.Names["elapsed"] = float64(a.Attempt), took.Seconds()
	for root, object := range map[string]map[string]any{"error": failure.Object(), "result": event.FailedResult(stdout, stderr, f.Exit())} { // any order: it fills a map
		l.Names[root] = object
		for name, v := range object { // any order: it fills a map
			l.Names[root+"."+name] = v
		}
	}
	return &l
}

// Refusal is the end of an attempt that was not granted.
func (o *Obstacle) Refusal(now event.Time) event.AttemptFinished {
	e := &event.Error{Kind: event.Transient, Reason: o.Reason, ExitCode: -1}
	if o.Until > now {
		e.RetryAfter = o.Until.Sub(now).Seconds()
	}
	what := fmt.Sprintf("%s %q", o.Need.Kind, o.Need.Name)
	if o.Reason == event.ReasonQuota {
		e.Message = fmt.Sprintf("too few units of %s are free", what)
	} else if o.Reason == event.ReasonRateLimit {
		e.Message = fmt.Sprintf("the rate limit of %s allows no start now", what)
	} else if o.Reason == event.ReasonBudget {
		e.Message = fmt.Sprintf("%s is spent for now", what)
	} else if o.Reason == event.ReasonBreaker {
		e.Message = fmt.Sprintf("the circuit breaker of %s is open", what)
	} else if e.Reason = event.ReasonBusy; o.Stopped {
		e.Message = fmt.Sprintf("%s was stopped by a person", what)
	} else {
		e.Message = fmt.Sprintf("%s does as many tasks as it may", what)
	}
	return event.AttemptFinished{Outcome: event.Refused, Error: e, Resource: o.Need.Name}
}
