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
	if m.stopping != nil {
		m.finish(r, event.FailedS, "")
		return
	}
	again, delay, problem := m.again(r, err)
	if !again {
		m.finish(r, event.FailedS, problem)
		return
	}
	n := m.node(r)
	t := event.Transition{Node: d.path, From: m.state(r).status, To: event.Waiting, Attempt: d.attempts, Name: n.Name, Kind: string(n.Kind),
		Reason: fmt.Sprintf("attempt %d failed; the next starts in %s", d.attempts, delay.Round(time.Millisecond)), Result: m.result(r)}
	m.state(r).status = event.Waiting
	m.show(t)
	if delay == 0 {
		m.enqueue(r, work)
		return
	}
	m.setTimer(r, m.now.Add(delay), "backoff")
}

// again tells whether and after how long a step is tried once more. What a gate refused is not tried again, for the
// gate said "fail". Rules that cannot be computed match nothing; problem says so in words.
func (m *Machine) again(r ref, err *event.Error) (again bool, delay time.Duration, problem string) {
	n, d := m.node(r), m.detail(r)
	if n.Kind != ir.Step || err.Reason == "gate" || (n.Run == nil && n.Agent == nil) {
		return false, 0, ""
	}
	rules, sc := m.rules(n), m.scope(r)
	attempts, wrong := m.number(rules.MaxAttempts, sc, policy.DefaultMaxAttempts, policy.MaxAttempts)
	if wrong != nil {
		return false, 0, "it is not tried again: retry.max_attempts: " + wrong.Error()
	}
	if d.attempts >= attempts {
		return false, 0, ""
	}
	retried := policy.Retried(err.Kind)
	if rules.When != nil {
		if retried, wrong = m.holds(rules.When, sc); wrong != nil {
			return false, 0, "it is not tried again: retry.when: " + wrong.Error()
		}
	}
	if !retried {
		return false, 0, ""
	}
	b, wrong := m.backoff(rules, sc)
	if wrong != nil {
		return false, 0, "it is not tried again: " + wrong.Error()
	}
	delay = b.Delay(d.attempts+1, policy.Seed(m.run.Run, d.path, d.attempts+1))
	if err.RetryAfter > 0 {
		delay = max(delay, min(time.Duration(err.RetryAfter*float64(time.Second)), policy.MaxRetryAfter))
	}
	return true, delay, ""
}

// rules are what the file says of a node's retries. Attributes merge singly: step over agent over workflow.
func (m *Machine) rules(n *plan.Node) (merged ir.Retry) {
	layers := []*ir.Retry{n.Retry, nil, m.graph.Workflow.Retry}
	if n.Agent != nil {
		layers[1] = n.Agent.Retry
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
	b = policy.Backoff{Base: policy.DefaultBaseDelay, Max: policy.DefaultMaxDelay, Multiplier: policy.DefaultMultiplier, Jitter: policy.DefaultJitter}
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
