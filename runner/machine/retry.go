package machine

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/policy"
)

// failed decides what follows a failed attempt: another one, at once or after a backoff, or the node's end.
func (m *Machine) failed(r ref, err *event.Error) {
	d := m.detail(r)
	err.Node, err.Attempt = d.path, d.attempts
	d.err = err
	if m.halted(r) {
		m.finish(r, event.FailedS, "")
		return
	}
	again, delay, problem := m.again(r, err)
	switch {
	case again && d.rejected(err):
		m.renew(r, m.rare(r).said)
		m.next(r, 0, fmt.Sprintf("attempt %d was rejected; the next follows with what the gates said", d.attempts))
	case again:
		if m.node(r).Action.Kind().Course() == ir.Called { // a child that ended stays what it is
			m.rare(r).generation++
		}
		m.next(r, delay, fmt.Sprintf("attempt %d failed; the next starts in %s", d.attempts, delay.Round(time.Millisecond)))
	case m.fallBack(r, problem):
	default:
		m.finish(r, event.FailedS, problem)
	}
}

// next shows that an attempt failed that is not the last, and makes the next.
func (m *Machine) next(r ref, delay time.Duration, reason string) {
	n, s, d := m.node(r), m.state(r), m.detail(r)
	m.show(event.Transition{Node: d.path, From: s.status, To: event.Waiting, Attempt: d.attempts, Name: n.Name, Kind: string(n.Kind),
		Reason: reason, Result: m.result(r)})
	s.status = event.Waiting
	if delay == 0 {
		m.try(r)
		return
	}
	m.setTimer(r, m.now.Add(delay), event.TimerBackoff)
}

// try makes a step's next attempt, as soon as there are slots.
func (m *Machine) try(r ref) { m.queueForSlots(r, work) }

// again tells whether and after how long a step is tried once more. What a gate refused for good is not. Rules that cannot
// be computed match nothing; problem says so in words.
func (m *Machine) again(r ref, err *event.Error) (again bool, delay time.Duration, problem string) {
	n, d := m.node(r), m.detail(r)
	rejected := d.rejected(err)
	if !retried(n) || rejected && d.rare.refused {
		return false, 0, ""
	}
	rules, sc, made := m.rules(r), m.scope(r), d.attempts
	if d.rare != nil {
		made -= d.rare.before
	}
	attempts, wrong := m.number(rules.MaxAttempts, sc, attemptsOf(n), policy.MaxAttempts)
	if wrong != nil {
		return false, 0, "it is not tried again: retry.max_attempts: " + wrong.Error()
	}
	if made >= attempts {
		return false, 0, ""
	}
	if rejected {
		return true, 0, ""
	}
	again = err.Kind.Retried()
	if rules.When != nil {
		if again, wrong = m.holds(rules.When, sc); wrong != nil {
			return false, 0, "it is not tried again: retry.when: " + wrong.Error()
		}
	}
	if !again {
		return false, 0, ""
	}
	b, wrong := m.backoff(rules, sc)
	if wrong != nil {
		return false, 0, "it is not tried again: " + wrong.Error()
	}
	delay = b.Delay(made+1, policy.Seed(m.run.Run, d.path, d.attempts+1))
	if err.RetryAfter > 0 {
		delay = max(delay, min(time.Duration(err.RetryAfter*float64(time.Second)), policy.MaxRetryAfter))
	}
	return true, delay, ""
}

// retried reports whether a failed attempt of a node can be followed by another one.
func retried(n *plan.Node) bool { return n.Kind == ir.Step && n.Action.Kind().Retried() }

// attemptsOf is how many attempts a step has where the file says nothing: more than one where a gate asks for better.
func attemptsOf(n *plan.Node) int {
	for _, g := range n.Gates {
		if g.OnFail == ir.OnFailRetry {
			return policy.DefaultRejections
		}
	}
	return policy.DefaultMaxAttempts
}

// rules are what the file says of a node's retries. Attributes merge singly: step over agent over workflow.
func (m *Machine) rules(r ref) (merged ir.Retry) {
	layers := []*ir.Retry{m.node(r).Retry, nil, m.graph.Workflow.Retry}
	if g := m.agent(r); g != nil {
		layers[1] = g.Retry
	}
	for _, l := range layers {
		if l == nil {
			continue
		}
		merged.MaxAttempts = first(merged.MaxAttempts, l.MaxAttempts)
		merged.BaseDelay = first(merged.BaseDelay, l.BaseDelay)
		merged.MaxDelay = first(merged.MaxDelay, l.MaxDelay)
		merged.Multiplier = first(merged.Multiplier, l.Multiplier)
		merged.When = first(merged.When, l.When)
		if merged.Jitter == "" {
			merged.Jitter = l.Jitter
		}
	}
	return merged
}

// backoff computes the delays that the rules ask for, with the built-in ones where they say nothing. A base delay beyond
// the default maximum raises that.
func (m *Machine) backoff(rules ir.Retry, sc *scope) (b policy.Backoff, err error) {
	b = policy.Backoff{Base: policy.DefaultBaseDelay, Max: policy.DefaultMaxDelay, Multiplier: policy.DefaultMultiplier,
		Jitter: policy.DefaultJitter}
	if rules.Jitter != "" {
		b.Jitter = policy.Jitter(rules.Jitter)
	}
	if rules.BaseDelay != nil {
		if b.Base, err = m.duration(rules.BaseDelay, sc); err != nil {
			return b, fmt.Errorf("retry.base_delay: %w", err)
		}
		b.Max = max(b.Max, b.Base)
	}
	if rules.MaxDelay != nil {
		if b.Max, err = m.duration(rules.MaxDelay, sc); err != nil {
			return b, fmt.Errorf("retry.max_delay: %w", err)
		}
	}
	if rules.Multiplier != nil {
		if b.Multiplier, err = m.factor(rules.Multiplier, sc); err != nil {
			return b, fmt.Errorf("retry.multiplier: %w", err)
		}
	}
	return b, nil
}

func first(a, b *ir.Expr) *ir.Expr {
	if a != nil {
		return a
	}
	return b
}
