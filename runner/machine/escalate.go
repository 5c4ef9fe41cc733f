package machine

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// classifyError gives the error of a failed attempt the kind that the rules of the file say, once: the
// first that holds of those of the node, of its agent, of the groups around it from the inside out, and
// of the workflow. The rules of a group read what is around the group.
func (m *Machine) classifyError(r ref, err *event.Error) {
	of := m.failureOf(r, err)
	for at, rules := range m.classifyRules(r) {
		if m.classifyBy(r, at, rules, of) {
			return
		}
	}
}

// classifyRules are the rules for errors of a node in the order in which they are asked, each with the place where they stand.
func (m *Machine) classifyRules(r ref) iter.Seq2[ref, []ir.Classify] {
	return func(yield func(ref, []ir.Classify) bool) {
		top := ref{m.root, plan.None}
		if !yield(r, m.node(r).Classify) {
			return
		}
		if g := m.agentOf(r); g != nil && !yield(top, g.Classify) {
			return
		}
		for p, last := m.parent(r), r.node; p.node != plan.None; p = m.parent(p) {
			if p.node == last { // the for_each or the repeat of a node that was asked
				continue
			}
			if last = p.node; !yield(p, m.node(p).Classify) {
				return
			}
		}
		yield(top, m.graph.Workflow.Classify)
	}
}

// sendClassify lets the rules for errors of a node go with its attempt, if a breaker counts the attempt: the host counts its end before
// the machine hears of it.
func (m *Machine) sendClassify(r ref, a *event.Admission) {
	if a == nil || !m.behaviour[ir.ClassifyFirst] || !slices.ContainsFunc(a.Needs, func(n event.Need) bool { return n.Breaker != nil }) {
		return
	}
	for at, rules := range m.classifyRules(r) {
		if len(rules) > 0 {
			sc := m.newScope(at)
			sc.Failure = &compose.Failure{Error: &event.Error{}, Healed: m.healedAround(r)}
			a.Classify = m.composer.Classify(a.Classify, rules, sc)
		}
	}
	if a.Classify != nil {
		a.Since = m.liveState(r).started
	}
}

// classifyBy asks rules that stand at a node. A rule that cannot be evaluated does not hold, and the run
// warns.
func (m *Machine) classifyBy(r, at ref, rules []ir.Classify, of *compose.Failure) bool {
	for i := range rules {
		holds, wrong := m.holdsFor(at, &rules[i].When, of)
		if wrong != nil {
			m.showNote(r, event.Warned, fmt.Sprintf("classify.when: %v", wrong), nil)
		}
		if holds {
			of.Error.Kind = rules[i].Kind
			return true
		}
	}
	return false
}

// failureOf describes a failed attempt for the rules that are asked about it.
func (m *Machine) failureOf(r ref, err *event.Error) *compose.Failure {
	d := m.liveState(r)
	err.Node, err.Attempt = d.path, d.attempts
	f := &compose.Failure{Error: err, Attempt: d.attempts, Healed: m.healedAround(r), Streams: func() (stdout, stderr string, exit int) {
		s := m.wholeStreams(d.streams)
		return s.stdout, s.stderr, d.exit
	}}
	if m.node(r).Kind != ir.Step && d.cold != nil && d.cold.escalation != nil { // a failure of a group is one attempt
		f.Attempt = d.cold.escalation.failures
		err.Attempt = f.Attempt
	}
	if d.started != 0 {
		f.Elapsed = max(0, m.now.Sub(d.started))
	}
	return f
}

// holdsFor evaluates a condition over a failed attempt; at is the node where the condition stands.
func (m *Machine) holdsFor(at ref, when *ir.Expr, of *compose.Failure) (bool, error) {
	sc := m.newScope(at)
	sc.Failure = of
	return m.composer.Condition(when, sc)
}

// An escalation is asked after each failed attempt of its node, before retry: the first of its rules that
// holds sends the node to a level. What retries and fallback agents did not settle goes to the level of the
// rule without a condition, or to the first level if there are no rules. A level that does not settle it
// leads to the next; behind the last one the node has failed. A level is entered at most once for each
// instance and iteration, so an escalation always ends.

// healing as a gate number is the run of the workflow of a level.
const healing = -3

// maxHistory is how many failures the next agent is told.
const maxHistory = 20

// escalation is how far the escalation of a node has come.
type escalation struct {
	of       *plan.Escalation
	entered  []bool
	at       int            // the level whose turn it is; -1: none
	highest  int            // the highest level so far; -1: none
	failures int            // of a group
	history  []string       // the last of them, in words
	healed   value.Value    // the outputs of the last run that healed
	to       *plan.Assignee // who took the task over; nil: nobody did
	failed   *ir.Agent      // who had the task before, if a pool took it over
}

// escalationOf returns the escalation of a step, or of all iterations of a group; nil if it has none.
func (m *Machine) escalationOf(r ref) *escalation {
	n := m.node(r)
	if n.Escalation == nil || n.Kind == ir.Step && !m.isInner(r) || n.Kind != ir.Step && !m.isRepeater(r) {
		return nil
	}
	x := m.coldState(r)
	if x.escalation == nil {
		x.escalation = &escalation{of: n.Escalation, entered: make([]bool, len(n.Escalation.Levels)), at: -1, highest: -1}
	}
	return x.escalation
}

// escalated names the highest level that a node has come to, also in the run that this run repeats.
func (d *liveState) escalated() string {
	if d.cold == nil {
		return ""
	}
	if k := d.cold.reused; k != nil {
		return k.Escalated
	}
	if e := d.cold.escalation; e != nil && e.highest >= 0 {
		return e.of.Levels[e.highest].Name
	}
	return ""
}

// healedAround returns what healed the node, or else the nearest group around it.
func (m *Machine) healedAround(r ref) value.Value {
	for ; r.node != plan.None; r = m.parent(r) {
		if d := m.state(r).liveState; d != nil && d.cold != nil && d.cold.escalation != nil && d.cold.escalation.healed != nil {
			return d.cold.escalation.healed
		}
	}
	return nil
}

// levelScope is the scope of the expressions of an escalation: what failed last, and nothing of the run's
// nodes.
func (m *Machine) levelScope(r ref) *compose.Scope {
	d := m.liveState(r)
	sc := m.newScope(ref{m.root, plan.None})
	sc.Failure = m.failureOf(r, d.err)
	sc.Failure.Healed = d.cold.escalation.healed
	return sc
}

// failWork fails a node whose work has begun, but for what its escalation can do about it.
func (m *Machine) failWork(r ref, err *event.Error) {
	e := m.escalationOf(r)
	if e == nil || m.isHalted(r) {
		m.failNode(r, err)
		return
	}
	d := m.liveState(r)
	if m.node(r).Kind != ir.Step {
		e.failures++
	}
	m.classifyError(r, err)
	if d.err = err; m.node(r).Kind == ir.Step {
		err.Node, err.Attempt = d.path, d.attempts
	}
	if !m.escalate(r) {
		m.giveUp(r, "")
	}
}

// escalate asks the rules about the last failure of a node. It reports false if the node goes on as one
// without an escalation.
func (m *Machine) escalate(r ref) bool {
	e := m.escalationOf(r)
	if e == nil {
		return false
	}
	m.noteFailure(r, e)
	if from, why := m.askRules(r, e); from >= 0 {
		m.enterFrom(r, e, from, why, "")
		return true
	}
	x := m.liveState(r).cold
	if e.at >= 0 && e.of.Levels[e.at].Heal != nil || x.escalates && x.rejected == m.liveState(r).err {
		m.giveUp(r, "")
		return true
	}
	return false
}

// noteFailure remembers a failure for whoever takes the task over.
func (m *Machine) noteFailure(r ref, e *escalation) {
	d, who := m.liveState(r), ""
	if d.agent != "" {
		who = fmt.Sprintf(" of agent %q", d.agent)
	}
	if len(e.history) == maxHistory {
		e.history = e.history[1:]
	}
	e.history = append(e.history, event.Bound(fmt.Sprintf("attempt %d%s failed (%s, %s): %s", d.attempts, who, d.err.Kind, d.err.Reason,
		strings.ReplaceAll(m.failureText(r), "\n", "\n  ")), maxSaid))
}

// What of the output of a program is told with its failure.
const (
	maxQuotedLines = 5
	maxQuoted      = 400 // bytes
)

// failureText is the message of the error of a node, and below it the last lines that its program wrote. An agent that speaks a protocol on standard
// output gives messages of its own.
func (m *Machine) failureText(r ref) string {
	d := m.liveState(r)
	if !m.behaviour[ir.FailuresQuoteOutput] || !slices.Contains([]event.Reason{event.ReasonExit, event.ReasonSignal, event.ReasonTimeout}, d.err.Reason) {
		return d.err.Message
	}
	s := m.wholeStreams(d.streams)
	quoted := lastLines(s.stderr)
	if _, is := m.node(r).Action.(*ir.Run); is && quoted == "" {
		quoted = lastLines(s.stdout)
	}
	return strings.TrimSuffix(d.err.Message+"\n"+quoted, "\n")
}

// lastLines returns the last lines of a text that are not blank, without half a character.
func lastLines(text string) string {
	text = strings.TrimSpace(text)
	for n, at := 0, len(text); at >= 0; n++ {
		if at = strings.LastIndexByte(text[:at], '\n'); n == maxQuotedLines-1 {
			text = text[at+1:]
			break
		}
	}
	for at := max(0, len(text)-maxQuoted); at < len(text); at++ {
		if utf8.RuneStart(text[at]) {
			return text[at:]
		}
	}
	return ""
}

// askRules asks the rules with a condition, in order. It returns the level from which the node goes on, and
// why; -1 if none of them decides. A level that only informs is entered, and the next rules are asked. A
// level that was entered before has not settled it, so the next one follows; but whoever has taken the task
// over, or was told to retry it, keeps it while the retries last.
func (m *Machine) askRules(r ref, e *escalation) (from int, why string) {
	of := m.levelScope(r).Failure
	for i := range e.of.Rules {
		rule := &e.of.Rules[i]
		if rule.When == nil {
			continue
		}
		holds, wrong := m.holdsFor(ref{m.root, plan.None}, rule.When, of)
		if wrong != nil {
			m.showNote(r, event.Warned, fmt.Sprintf("rule %d of escalation %q: %v", i+1, e.of.Name, wrong), nil)
		}
		if !holds {
			continue
		}
		level := e.of.Level(rule.Level)
		why = "its rule holds: " + rule.When.Text
		switch {
		case !e.of.Levels[level].Acts():
			if !e.entered[level] {
				m.enterLevel(r, e, level, why)
			}
		case !e.entered[level]:
			return level, why
		case e.at >= 0 && e.of.Levels[e.at].Heal == nil:
			return -1, ""
		default:
			return level + 1, unsettled(e, level)
		}
	}
	return -1, ""
}

func unsettled(e *escalation, level int) string {
	return fmt.Sprintf("level %q did not settle it", e.of.Levels[level].Name)
}

// giveUp handles a failure that the retries and the fallback agents did not settle, or a turn of a level that
// did not.
func (m *Machine) giveUp(r ref, problem string) {
	e := m.escalationOf(r)
	switch {
	case e == nil:
	case e.at >= 0:
		m.enterFrom(r, e, e.at+1, unsettled(e, e.at), problem)
		return
	case len(e.of.Rules) == 0:
		m.enterFrom(r, e, 0, "its attempts have failed", problem)
		return
	default:
		for i := range e.of.Rules {
			if e.of.Rules[i].When != nil {
				continue
			}
			level := e.of.Level(e.of.Rules[i].Level)
			if e.of.Levels[level].Acts() {
				m.enterFrom(r, e, level, "its attempts have failed", problem)
				return
			}
			if !e.entered[level] {
				m.enterLevel(r, e, level, "its attempts have failed")
			}
			break
		}
	}
	m.finishNode(r, event.FailedS, problem)
}

// enterFrom enters levels that were not entered yet, from one on, until one of them acts. Behind the last
// one the node has failed.
func (m *Machine) enterFrom(r ref, e *escalation, from int, why, problem string) {
	for i := from; i < len(e.of.Levels); i++ {
		if e.entered[i] {
			continue
		}
		m.enterLevel(r, e, i, why)
		why = unsettled(e, i)
		if e.of.Levels[i].Acts() {
			if e.at = i; m.act(r, e) {
				return
			}
		}
	}
	e.at = len(e.of.Levels) - 1
	m.finishNode(r, event.FailedS, problem)
}

// enterLevel notes that a node has come to a level.
func (m *Machine) enterLevel(r ref, e *escalation, level int, why string) {
	n, s, d := m.node(r), m.state(r), m.liveState(r)
	e.entered[level], e.highest = true, max(e.highest, level)
	name := e.of.Levels[level].Name
	m.showTransition(event.Transition{Node: d.path, From: s.status, To: s.status, Note: event.Escalated, Level: name, Attempt: d.attempts,
		Reason: fmt.Sprintf("to level %q of %q: %s", name, e.of.Name, why), Name: n.Name, Kind: string(n.Kind)})
	if e.of.Levels[level].Await == nil || !m.behaviour[ir.MessagesNameTheAnswer] {
		m.sendOfLevel(r, e, level, "")
	}
}

// sendOfLevel sends the message of a level. answer is the command that answers what the level asks people; "" if it asks nothing.
func (m *Machine) sendOfLevel(r ref, e *escalation, level int, answer string) {
	d, l := m.liveState(r), &e.of.Levels[level]
	m.sendMessage(r, l.Notify, l.Name, event.Message{Kind: event.MessageEscalation, Level: "error", Decide: answer,
		Text:  fmt.Sprintf("%s has come to level %q of escalation %q: %s", d.path, l.Name, e.of.Name, m.failureText(r)),
		Error: &event.MessageError{Kind: d.err.Kind, Reason: d.err.Reason, Message: d.err.Message},
		Data:  map[string]any{"node": d.path, "escalation": e.of.Name, "level": l.Name, "attempt": float64(d.attempts)}})
}

// act does what a level does. It reports false if the level cannot do it for this node.
func (m *Machine) act(r ref, e *escalation) bool {
	l := &e.of.Levels[e.at]
	if l.Await != nil {
		return m.awaitDecision(r, e)
	}
	if l.Heal == nil {
		return m.reassign(r, e)
	}
	m.startParents(r)
	n, s, d := m.node(r), m.state(r), m.liveState(r)
	m.showTransition(event.Transition{Node: d.path, From: s.status, To: event.Waiting, Attempt: d.attempts, Name: n.Name, Kind: string(n.Kind),
		Reason: fmt.Sprintf("level %q runs workflow %q", l.Name, l.Heal.Workflow), Result: m.resultOf(r)})
	s.status = event.Waiting
	m.queueForSlots(r, healing)
	return true
}

// startHealing starts the run of a workflow that heals. It takes no slots.
func (m *Machine) startHealing(r ref) {
	if a := m.delayedAttempt(r); a != nil {
		m.sendAgain(a)
		return
	}
	d, e := m.liveState(r), m.escalationOf(r)
	l := &e.of.Levels[e.at]
	inputs, late, err := m.composer.ChildInputs(l.Heal, m.levelScope(r))
	if err != nil {
		m.showNote(r, event.Warned, fmt.Sprintf("level %q: with: %v", l.Name, err), nil)
		m.giveUp(r, "")
		return
	}
	a := &attempt{ref: r, gate: healing, since: m.now, child: &event.StartChild{Run: m.composer.ChildID(d.path+":"+l.Name, d.generation()), Node: d.path,
		Workflow: l.Heal.Workflow, Inputs: inputs, Late: late, Held: m.heldAround(r)}}
	m.lend(a)
	d.live = a
	m.live.add(a)
	m.addCommand(event.Command{StartChild: a.child})
}

// healingFinished takes the end of a run that was to heal. If it succeeded, the node has one more attempt.
func (m *Machine) healingFinished(a *attempt, f *event.ChildFinished) {
	d, e := m.liveState(a.ref), m.escalationOf(a.ref)
	d.live = nil
	m.settleChild(a, f)
	l := &e.of.Levels[e.at]
	switch {
	case a.cancelled:
		m.endCancelled(a.ref)
	case f.Status != event.Succeeded:
		m.showNote(a.ref, event.Warned, fmt.Sprintf("level %q: %s", l.Name, childError(a.child, f).Message), nil)
		m.giveUp(a.ref, "")
	default:
		outputs := make(map[string]any, len(f.Outputs))
		for name, v := range f.Outputs { // any order: it copies a map
			outputs[name] = v
		}
		e.healed = outputs
		m.tryOnceMore(a.ref, fmt.Sprintf("run %s of workflow %q has succeeded, and another attempt follows", a.child.Run, l.Heal.Workflow))
	}
}

// tryOnceMore makes another attempt of a step, or all of a group again.
func (m *Machine) tryOnceMore(r ref, reason string) {
	n, s, d := m.node(r), m.state(r), m.liveState(r)
	if spent, _ := m.spentAround(r, oneAttempt, false); spent != nil && !isPause(n) {
		m.failSpent(r, spent)
		return
	}
	if n.Kind == ir.Step {
		m.retry(r, 0, reason)
		return
	}
	m.showTransition(event.Transition{Node: d.path, From: s.status, To: event.Waiting, Attempt: d.attempts, Name: n.Name, Kind: string(n.Kind), Reason: reason})
	s.status = event.Waiting
	d.loop.max = d.loop.count + d.loop.most
	m.agenda.push(task{do: doIterate, ref: r})
}

// reassign gives the task of a step to somebody else, with retries of its own, and tells what has happened.
// It reports false if there is nobody else.
func (m *Machine) reassign(r ref, e *escalation) bool {
	n, d := m.node(r), m.liveState(r)
	to := e.of.To[e.at]
	if n.Kind != ir.Step || to == nil {
		return false
	}
	last := m.agentOf(r)
	if !slices.ContainsFunc(to.Members, func(g *ir.Agent) bool { return g != last }) {
		return false
	}
	before, failed := e.to, e.failed
	x := m.coldState(r)
	x.leaveAgent()
	e.to, e.failed = to, nil
	if to.Pool != nil {
		e.failed = last
	}
	if to.Member != nil {
		if v, err := m.composer.Value(to.Member, m.levelScope(r)); err == nil && last != nil && v == last.Name {
			e.to, e.failed, x.chosen = before, failed, last
			return false
		}
	}
	m.startOtherWork(r, event.Bound(strings.Join(e.history, "\n"), limits.MaxStream))
	x.before = d.attempts
	if m.prepareAgent(r) {
		m.showRetry(r, 0, fmt.Sprintf("level %q gives the task to %s", e.of.Levels[e.at].Name, m.takesOver(r)))
	}
	return true
}
