package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/slots"
)

// startRun makes the run's frame and releases its first nodes. A setting that cannot be evaluated,
// or a requirement that does not hold, ends the run before any node starts.
func (m *Machine) startRun() {
	m.started = m.now
	m.showTransition(event.Transition{To: event.Running, Reason: m.whyRepeated()})
	m.root = m.newFrame(&frame{})
	m.remaining = len(m.graph.Top)
	if len(m.run.Targets) > 0 {
		m.wanted = m.graph.Closure(m.run.Targets)
	}
	if m.run.Skip != "" {
		m.wanted = make([]bool, len(m.graph.Nodes))
	}
	here := m.newScope(ref{m.root, plan.None})
	refused := m.checkWorkflowRequirements(here)
	if err := m.evalSettings(here); err != nil {
		refused = compose.EvaluationError("the workflow's settings", err)
	}
	if len(m.run.ExpectedUS) > 0 {
		m.ordered, m.left = true, m.graph.Left(m.run.ExpectedUS, m.run.ExpectedTimes, m.parallel)
	}
	if refused != nil && m.run.Skip == "" && m.run.Cancelled == "" {
		m.stopPhase(&phaseStop{status: event.FailedS, err: refused, reason: refused.Message})
	}
	if reason := m.run.Cancelled; reason != "" {
		m.abandoned = true // finally does not run
		m.stopPhase(&phaseStop{status: event.Cancelled, limit: true, reason: reason, err: cancelledError(reason)})
	}
	m.agenda.push(task{do: doRelease, ref: ref{m.root, plan.None}})
	if m.remaining == 0 {
		m.agenda.push(task{do: doEnd})
	}
}

// evalSettings evaluates the bounds of the run: its concurrency and its timeout. The concurrency
// has a value even after an error, for nodes that still run at the end.
func (m *Machine) evalSettings(sc *compose.Scope) error {
	w := m.graph.Workflow
	parallel, err := m.composer.Count(w.MaxConcurrency, sc, DefaultConcurrency, MaxConcurrency)
	if err != nil {
		parallel = DefaultConcurrency
	}
	if m.run.Parallel > 0 {
		parallel = min(m.run.Parallel, MaxConcurrency)
	}
	m.parallel = parallel
	m.slots.SetRun(slots.NewLimiter[slotRequest](parallel))
	if err != nil || w.Timeout == nil {
		return err
	}
	timeout, err := m.evalDue(w.Timeout, sc)
	if err == nil {
		m.setTimer(ref{m.root, plan.None}, timeout, event.TimerTimeout)
	}
	return err
}

// checkWorkflowRequirements checks the requirements of the workflow before any node starts.
func (m *Machine) checkWorkflowRequirements(sc *compose.Scope) *event.Error {
	list := m.graph.Workflow.Require
	for i := range list {
		if err := m.checkRequirement(&list[i], sc); err != nil {
			return err
		}
	}
	return nil
}

// startParents starts the groups around r, from the outside in, if they have not started.
func (m *Machine) startParents(r ref) {
	p := m.parent(r)
	if p.node == plan.None || m.state(p).status != event.Pending {
		return
	}
	reason := ""
	if m.isInner(p) {
		reason = m.caseReason(p)
	}
	m.moveNode(p, event.Running, reason)
	if n := m.node(p); n.Timeout != nil && n.Kind != ir.Step && m.isInner(p) && m.reusedEnd(p) == nil {
		due, err := m.evalDue(n.Timeout, m.newScope(p))
		if err != nil {
			m.failAfterChildren(p, compose.EvaluationError("timeout", err))
			return
		}
		m.setTimer(p, due, event.TimerTimeout)
	}
}

// moveNode gives a node a status that is not final, and starts the groups around it.
func (m *Machine) moveNode(r ref, to event.Status, reason string) {
	m.startParents(r)
	s, d := m.state(r), m.liveState(r)
	from := s.status
	assert(!from.Terminal(), "%s leaves %s", d.path, from)
	if d.started == 0 {
		d.started = m.now
	}
	s.status = to
	n := m.node(r)
	m.showTransition(event.Transition{Node: d.path, From: from, To: to, Attempt: d.attempts, Reason: reason, Name: n.Name, Kind: string(n.Kind)})
}

// assert panics on a defect of the machine. The host stops the run, and its journal stays intact.
func assert(holds bool, format string, args ...any) {
	if !holds {
		panic("machine: " + fmt.Sprintf(format, args...))
	}
}

// releaseChild releases the next child of an open group, in file order.
func (m *Machine) releaseChild(t task) {
	below := m.childrenOf(t.ref)
	if t.cursor == len(below) {
		return
	}
	child := ref{t.ref.frame, below[t.cursor]}
	if t.ref.node == plan.None || !m.skipOtherCase(t.ref, child) {
		m.noteDependency(child, released)
	}
	t.cursor++
	m.agenda.push(t)
}

func (m *Machine) childrenOf(r ref) []int {
	if r.node == plan.None {
		if m.phase == closing {
			return m.graph.Finally
		}
		return m.graph.Top
	}
	return m.node(r).Below
}

func (m *Machine) whyUnwanted() string {
	if m.run.Skip != "" {
		return m.run.Skip
	}
	return "it is not needed for the targets"
}

// startNode starts or ends a node whose dependencies have ended: it checks the rule, condition and
// requirements, and then follows the node's kind and, for a step, the action's kind.
func (m *Machine) startNode(r ref) {
	s := m.state(r)
	if s.status != event.Pending || s.queued || s.open {
		return // a cancel or the end of its group ended the node
	}
	if m.isHalted(r) {
		status, reason := m.unstartedEnd(r, m.whyStopped())
		m.finishNode(r, status, reason)
		return
	}
	if m.takeReused(r) || m.reusedEnd(r) == nil && !m.mayStart(r) {
		return
	}
	if !m.isCollector(r) && !m.isIteration(r) && !m.setDeadline(r) {
		return
	}
	n := m.node(r)
	switch {
	case m.isCollector(r):
		m.expandForEach(r)
	case m.isRepeater(r):
		m.openRepeat(r)
	case n.Kind != ir.Step:
		m.openGroup(r)
	default:
		begins[n.Action.Kind()](m, r)
	}
}

// mayStart checks everything that can keep a node from starting: targets, rule, condition,
// requirements, and a reused parent that ended without the node. If the node may not start,
// mayStart ends it and returns false.
func (m *Machine) mayStart(r ref) bool {
	if m.wanted != nil && !m.wanted[r.node] {
		m.finishNode(r, event.Skipped, m.whyUnwanted())
		return false
	}
	if status, reason := m.checkRule(r); status != "" {
		m.finishNode(r, status, reason)
		return false
	}
	if !m.isIteration(r) && (!m.checkWhen(r) || !m.checkRequirements(r)) {
		return false
	}
	if m.missingFromReused(r) {
		m.finishNode(r, event.Cancelled, "it was not needed in run "+m.run.RetryOf)
		return false
	}
	return true
}

// checkWhen evaluates a node's condition, for the whole or for each instance. It ends the node and
// returns false if the condition does not hold.
func (m *Machine) checkWhen(r ref) bool {
	n := m.node(r)
	if n.When == nil || m.isInstance(r) != n.WhenPerInstance {
		return true
	}
	sc := m.newScope(r)
	holds, err := m.composer.Condition(n.When, sc)
	switch {
	case err != nil:
		m.failNode(r, compose.EvaluationError("when", err))
	case !holds:
		m.finishNode(r, event.Skipped, "its condition is false: "+m.composer.ExplainCondition(n.When, sc))
	}
	return err == nil && holds
}

// checkRequirements checks the requirements of a node before it starts. A requirement that reads
// each is checked for every instance.
func (m *Machine) checkRequirements(r ref) bool {
	n := m.node(r)
	for i := range n.Requires {
		q := &n.Requires[i]
		if q.PerInstance != m.isInstance(r) {
			continue
		}
		if err := m.checkRequirement(q.Require, m.newScope(r)); err != nil {
			m.failNode(r, err)
			return false
		}
	}
	return true
}

// checkRequirement checks one requirement; nil means that it holds.
func (m *Machine) checkRequirement(q *ir.Require, sc *compose.Scope) *event.Error {
	holds, err := m.composer.Condition(&q.Condition, sc)
	switch {
	case err != nil:
		return compose.EvaluationError("require", err)
	case holds:
		return nil
	}
	message := ""
	if q.Message != nil {
		if text, err := m.composer.Text(q.Message, sc); err == nil {
			message = text
		}
	}
	if message == "" {
		message = "it requires " + m.composer.ExplainCondition(&q.Condition, sc)
	}
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonRequire, ExitCode: -1, Message: message}
}
