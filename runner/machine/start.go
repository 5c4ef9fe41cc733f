package machine

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
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
	refused := m.checkInputs(here)
	if refused == nil {
		refused = m.checkWorkflowRequirements(here)
	}
	if err := m.evalSettings(here); err != nil {
		refused = compose.EvaluationError("the workflow's settings", err)
	}
	if err := m.setRunBudgets(here); err != nil && refused == nil {
		refused = compose.EvaluationError("budget", err)
	}
	if err := m.setRules(ref{m.root, plan.None}, m.graph.Workflow.Adapt, m.slots.Run()); err != nil && refused == nil {
		refused = err
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
	if m.stopping == nil && m.run.Skip == "" {
		asks, err := m.takeHold(ref{m.root, plan.None}, m.graph.Workflow.Quotas)
		if err != nil {
			m.stopPhase(&phaseStop{status: event.FailedS, err: err, reason: err.Message})
		}
		if asks {
			return
		}
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
	parallel, err := m.composer.Count(w.MaxConcurrency, sc, plan.DefaultConcurrency, limits.MaxConcurrency)
	if err != nil {
		parallel = plan.DefaultConcurrency
	}
	if m.run.Parallel > 0 {
		parallel = min(m.run.Parallel, limits.MaxConcurrency)
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
	if p.node == plan.None || m.state(p).status != event.Pending && !m.hasWaited(p) {
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

// hasWaited reports whether a group has waited for what it holds, and nothing inside has started.
func (m *Machine) hasWaited(p ref) bool {
	s := m.state(p)
	h := m.holdOf(p)
	return s.status == event.Waiting && h != nil && h.held && s.started == 0
}

// moveNode gives a node a status that is not final, and starts the groups around it.
func (m *Machine) moveNode(r ref, to event.Status, reason string) {
	m.startParents(r)
	s, d := m.state(r), m.liveState(r)
	from := s.status
	if from.Terminal() {
		assert(false, "%s leaves %s", d.path, from)
	}
	if d.started == 0 {
		d.started = m.now
	}
	s.status = to
	n := m.node(r)
	m.showTransition(event.Transition{Node: d.path, From: from, To: to, Attempt: d.attempts, Reason: reason, Name: n.Name, Kind: string(n.Kind),
		Item: m.itemName(r), Members: m.membersOf(r)})
}

// assert panics on a defect of the machine. The host stops the run, and its journal stays intact. What every attempt passes asks first,
// and calls assert with false: the arguments take memory.
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
	if m.state(r).personalCancel() != nil {
		m.endEarly(r)
		return
	}
	if m.takeReused(r) || m.reusedEnd(r) == nil && !m.mayStart(r) {
		return
	}
	if !m.setBudget(r) || !m.isCollector(r) && !m.isIteration(r) && !m.setDeadline(r) {
		return
	}
	n := m.node(r)
	if n.Kind != ir.Step && len(n.Quotas) > 0 && !m.isCollector(r) && !m.isIteration(r) && m.reusedEnd(r) == nil {
		asks, err := m.takeHold(r, n.Quotas)
		if err != nil {
			m.failNode(r, err)
		}
		if asks || err != nil {
			return
		}
	}
	m.openNode(r)
}

// openNode begins a node that may start: by its kind and, for a step, by the kind of its action.
func (m *Machine) openNode(r ref) {
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

// dependencyEnd is the end of a dependency of a node, or (node None) the release by its parent.
type dependencyEnd struct {
	node      int
	needs     bool
	status    event.Status
	tolerated bool
}

// released is the release by the parent.
var released = dependencyEnd{node: plan.None}

// triggerState counts the ends of the dependencies of a node with a trigger_rule. For a node
// without a rule, state.bad alone decides.
type triggerState struct {
	released                                   bool
	total                                      int32
	succeeded, failed, skipped, tolerated, bad int32 // failed: any failure; bad: those not tolerated
}

func (c *triggerState) countEnd(e dependencyEnd) {
	switch {
	case e.node == plan.None:
		c.released = true
	case e.status == event.Succeeded:
		c.succeeded++
	case e.status == event.Skipped:
		c.skipped++
	case e.tolerated:
		c.failed++
		c.tolerated++
	default:
		c.failed++
		c.bad++
	}
}

// trigger returns nil for a node without a trigger_rule.
func (s *state) trigger() *triggerState {
	if s.liveState == nil || s.cold == nil {
		return nil
	}
	return s.cold.rule
}

// holdsEarly reports whether a rule holds before all dependencies have ended.
func (c *triggerState) holdsEarly(rule ir.TriggerRule) bool {
	return c.released && (rule == ir.OneSuccess && c.succeeded > 0 || rule == ir.OneFailed && c.failed > 0)
}

// noteDependency records the end of a dependency of r, or the release of r.
func (m *Machine) noteDependency(r ref, e dependencyEnd) {
	s := m.state(r)
	s.waiting--
	early, judged := false, e.needs
	if c := s.trigger(); c != nil {
		judged = true
		c.countEnd(e)
		early = c.holdsEarly(m.node(r).TriggerRule)
	}
	if judged && e.node != plan.None && e.status.Bad() && !e.tolerated && s.bad == 0 {
		s.bad = int32(e.node) + 1
	}
	if (s.waiting == 0 || early) && !s.fired {
		s.fired = true
		m.agenda.push(task{do: doReady, ref: r})
	}
}

// checkRule checks a node's rule when no later end can change the answer. An empty status means
// that the node may start.
func (m *Machine) checkRule(r ref) (status event.Status, reason string) {
	s := m.state(r)
	c, holds := s.trigger(), true
	if c == nil {
		if s.bad != 0 {
			return event.Blocked, m.describeNeed(r, int(s.bad)-1)
		}
		return "", ""
	}
	rule := m.node(r).TriggerRule
	switch rule {
	case ir.NoneFailed, ir.AllSuccess:
		if s.bad != 0 {
			return event.Blocked, m.describeNeed(r, int(s.bad)-1)
		}
		holds = rule == ir.NoneFailed || c.skipped == 0
	case ir.AllFailed:
		holds = c.failed == c.total
	case ir.OneSuccess:
		holds = c.succeeded > 0
	case ir.OneFailed:
		holds = c.failed > 0
	case ir.AllDone, ir.Always:
	default:
		assert(false, "%s has the unknown trigger_rule %q", m.path(r), rule)
	}
	if holds {
		return "", ""
	}
	return event.Skipped, fmt.Sprintf("its rule %s does not hold: of what it waits for %s", rule, c.describeEnds()+m.describeBlockers(r, rule))
}

// maxBlockers limits the number of nodes in the reason for a false rule.
const maxBlockers = 4

// describeBlockers lists the dependencies that keep a rule from holding, in brackets; "" if the
// counts say enough.
func (m *Machine) describeBlockers(r ref, rule ir.TriggerRule) string {
	var names []string
	for _, a := range m.node(r).Awaits {
		s := m.state(m.outerRef(r.frame, a.Node))
		well := rule == ir.NoneFailed && !s.status.Bad() || rule == ir.AllSuccess && s.status == event.Succeeded ||
			rule == ir.AllFailed && s.status.Bad()
		if well {
			continue
		}
		if len(names) == maxBlockers {
			names = append(names, "…")
			break
		}
		names = append(names, fmt.Sprintf("%q %s", m.graph.Nodes[a.Node].Name, s.status))
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

func (c *triggerState) describeEnds() string {
	return joinCounts("nothing is there", namedCount{c.succeeded, "succeeded"}, namedCount{c.failed, "failed"}, namedCount{c.skipped, "skipped"})
}

// describeNeed says how a needed node failed.
func (m *Machine) describeNeed(r ref, needed int) string {
	o := m.state(m.outerRef(r.frame, needed))
	status := o.status
	switch {
	case status.Terminal():
	case o.liveState != nil && o.groupState != nil && o.tally.failed > o.tally.tolerated: // a failed instance stops the others
		status = event.FailedS
	default: // the node is barred too
		status = event.Blocked
	}
	how := statusPhrase(status)
	if c := o.liveState.personalCancel(); c != nil && status == event.Cancelled {
		how = c.Words("")
	}
	return fmt.Sprintf("it needs %q, which %s", m.graph.Nodes[needed].Name, how)
}

// statusPhrase puts an end without success into words.
func statusPhrase(s event.Status) string {
	switch s {
	case event.FailedS:
		return "failed"
	case event.Blocked:
		return "is blocked"
	}
	return "was " + string(s)
}

type namedCount struct {
	n    int32
	word string
}

// joinCounts writes counts down, without those that are 0.
func joinCounts(none string, counts ...namedCount) string {
	var parts []string
	for _, c := range counts {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	if parts == nil {
		return none
	}
	return strings.Join(parts, ", ")
}

// A run that repeats an earlier run knows the ends of nodes there ([event.RunStarted.Reused]). A
// node with a reused end ends in the same way at its turn, without rule, condition, gate or
// attempt. A group or for_each with a reused end opens first, so that expressions can read its
// children; the children end before it. Nodes without a reused end run as in any run.

// takeReused ends a node with its reused end, if the earlier run has one. For a node that holds
// other nodes it only records the end.
func (m *Machine) takeReused(r ref) bool {
	if len(m.run.Reused) == 0 {
		return false
	}
	k := m.run.Reused[m.path(r)]
	if k == nil {
		return false
	}
	c := m.coldState(r)
	c.reused, c.by = k, k.By
	if m.holdsNodes(r) && (!k.Status.Bad() || k.StartedAt != 0) {
		return false // the node had begun
	}
	d := m.liveState(r)
	if d.attempts, d.agent = k.Attempts, k.Agent; k.ExitCode != nil {
		d.exit = *k.ExitCode
	}
	d.streams = streams{stdout: k.Stdout, stderr: k.Stderr, stdoutLog: k.StdoutLog, stderrLog: k.StderrLog}
	d.output = k.Output
	if k.Iterations > 0 && d.groupState != nil {
		d.loop = &repeatState{count: k.Iterations, winner: k.Winner}
	}
	m.endReused(r, k)
	return true
}

// whyRepeated names the run that this run repeats.
func (m *Machine) whyRepeated() string {
	if m.run.RetryOf == "" {
		return ""
	}
	return "it repeats run " + m.run.RetryOf
}

// holdsNodes reports whether a node consists of nodes with results of their own: a group or a
// for_each, but not a repeat.
func (m *Machine) holdsNodes(r ref) bool {
	return m.isCollector(r) || !m.isRepeater(r) && m.node(r).Kind != ir.Step
}

// endReused ends a node with its end in the earlier run, at the earlier times.
func (m *Machine) endReused(r ref, k *event.Reused) {
	d := m.liveState(r)
	d.started, d.finished = k.StartedAt, k.FinishedAt
	if k.Error != nil {
		e := *k.Error
		d.err = &e
	}
	why := "reused from run " + m.run.RetryOf
	if k.Set {
		d.started, d.finished, why = m.now, m.now, "set by "+k.By
	}
	m.finishNode(r, k.Status, why)
}

// reusedEnd returns the node's end in the earlier run; nil if the node runs in this run.
func (m *Machine) reusedEnd(r ref) *event.Reused {
	if d := m.state(r).liveState; d != nil {
		return d.reusedEnd()
	}
	return nil
}

func (d *liveState) reusedEnd() *event.Reused {
	if d.cold == nil {
		return nil
	}
	return d.cold.reused
}

// missingFromReused reports whether the node's parent ended in the earlier run without this node.
func (m *Machine) missingFromReused(r ref) bool {
	if len(m.run.Reused) == 0 || m.reusedEnd(r) != nil {
		return false
	}
	p := m.parent(r)
	return p.node != plan.None && m.reusedEnd(p) != nil
}
