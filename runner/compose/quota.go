package compose

import (
	"fmt"
	"math"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of what runs share.
const (
	// MaxRequests is how many starts a rate limit can allow in one span.
	MaxRequests = 10_000
	// MaxFailures is how many failures a breaker can wait for.
	MaxFailures = 1000
	// MaxUnits is how many units a quota can have.
	MaxUnits = 10_000
)

// AgentNeed computes what each attempt of an agent needs of the agent: its pace and its health. The
// kind and the name are set. What an agent needs is the same in all of a run.
func (c *Composer) AgentNeed(g *ir.Agent) (event.Need, *event.Error) {
	n := event.Need{Kind: event.NeedAgent, Name: g.Name}
	return n, c.boundNeed(&n, fmt.Sprintf("agent %q", g.Name), g.RateLimit, g.Breaker)
}

// QuotaNeed computes what each attempt needs of a quota, without the units that it takes: Units is 0.
func (c *Composer) QuotaNeed(q *ir.Quota) (event.Need, *event.Error) {
	n := event.Need{Kind: event.NeedQuota, Name: q.Name}
	what := fmt.Sprintf("quota %q", q.Name)
	var err error
	if n.Capacity, err = c.Count(q.Capacity, c.Constants(), 0, MaxUnits); err != nil {
		return n, EvaluationError("capacity of "+what, err)
	}
	if s := q.Spending; s != nil {
		n.Spending = &event.Spending{}
		if n.Spending.Most, _, err = c.Budget(&ir.Budget{Attempts: s.Attempts, Tokens: s.Tokens, CostUSD: s.CostUSD}, c.Constants()); err != nil {
			return n, EvaluationError(what, err)
		}
		if n.Spending.Per, err = c.Duration(&s.Per, c.Constants()); err != nil {
			return n, EvaluationError("per of "+what, err)
		}
	}
	return n, c.boundNeed(&n, what, q.RateLimit, q.Breaker)
}

// Units computes how many units of a quota something takes, in the scope of whatever takes them. More
// units than there are make a fatal error.
func (c *Composer) Units(u *ir.QuotaUse, capacity int, sc *Scope) (int, *event.Error) {
	if u.Units == nil {
		return min(1, capacity), nil
	}
	v, err := c.eval.Eval(u.Units, sc)
	f, ok := v.(float64)
	if err == nil && (!ok || f < 0 || f != math.Trunc(f)) {
		err = fmt.Errorf("a whole number of 0 or more is needed, but this is %.60s", value.Text(v))
	}
	switch {
	case err != nil:
		return 0, EvaluationError(fmt.Sprintf("quota %q", u.Quota), err)
	case f > float64(capacity):
		return 0, &event.Error{Kind: event.Fatal, Reason: event.ReasonLimit, ExitCode: -1,
			Message: fmt.Sprintf("it takes %s units of quota %q, which has %d", value.Text(v), u.Quota, capacity)}
	}
	return int(f), nil
}

func (c *Composer) boundNeed(n *event.Need, what string, r *ir.RateLimit, b *ir.Breaker) *event.Error {
	var err error
	if r != nil {
		n.Pace = &event.Pace{}
		if n.Pace.Requests, err = c.Count(&r.Requests, c.Constants(), 0, MaxRequests); err != nil {
			return EvaluationError("rate_limit.requests of "+what, err)
		}
		if n.Pace.Per, err = c.Duration(&r.Per, c.Constants()); err != nil {
			return EvaluationError("rate_limit.per of "+what, err)
		}
	}
	if b != nil {
		n.Breaker, err = c.evalBreaker(b)
	}
	if err != nil {
		return EvaluationError("circuit_breaker of "+what, err)
	}
	return nil
}

func (c *Composer) evalBreaker(b *ir.Breaker) (*event.Breaker, error) {
	out := &event.Breaker{Tell: len(b.Notify) > 0}
	var err error
	if out.Failures, err = c.Count(b.Failures, c.Constants(), ir.DefaultFailures, MaxFailures); err != nil {
		return nil, fmt.Errorf("failures: %w", err)
	}
	if b.Reset == nil {
		out.Reset = ir.DefaultReset
	} else if out.Reset, err = c.Duration(b.Reset, c.Constants()); err != nil {
		return nil, fmt.Errorf("reset: %w", err)
	}
	if b.When == nil {
		return out, nil
	}
	out.When = &event.Late{What: "circuit_breaker.when", Expr: *b.When}
	known := slices.DeleteFunc(slices.Clone(b.When.Reads), func(r ir.Ref) bool { return slices.Contains(ofAttempt, r.Root) })
	return out, c.deferToHost(out.When, known, c.Constants())
}

// Classify adds the rules that stand at one place to those that go with an attempt. A rule whose names have no value yet does not hold.
func (c *Composer) Classify(to []event.Classify, rules []ir.Classify, sc *Scope) []event.Classify {
	for i := range rules {
		l := event.Late{What: "classify.when", Expr: rules[i].When}
		known := slices.DeleteFunc(slices.Clone(l.Expr.Reads), func(r ir.Ref) bool { return slices.Contains(ofAttempt, r.Root) })
		if c.deferToHost(&l, known, sc) == nil {
			to = append(to, event.Classify{When: l, Kind: rules[i].Kind})
		}
	}
	return to
}

// ofAttempt are the names of a breaker's condition, and of rules of classify, that the host knows at the end of an attempt.
var ofAttempt = []string{"result", "error", "attempt", "elapsed"}

// Hold computes the attempt that takes what a group, a call or the run (path "") holds of quotas.
func (c *Composer) Hold(path, name string, generation int, a *event.Admission) *event.Attempt {
	return &event.Attempt{Node: path, Name: name, Attempt: 1, Kind: event.HoldAttempt, Run: c.run.Run, Workflow: c.run.Workflow, Admission: a,
		Key: c.attemptKey(&Work{Path: path, Generation: generation}, "hold")}
}
