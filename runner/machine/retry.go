package machine

import (
	"fmt"
	"math"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/policy"
	"github.com/flowrun/flowrun/runner/slots"
)

// failAttempt handles a failed attempt: it classifies the error, and then retries at once or after a
// backoff, falls back to another agent, or ends the node.
func (m *Machine) failAttempt(r ref, err *event.Error) {
	if m.node(r).Kind == ir.Step {
		m.classifyError(r, err)
	}
	m.failClassified(r, err)
}

// failPause fails a wait or an approval. Its failure counts as that of an attempt.
func (m *Machine) failPause(r ref, err *event.Error) {
	m.startParents(r)
	if m.behaviour[ir.PausesFailAsAttempts] {
		m.failAttempt(r, err)
		return
	}
	m.failNode(r, err)
}

// failClassified handles a failed attempt whose error has its kind.
func (m *Machine) failClassified(r ref, err *event.Error) {
	d := m.liveState(r)
	err.Node, err.Attempt = d.path, d.attempts
	d.err = err
	if m.isHalted(r) {
		m.finishNode(r, event.FailedS, "")
		return
	}
	if m.isEnding(r) { // its attempt ended well, and too late to be repeated
		m.endCancelled(r)
		return
	}
	if m.escalate(r) {
		return
	}
	again, delay, problem := m.decideRetry(r, err)
	if (again || m.hasFallback(r)) && !isPause(m.node(r)) {
		if spent, _ := m.spentAround(r, oneAttempt, false); spent != nil {
			m.failSpent(r, spent)
			return
		}
	}
	switch {
	case again && d.wasRejected(err):
		m.retry(r, 0, fmt.Sprintf("attempt %d was rejected; the next attempt gets the feedback of the gates", d.attempts))
	case again:
		m.retry(r, delay, fmt.Sprintf("attempt %d failed; the next starts in %s", d.attempts, delay.Round(time.Millisecond)))
	case m.hasFallback(r):
		if problem != "" { // the end of the node does not mention it
			m.showNote(r, event.Warned, problem, nil)
		}
		m.fallBack(r, fmt.Sprintf("attempt %d failed", d.attempts))
	default:
		m.giveUp(r, problem)
	}
}

// retry lets another attempt follow. After a verdict of gates it is other work, with what they said; an ended child does not run
// again.
func (m *Machine) retry(r ref, delay time.Duration, reason string) {
	if d := m.liveState(r); d.wasRejected(d.err) {
		m.startOtherWork(r, d.cold.said)
	} else if m.node(r).Action.Kind().Course() == ir.Called {
		m.coldState(r).generation++
	}
	m.showRetry(r, delay, reason)
}

// showRetry shows a failed attempt that is not the last, and queues the next one.
func (m *Machine) showRetry(r ref, delay time.Duration, reason string) {
	n, s, d := m.node(r), m.state(r), m.liveState(r)
	m.showTransition(event.Transition{Node: d.path, From: s.status, To: event.Waiting, Attempt: d.attempts, Name: n.Name, Kind: string(n.Kind),
		Reason: reason, Result: m.resultOf(r)})
	s.status = event.Waiting
	if delay == 0 {
		m.queueAttempt(r)
		return
	}
	m.setTimer(r, m.now.Add(delay), event.TimerBackoff)
}

// An answer of the kind rate_limited that says when to come back counts no attempt: the same attempt
// is made again at that moment, without a backoff. The host lets nothing else of the agent and of its
// quotas start until then.

func limited(f *event.AttemptFinished) bool {
	return f.Outcome == event.Failed && f.Error != nil && f.Error.Kind == event.RateLimited && f.Error.RetryAfter > 0
}

// waitsOut reports whether an answer makes its node wait for the moment that it names.
func (m *Machine) waitsOut(a *attempt, f *event.AttemptFinished) bool {
	if !limited(f) || a.gate != work || a.cancelled || m.isHalted(a.ref) || m.state(a.ref).status.Terminal() {
		return false
	}
	x := m.coldState(a.ref)
	return x.limited < MaxLimited
}

// waitOut lets a node wait for the moment that an answer has named.
func (m *Machine) waitOut(r ref, err *event.Error) {
	n, s, d := m.node(r), m.state(r), m.liveState(r)
	m.coldState(r).limited++
	e := *err
	e.Node, e.Attempt = d.path, d.attempts
	d.err = &e
	d.attempts--
	name := n.Name
	if d.agent != "" {
		name = d.agent
	}
	until, ask := m.retryMoments(err)
	from := s.status
	s.status = event.Waiting
	m.showTransition(event.Transition{Node: d.path, From: from, To: event.Waiting, Attempt: d.attempts, Name: n.Name, Kind: string(n.Kind),
		Reason: "it waits as long as the error asks", Result: m.resultOf(r), WaitsFor: &event.WaitsFor{Kind: event.WaitRateLimit, Name: name, Until: until}})
	m.setTimer(r, ask, event.TimerBackoff)
}

// queueAttempt queues a node's next attempt for its slots: that of the judge that the node waits for, or of its work.
// A wait or an approval has no attempt to queue, and begins again.
func (m *Machine) queueAttempt(r ref) {
	gate := m.liveState(r).nextGate()
	if n := m.node(r); gate == work && isPause(n) {
		begins[n.Action.Kind()](m, r)
		return
	}
	m.queueForSlots(r, gate)
}

// decideRetry reports whether a step is retried, and after how long. A final rejection is not
// retried. Retry rules that cannot be evaluated retry nothing; problem then says why.
func (m *Machine) decideRetry(r ref, err *event.Error) (again bool, delay time.Duration, problem string) {
	n, d := m.node(r), m.liveState(r)
	rejected := d.wasRejected(err)
	asksAgain := isPause(n) && rejected && m.behaviour[ir.PausesFailAsAttempts] // its timeout, and a person's no, are not tried again
	if !mayRetry(n) && !asksAgain || rejected && d.cold.refused {
		return false, 0, ""
	}
	rules, sc, made := m.composer.RetryRules(n, m.agentOf(r)), m.newScope(r), d.attempts
	if d.cold != nil {
		made -= d.cold.before
	}
	attempts, wrong := m.composer.Count(rules.MaxAttempts, sc, attemptsOf(n), limits.MaxAttempts)
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
		if again, wrong = m.holdsFor(r, rules.When, m.failureOf(r, err)); wrong != nil {
			return false, 0, "it is not tried again: retry.when: " + wrong.Error()
		}
	}
	if !again {
		return false, 0, ""
	}
	b, wrong := m.composer.Backoff(rules, sc)
	if wrong != nil {
		return false, 0, "it is not tried again: " + wrong.Error()
	}
	delay = b.Delay(made+1, policy.Seed(m.run.Run, d.path, d.attempts+1))
	if err.RetryAfter > 0 {
		delay = max(delay, min(time.Duration(err.RetryAfter*float64(time.Second)), policy.MaxRetryAfter))
	}
	return true, delay, ""
}

// mayRetry reports whether a failed attempt of a node can be followed by another one.
func mayRetry(n *plan.Node) bool { return n.Kind == ir.Step && n.Action.Kind().Retried() }

// isPause reports whether a node is a wait or an approval, which makes no attempt.
func isPause(n *plan.Node) bool { return n.Kind == ir.Step && n.Action.Kind().Course() == ir.Pausing }

// attemptsOf returns the default number of attempts of a step: more than one if a gate asks for
// better work.
func attemptsOf(n *plan.Node) int {
	for _, g := range n.Gates {
		if g.OnFail == ir.OnFailRetry {
			return policy.DefaultRejections
		}
	}
	return policy.DefaultMaxAttempts
}

// assigneeOf returns who has a step now: an agent or a pool; nil if the step has no agent.
func (m *Machine) assigneeOf(r ref) *plan.Assignee {
	n := m.node(r)
	if d := m.state(r).liveState; d != nil && d.cold != nil {
		switch {
		case d.cold.escalation != nil && d.cold.escalation.to != nil:
			return d.cold.escalation.to
		case d.cold.fallback > 0:
			return n.Others[d.cold.fallback-1]
		case d.cold.otherwise:
			return n.Else
		}
	}
	return n.Own
}

// agentOf returns the agent that has a step now; nil if the step has no agent, or a pool whose
// member is not chosen yet.
func (m *Machine) agentOf(r ref) *ir.Agent {
	a := m.assigneeOf(r)
	if a == nil {
		return nil
	}
	if d := m.state(r).liveState; a.Agent == nil && d != nil && d.cold != nil {
		return d.cold.chosen
	}
	return a.Agent
}

// chooseAssignee evaluates a choice between two assignees. It fails the node and returns false if the
// condition cannot be evaluated.
func (m *Machine) chooseAssignee(r ref) bool {
	n := m.node(r)
	if n.Else == nil {
		return true
	}
	holds, err := m.composer.Condition(n.Action.(*ir.AgentTask).If, m.newScope(r))
	if err != nil {
		m.failNode(r, compose.EvaluationError("agent", err))
		return false
	}
	m.coldState(r).otherwise = !holds
	return true
}

// hasFallback reports whether another agent follows in the list of a step.
func (m *Machine) hasFallback(r ref) bool {
	n := m.node(r)
	if len(n.Others) == 0 || m.coldState(r).fallback == len(n.Others) {
		return false
	}
	e := m.coldState(r).escalation
	return e == nil || e.at < 0
}

// fallBack gives a step to the next agent of its list, with new attempts and a new generation: the
// agent before may have done part of the work.
func (m *Machine) fallBack(r ref, why string) {
	d, x, said := m.liveState(r), m.coldState(r), ""
	if d.wasRejected(d.err) {
		said = x.said
	}
	m.startOtherWork(r, said)
	x.fallback++
	x.before = d.attempts
	x.leaveAgent()
	if !m.prepareAgent(r) {
		return
	}
	m.showRetry(r, 0, fmt.Sprintf("%s; %s takes over from %q", why, m.takesOver(r), d.agent))
}

// leaveAgent forgets who had the task.
func (x *coldState) leaveAgent() {
	x.chosen, x.passed, x.busy, x.settled, x.turns = nil, nil, false, false, 0
}

// startOtherWork gives a node's work a new generation, with the feedback on the last result.
func (m *Machine) startOtherWork(r ref, said string) {
	x := m.coldState(r)
	x.generation++
	x.feedback = said
}

// feedbackOf returns the gates' feedback on the last result: of the node, or else of the nearest
// group around it that gates refused. It is "" if there is none.
func (m *Machine) feedbackOf(r ref) string {
	if d := m.state(r).liveState; d != nil && d.cold != nil && d.cold.feedback != "" {
		return d.cold.feedback
	}
	for f := r.frame; f != nil; f = f.up {
		if f.last == nil {
			continue
		}
		last := ref{f.last, m.graph.Regions[f.region].Owner}
		if m.askedForBetter(last) {
			return m.state(last).cold.said
		}
	}
	return ""
}

// ensureAgentLimiter makes the limiter of an agent with a concurrency, once. It fails the node and
// returns false if the concurrency cannot be evaluated.
func (m *Machine) ensureAgentLimiter(r ref, g *ir.Agent) bool {
	if m.agents[g.Name] != nil {
		return true
	}
	if g.Concurrency == nil {
		if m.pools.shares(g) { // its limiter counts
			m.agents[g.Name] = slots.NewLimiter[slotRequest](math.MaxInt)
		}
		return true
	}
	n, err := m.composer.Count(g.Concurrency, m.composer.Constants(), 0, limits.MaxConcurrency)
	if err != nil {
		m.failNode(r, compose.EvaluationError(fmt.Sprintf("concurrency of agent %q", g.Name), err))
		return false
	}
	m.agents[g.Name] = slots.NewLimiter[slotRequest](n)
	return true
}
