package machine

import (
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
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
	if problem != nil {
		m.fail(r, problem)
		return
	}
	if !again {
		m.finish(r, event.FailedS, "")
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

// again tells whether and after how long a step is tried once more. Attributes merge singly: step over agent over
// workflow over the built-in defaults. What a gate refused is not tried again, for the gate said "fail".
func (m *Machine) again(r ref, err *event.Error) (bool, time.Duration, *event.Error) {
	n, d := m.node(r), m.detail(r)
	if n.Kind != ir.Step || err.Reason == "gate" || (n.Run == nil && n.Agent == nil) {
		return false, 0, nil
	}
	layers := [3]*ir.Retry{n.Retry, nil, m.graph.Workflow.Retry}
	if n.Agent != nil {
		layers[1] = n.Agent.Retry
	}
	var merged ir.Retry
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
	sc := m.scope(r)
	attempts, problem := m.number(merged.MaxAttempts, sc, policy.DefaultMaxAttempts, policy.MaxAttempts)
	if problem != nil {
		return false, 0, evaluation("retry.max_attempts", problem)
	}
	if d.attempts >= attempts {
		return false, 0, nil
	}
	retried := policy.Retried(err.Kind)
	if merged.When != nil {
		holds, problem := m.holds(merged.When, sc)
		retried = holds && problem == nil
	}
	if !retried {
		return false, 0, nil
	}
	b := policy.Backoff{Base: policy.DefaultBaseDelay, Max: policy.DefaultMaxDelay, Multiplier: policy.DefaultMultiplier, Jitter: policy.DefaultJitter}
	if merged.Jitter != "" {
		b.Jitter = policy.Jitter(merged.Jitter)
	}
	if merged.BaseDelay != nil {
		if b.Base, problem = m.duration(merged.BaseDelay, sc); problem != nil {
			return false, 0, evaluation("retry.base_delay", problem)
		}
		b.Max = max(b.Max, b.Base)
	}
	if merged.MaxDelay != nil {
		if b.Max, problem = m.duration(merged.MaxDelay, sc); problem != nil {
			return false, 0, evaluation("retry.max_delay", problem)
		}
	}
	if merged.Multiplier != nil {
		if b.Multiplier, problem = m.factor(merged.Multiplier, sc); problem != nil {
			return false, 0, evaluation("retry.multiplier", problem)
		}
	}
	delay := b.Delay(d.attempts+1, policy.Seed(m.run.Run, d.path, d.attempts+1))
	if err.RetryAfter > 0 {
		delay = max(delay, min(time.Duration(err.RetryAfter*float64(time.Second)), policy.MaxRetryAfter))
	}
	return true, delay, nil
}

func first(a, b *ir.Expr) *ir.Expr {
	if a != nil {
		return a
	}
	return b
}

// fail ends a node as failed without asking for another attempt.
func (m *Machine) fail(r ref, err *event.Error) {
	d := m.detail(r)
	err.Node, err.Attempt = d.path, d.attempts
	d.err = err
	m.finish(r, event.FailedS, "")
}

// finish gives a node its last status, and tells everything that waited for it.
func (m *Machine) finish(r ref, status event.Status, reason string) {
	if status == event.FailedS || status == event.Succeeded {
		m.startParents(r)
	}
	s, d, n := m.state(r), m.detail(r), m.node(r)
	assert(!s.status.Terminal(), "%s ends twice", d.path)
	m.cancelTimer(d)
	from := s.status
	s.status, s.queued = status, false
	if status == event.Succeeded {
		d.err = nil
	} else {
		d.output, d.computed = nil, false
	}
	if status == event.FailedS && m.firstBad == nil {
		m.firstBad = d.err // a run fails of the first thing that went wrong in it, not of what that blocked
	}
	if d.started != 0 {
		d.finished = m.now
	}
	m.show(event.Transition{Node: d.path, From: from, To: status, Attempt: d.attempts, Reason: reason, Result: m.result(r), Name: n.Name, Kind: string(n.Kind)})
	if !s.open && len(n.Below) > 0 && !m.collector(r) {
		m.agenda.push(task{do: doCascade, ref: r, status: status, reason: fmt.Sprintf("%q is %s", n.Name, status)})
	}
	if !m.instance(r) {
		m.tell(r, status)
	}
	m.account(r, status)
}

// tell releases what waits for a node: in its own frame, and in frames further in.
func (m *Machine) tell(r ref, status event.Status) {
	for _, a := range m.node(r).Awaited {
		m.endedFor(ref{r.frame, a.Node}, r.node, a.Needs, status)
	}
	d := m.detail(r)
	for _, w := range d.waiters {
		m.endedFor(w.ref, r.node, w.needs, status)
	}
	d.waiters = nil
}

func (m *Machine) endedFor(r ref, node int, needs bool, status event.Status) {
	if !needs {
		status = event.Succeeded // only the end counts
	}
	m.ended1(r, node, status)
}

// account counts an end with whatever the node lies in.
func (m *Machine) account(r ref, status event.Status) {
	p := m.parent(r)
	d := m.detail(r)
	if p.node == plan.None {
		if status.Bad() {
			m.lost = append(m.lost, d.path)
		}
		if m.remaining--; m.remaining == 0 {
			m.agenda.push(task{do: doEnd})
		}
		return
	}
	ps := m.state(p)
	if ps.status.Terminal() || !ps.open {
		return
	}
	ps.tally.count(status, d.path)
	if ps.remaining--; ps.remaining == 0 {
		m.agenda.push(task{do: doCollect, ref: p})
	}
}

func (t *tally) count(s event.Status, path string) {
	switch s {
	case event.Succeeded:
		t.succeeded++
	case event.FailedS:
		t.failed++
	case event.Skipped:
		t.skipped++
	case event.Blocked:
		t.blocked++
	case event.Cancelled:
		t.cancelled++
	}
	if s.Bad() && t.firstBad == "" {
		t.firstBad = path
	}
}

func (t *tally) words() string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{t.failed, "failed"}, {t.blocked, "blocked"}, {t.cancelled, "cancelled"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	return strings.Join(parts, ", ")
}

// collect ends a group or a for_each whose last child has ended: by what ended it early, by the worst of its children,
// or with their outputs.
func (m *Machine) collect(r ref) {
	s := m.state(r)
	if s.status.Terminal() {
		return
	}
	d, t := s.detail, s.tally
	switch {
	case d.doom != nil:
		m.fail(r, d.doom)
		return
	case t.failed > 0:
		m.fail(r, &event.Error{Kind: event.Recoverable, Reason: "child", ExitCode: -1, Message: t.words() + "; first " + t.firstBad})
		return
	case t.cancelled > 0:
		m.finish(r, event.Cancelled, t.words()+"; first "+t.firstBad)
		return
	case t.blocked > 0:
		m.finish(r, event.Blocked, t.words()+"; first "+t.firstBad)
		return
	}
	d.output, d.computed = m.gather(r), false
	m.deliver(r)
}

// gather makes the output of a group or a for_each: by child name, by index, or by key; null where there is none.
func (m *Machine) gather(r ref) value.Value {
	n, d := m.node(r), m.detail(r)
	if n.ForEach == nil || m.instance(r) {
		out := make(map[string]any, len(n.Below))
		for _, child := range n.Below {
			out[m.graph.Nodes[child].Name] = m.outputOf(ref{r.frame, child})
		}
		return out
	}
	if !d.keyed {
		out := make([]any, len(d.frames))
		for i, f := range d.frames {
			out[i] = m.outputOf(ref{f, r.node})
		}
		return out
	}
	out := make(map[string]any, len(d.frames))
	for _, f := range d.frames {
		out[f.key] = m.outputOf(ref{f, r.node})
	}
	return out
}

func (m *Machine) outputOf(r ref) value.Value {
	if s := m.state(r); s.status == event.Succeeded {
		return s.output
	}
	return nil
}

// cascade ends the children of a group that ended before they were let go.
func (m *Machine) cascade(t task) {
	below := m.below(t.ref)
	if t.cursor == len(below) {
		return
	}
	if child := (ref{t.ref.frame, below[t.cursor]}); !m.state(child).status.Terminal() {
		status := t.status
		if status == event.FailedS {
			status = event.Blocked
		}
		m.finish(child, status, t.reason)
	}
	t.cursor++
	m.agenda.push(t)
}

// end gives the run its verdict once nothing is left to do.
func (m *Machine) end(t task) {
	if m.ended {
		return
	}
	if !m.agenda.empty() {
		m.agenda.push(t)
		return
	}
	e := &event.End{Status: event.Succeeded}
	switch {
	case m.stopping != nil:
		e.Status, e.Error, e.Limit = m.stopping.status, m.stopping.err, m.stopping.limit
	case len(m.lost) > 0:
		e.Status, e.Error = event.FailedS, m.firstBad
	}
	m.outputs(e)
	m.ended = true
	if m.runTimer != 0 {
		m.command(event.Command{CancelTimer: &event.CancelTimer{Timer: m.runTimer}})
	}
	m.show(event.Transition{From: event.Running, To: e.Status, Result: &event.Result{ExitCode: -1, Error: e.Error, StartedAt: m.started, FinishedAt: m.now}})
	m.command(event.Command{End: e})
}

// outputs computes the workflow's outputs. In a run that failed those that cannot be computed are null; in one that did
// not, the first of them is what it fails of.
func (m *Machine) outputs(e *event.End) {
	list := m.graph.Workflow.Outputs
	if len(list) == 0 {
		return
	}
	e.Outputs = make(map[string]value.Value, len(list))
	sc := m.scope(ref{m.root, plan.None})
	sc.verdict, sc.err = e.Status, e.Error
	for i := range list {
		v, err := m.eval.Eval(&list[i].Expr, sc)
		if err != nil {
			v = nil
			if e.Status == event.Succeeded {
				e.Status, e.Error = event.FailedS, evaluation(fmt.Sprintf("output %q", list[i].Name), err)
			}
		}
		e.Outputs[list[i].Name] = v
	}
}
