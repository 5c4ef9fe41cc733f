package machine

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// Rules of adapt change how many attempts of the run or of a group may be live at once, and start
// workflows. They are asked when an attempt has ended, before its slot is given away, when figures of
// the machine come, at the marks of a deadline, and at the cooldowns of rules that are on. The last
// rule that is on gives the number.

// Bounds of the figures that rules read.
const (
	// MaxRecent is over how many ended attempts the rates are computed.
	MaxRecent = 50
	// LeastRecent is the number of ended attempts below which the rates are null.
	LeastRecent = 10
	// DefaultCooldown is the cooldown of a rule that sets none, and LeastCooldown the shortest one. Without it a rule could be asked
	// without end at one moment.
	DefaultCooldown = 5 * time.Minute
	LeastCooldown   = time.Second
)

// adaptations is what a run knows of its rules.
type adaptations struct {
	adapting  []*adaptation // of the run and its open groups
	asksRules bool          // doAdapt is in the agenda
	waiting   int           // nodes that wait for slots
	ended     int           // attempts of steps that ended, but for those that were cancelled
	failed    int           // of these
	recent    []endedAttempt
	figures   map[string]value.Value // of the machine: cpu, memory
	ruleRuns  int                    // how many workflows rules have started
}

// endedAttempt is what the rates need of an attempt.
type endedAttempt struct{ failed, retry bool }

// adaptation is the rules of the run or of a group.
type adaptation struct {
	ref      // node None: the run
	limit    *slotLimiter
	declared int
	inForce  int
	most     int // no rule goes beyond it
	rules    []*adaptRule
	why      string // the last rule that was on has ended
}

// adaptRule is the state of one rule.
type adaptRule struct {
	*ir.Adapt
	number   int // from 1
	holdFor  time.Duration
	cooldown time.Duration
	since    event.Time // the condition holds since then, and the rule is not on yet; 0: it does not hold
	on       bool
	why      string     // it is on
	most     int        // max_concurrency as it was computed last; 0: there is none
	next     event.Time // when it is computed again
	starts   bool       // the workflow is to start
	last     event.Time // when it started last; 0: never
	child    *attempt   // its run, while it is live
	timer    uint64
	warned   []string
	told     bool // people were told last that the rule is on
	edges    int  // how often people were told
}

// setRules lets the rules of the run or of a group be asked from now on.
func (m *Machine) setRules(r ref, list []ir.Adapt, limit *slotLimiter) *event.Error {
	if len(list) == 0 || r.node != plan.None && m.reusedEnd(r) != nil {
		return nil
	}
	a := &adaptation{ref: r, limit: limit, declared: limit.Capacity(), inForce: limit.Capacity(), most: limits.MaxConcurrency}
	if r.node == plan.None && m.run.Parallel > 0 {
		a.most = a.declared
	}
	sc := m.newScope(r)
	for i := range list {
		rule := &adaptRule{Adapt: &list[i], number: i + 1, cooldown: DefaultCooldown}
		for _, d := range []struct {
			what string
			from *ir.Expr
			to   *time.Duration
		}{{"adapt.for", rule.For, &rule.holdFor}, {"adapt.cooldown", rule.Cooldown, &rule.cooldown}} {
			if d.from == nil {
				continue
			}
			var err error
			if *d.to, err = m.composer.Duration(d.from, sc); err != nil {
				return compose.EvaluationError(d.what, err)
			}
		}
		rule.cooldown = max(rule.cooldown, LeastCooldown)
		a.rules = append(a.rules, rule)
	}
	m.adapting = append(m.adapting, a)
	return nil
}

// endRules forgets the rules of a group that has ended. The workflows that they have started go on.
func (m *Machine) endRules(r ref) {
	m.adapting = slices.DeleteFunc(m.adapting, func(a *adaptation) bool {
		if a.ref != r {
			return false
		}
		m.cancelRuleTimers(a)
		return true
	})
}

// endAllRules forgets all rules, after the nodes of the workflow.
func (m *Machine) endAllRules() {
	for _, a := range m.adapting {
		m.cancelRuleTimers(a)
	}
	m.adapting = nil
}

func (m *Machine) cancelRuleTimers(a *adaptation) {
	for _, r := range a.rules {
		m.cancelTimer(&r.timer)
	}
}

// askRulesSoon has the rules asked after the effects of this event, and before free slots are given
// away.
func (m *Machine) askRulesSoon() {
	if len(m.adapting) > 0 && !m.asksRules {
		m.asksRules = true
		m.agenda.push(task{do: doAdapt})
	}
}

// setQueued notes whether a node waits for slots.
func (m *Machine) setQueued(s *state, queued bool) {
	switch {
	case queued && !s.queued:
		m.waiting++
	case !queued && s.queued:
		m.waiting--
	}
	s.queued = queued
}

// countEnd counts the end of an attempt for the figures of the rules, and has the rules asked. waits
// tells that the attempt counts as none.
func (m *Machine) countEnd(a *attempt, f *event.AttemptFinished, waits bool) {
	if !m.adapts {
		return
	}
	if a.gate == work && !a.cancelled && !waits {
		e := endedAttempt{failed: f.Outcome != event.OK, retry: m.liveState(a.ref).attempts > 1}
		if m.ended++; e.failed {
			m.failed++
		}
		if len(m.recent) < MaxRecent {
			m.recent = append(m.recent, e)
		} else {
			m.recent[(m.ended-1)%MaxRecent] = e
		}
	}
	m.askRulesSoon()
}

// ReadsMachine reports whether rules of the run read figures of the machine.
func (m *Machine) ReadsMachine() bool { return m.adapts && m.graph.ReadsMachine() }

// takeFigures notes figures of the machine. A figure that the message does not have is as it was.
func (m *Machine) takeFigures(x *event.External) {
	o, _ := x.Data.(map[string]any)
	if m.figures == nil {
		m.figures = map[string]value.Value{}
	}
	for _, name := range []string{"cpu", "memory"} {
		if v, there := o[name]; there {
			m.figures[name] = v
		}
	}
	m.askRulesSoon()
}

// metricNames are the figures that rules read.
var metricNames = []string{"attempts", "failed", "error_rate", "retry_rate", "running", "queued", "limit", "elapsed", "remaining", "cost_usd",
	"tokens", "cpu", "memory"}

// readMetric returns a figure for the rules of a group or the run; "" is all of them.
func (m *Machine) readMetric(a *adaptation, name string) value.Value {
	switch name {
	case "":
		o := map[string]any{}
		for _, name := range metricNames {
			o[name] = m.readMetric(a, name)
		}
		return o
	case "attempts":
		return float64(m.ended)
	case "failed":
		return float64(m.failed)
	case "error_rate":
		return m.recentRate(func(e endedAttempt) bool { return e.failed })
	case "retry_rate":
		return m.recentRate(func(e endedAttempt) bool { return e.retry })
	case "running":
		return float64(m.slots.Run().Used())
	case "queued":
		return float64(m.waiting)
	case "limit":
		return float64(m.shownLimit(a, a.inForce))
	case "elapsed":
		return m.now.Sub(m.started).Seconds()
	case "remaining":
		return m.remainingTime(a.ref)
	case "cost_usd":
		return m.usage.CostUSD
	case "tokens":
		return float64(m.usage.InputTokens + m.usage.OutputTokens + m.usage.OtherTokens)
	}
	return m.figures[name]
}

// recentRate is the share of the attempts that ended last; nil below LeastRecent.
func (m *Machine) recentRate(is func(endedAttempt) bool) value.Value {
	if len(m.recent) < LeastRecent {
		return nil
	}
	n := 0
	for _, e := range m.recent {
		if is(e) {
			n++
		}
	}
	return float64(n) / float64(len(m.recent))
}

// remainingTime is the number of seconds to the nearest timeout or deadline around the rules; nil
// without one.
func (m *Machine) remainingTime(r ref) value.Value {
	var nearest event.Time
	look := func(number uint64) {
		if t, ok := m.timers[number]; ok && (t.purpose == event.TimerTimeout || t.purpose == event.TimerDeadline || t.purpose == event.TimerFinally) && (nearest == 0 || t.due < nearest) {
			nearest = t.due
		}
	}
	look(m.runTimer)
	for ; r.node != plan.None; r = m.parent(r) {
		d := m.liveState(r)
		if look(d.timer); d.cold != nil && d.cold.deadline != nil {
			look(d.cold.deadline.timer)
		}
	}
	if nearest == 0 {
		return nil
	}
	return max(0, nearest.Sub(m.now).Seconds())
}

// shownLimit is how many attempts a number lets through: the bound of the run, where a group has none.
func (m *Machine) shownLimit(a *adaptation, n int) int {
	if n == a.declared && a.node != plan.None && m.node(a.ref).MaxConcurrency == nil {
		return m.slots.Run().Capacity()
	}
	return n
}

// askAdaptRules asks all rules, and carries out what has changed.
func (m *Machine) askAdaptRules() {
	m.asksRules = false
	if m.stopping != nil || m.remaining == 0 {
		return
	}
	for _, a := range slices.Clone(m.adapting) {
		sc := m.newScope(a.ref)
		sc.Mode, sc.More = compose.InRule, compose.Metrics(func(name string) value.Value { return m.readMetric(a, name) })
		for _, r := range a.rules {
			m.askRule(a, r, sc)
		}
		m.applyLimit(a)
		m.tellRules(a)
		for _, r := range a.rules {
			m.startForRule(a, r, sc)
			m.setRuleTimer(a, r)
		}
	}
}

// askRule decides whether a rule is on.
func (m *Machine) askRule(a *adaptation, r *adaptRule, sc *compose.Scope) {
	holds := m.ruleHolds(a, r, "when", &r.When, sc)
	ends, end := !holds, &r.When
	if r.Until != nil {
		ends, end = m.ruleHolds(a, r, "until", r.Until, sc), r.Until
	}
	switch {
	case r.on && ends:
		a.why = m.composer.ExplainCondition(end, sc)
		if r.Until == nil {
			no := "not any more: "
			if m.behaviour[ir.PlainReasons] {
				no = "no longer true: "
			}
			a.why = no + a.why
		}
		r.on, r.since, r.most, r.starts = false, 0, 0, false
	case r.on && m.now >= r.next:
		r.next = m.now.Add(r.cooldown)
		if holds {
			m.computeLimit(a, r, sc)
		}
	case r.on:
	case !holds || ends:
		r.since = 0
	default:
		if r.since == 0 {
			r.since = m.now
		}
		if m.now.Sub(r.since) >= r.holdFor {
			r.on, r.next, r.starts = true, m.now.Add(r.cooldown), r.Call != nil
			m.computeLimit(a, r, sc)
		}
	}
}

// ruleHolds evaluates a condition of a rule. One that reads a figure that is null does not hold.
func (m *Machine) ruleHolds(a *adaptation, r *adaptRule, what string, e *ir.Expr, sc *compose.Scope) bool {
	holds, err := m.composer.Condition(e, sc)
	if err == nil {
		return holds
	}
	unknown := func(ref ir.Ref) bool {
		return ref.Root == "metrics" && ref.Name != "" && m.readMetric(a, ref.Name) == nil
	}
	if !slices.ContainsFunc(e.Reads, unknown) {
		m.warnOfRule(a, r, fmt.Sprintf("adapt.%s cannot be computed, so it does not hold: %v", what, err))
	}
	return false
}

// computeLimit computes the number of a rule that is on. A number that cannot be computed stays as it was.
func (m *Machine) computeLimit(a *adaptation, r *adaptRule, sc *compose.Scope) {
	r.why = m.composer.ExplainCondition(&r.When, sc)
	if r.MaxConcurrency == nil {
		return
	}
	v, err := m.composer.Value(r.MaxConcurrency, sc)
	f, ok := v.(float64)
	switch {
	case err != nil:
		m.warnOfRule(a, r, fmt.Sprintf("adapt.max_concurrency cannot be computed, and stays as it is: %v", err))
	case !ok || math.IsNaN(f):
		m.warnOfRule(a, r, fmt.Sprintf("adapt.max_concurrency stays as it is: a number is needed, but this is %.60s", value.Text(v)))
	default:
		r.most = int(max(1, min(math.Floor(f), float64(a.most))))
	}
}

// applyLimit puts the number of the last rule that is on into force, or the declared one.
func (m *Machine) applyLimit(a *adaptation) {
	change := event.Change{What: event.ChangeConcurrency, Why: a.why}
	number := a.declared
	for _, r := range a.rules {
		if r.on && r.most > 0 {
			number, change.Rule, change.Why = r.most, r.number, r.why
		}
	}
	if number == a.inForce {
		return
	}
	from := m.shownLimit(a, a.inForce)
	a.inForce = number
	m.slots.Resize(a.limit, number)
	to := m.shownLimit(a, number)
	change.From, change.To = float64(from), float64(to)
	again := ""
	if change.Rule == 0 {
		again = " again"
	}
	m.showChange(a, &change, fmt.Sprintf("max_concurrency is %d%s, after %d: %s", to, again, from, change.Why))
}

// tellRules tells people of rules that have come on or have ended.
func (m *Machine) tellRules(a *adaptation) {
	for _, r := range a.rules {
		if r.on == r.told || len(r.Notify) == 0 {
			continue
		}
		r.told = r.on
		r.edges++
		what, why := "is on", r.why
		if !r.on {
			what, why = "has ended", a.why
		}
		limit := m.shownLimit(a, a.inForce)
		m.sendNumbered(a.ref, r.Notify, fmt.Sprintf("rule %d %s", r.number, what), r.edges, event.Message{Kind: event.MessageAdapt, Level: "info",
			Text: fmt.Sprintf("Rule %d of adapt %s, and max_concurrency is %d: %s", r.number, what, limit, why),
			Data: map[string]any{"rule": float64(r.number), "on": r.on, "why": why, "max_concurrency": float64(limit)}})
	}
}

// startForRule starts the workflow of a rule that has come on, unless the last one still runs or its
// cooldown has not passed. A start that has to wait is made if the rule is on then.
func (m *Machine) startForRule(a *adaptation, r *adaptRule, sc *compose.Scope) {
	if !r.starts || r.child != nil || r.last != 0 && m.now < r.last.Add(r.cooldown) {
		return
	}
	err, full := m.spentAround(a.ref, m.mostOf(r.Call.Workflow), true)
	if full != nil { // the end of an attempt tells whether there is room
		return
	}
	r.starts, r.last = false, m.now
	if err != nil {
		m.warnOfRule(a, r, fmt.Sprintf("workflow %q is not started: %s", r.Call.Workflow, err.Message))
		return
	}
	inputs, late, bad := m.composer.ChildInputs(r.Call, sc)
	if bad != nil {
		m.warnOfRule(a, r, fmt.Sprintf("workflow %q is not started: with: %v", r.Call.Workflow, bad))
		return
	}
	node := "adapt:" + r.Call.Workflow // no node has such a name
	if a.node != plan.None {
		node = m.path(a.ref) + "/" + node
	}
	m.ruleRuns++
	c := &event.StartChild{Run: m.composer.ChildID(node, m.ruleRuns), Node: node, Workflow: r.Call.Workflow, Inputs: inputs, Late: late,
		Held: m.heldAround(a.ref)}
	r.child = &attempt{ref: a.ref, gate: work, since: m.now, child: c, rule: r}
	m.lend(r.child)
	m.live.add(r.child)
	m.detached++
	m.addCommand(event.Command{StartChild: c})
	m.showChange(a, &event.Change{Rule: r.number, What: event.ChangeWorkflow, To: r.Call.Workflow, Run: c.Run, Why: r.why},
		fmt.Sprintf("run %s of workflow %q starts: %s", c.Run, c.Workflow, r.why))
}

// ruleEnded records the end of a run that a rule has started.
func (m *Machine) ruleEnded(c *attempt, f *event.ChildFinished) {
	c.rule.child = nil
	m.settleChild(c, f)
	if f.Status != event.Succeeded && !c.cancelled {
		m.warnOfRule(&adaptation{ref: c.ref}, c.rule, childError(c.child, f).Message)
	}
	m.detached--
	m.endEmptyPhase()
	m.askRulesSoon()
}

// cancelRules cancels the runs that rules have started. A third cancel waits for none of them.
func (m *Machine) cancelRules() {
	for _, c := range m.live.snapshot() {
		switch {
		case c.rule == nil:
		case m.abandoned && m.cancels > 2:
			m.live.remove(c)
			m.detached--
			m.endEmptyPhase()
		default:
			m.askToEnd(c, m.whyStopped())
		}
	}
}

// setRuleTimer sets the timer of the next moment at which a rule is asked whatever happens. While
// nothing runs and nothing waits for a slot, the cooldown of a number needs none: the next end of an
// attempt asks.
func (m *Machine) setRuleTimer(a *adaptation, r *adaptRule) {
	var due event.Time
	sooner := func(t event.Time) {
		if due == 0 || t < due {
			due = t
		}
	}
	if !r.on && r.since != 0 {
		sooner(r.since.Add(r.holdFor))
	}
	if r.on && (m.live.first != nil || m.waiting > 0) {
		sooner(r.next)
	}
	if due := r.last.Add(r.cooldown); r.starts && r.child == nil && due > m.now {
		sooner(due)
	}
	if t, set := m.timers[r.timer]; set && t.due == due {
		return
	}
	m.cancelTimer(&r.timer)
	if due != 0 {
		r.timer = m.newTimer(a.ref, due, event.TimerAdapt)
	}
}

// ruleTimerFired has the rules asked at the moment that one of them has named.
func (m *Machine) ruleTimerFired(number uint64) {
	for _, a := range m.adapting {
		for _, r := range a.rules {
			if r.timer == number {
				r.timer = 0
			}
		}
	}
	m.askRulesSoon()
}

// warnOfRule shows a warning of a rule, once.
func (m *Machine) warnOfRule(a *adaptation, r *adaptRule, words string) {
	words = fmt.Sprintf("rule %d of adapt: %s", r.number, words)
	if len(r.warned) == maxRuleWarnings || slices.Contains(r.warned, words) {
		return
	}
	r.warned = append(r.warned, words)
	if a.node == plan.None {
		m.showTransition(event.Transition{From: event.Running, To: event.Running, Note: event.Warned, Reason: words})
		return
	}
	m.showNote(a.ref, event.Warned, words, nil)
}

// maxRuleWarnings bounds the warnings of one rule.
const maxRuleWarnings = 8

// showChange shows what a rule has changed.
func (m *Machine) showChange(a *adaptation, c *event.Change, words string) {
	t := event.Transition{From: event.Running, To: event.Running, Note: event.Adapted, Reason: words, Result: c.Result()}
	if a.node != plan.None {
		n, s, d := m.node(a.ref), m.state(a.ref), m.liveState(a.ref)
		t.Node, t.From, t.To, t.Attempt, t.Name, t.Kind = d.path, s.status, s.status, d.attempts, n.Name, string(n.Kind)
	}
	m.showTransition(t)
}
