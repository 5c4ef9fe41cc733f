package machine

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/judge"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/request"
)

// failNode ends a node as failed without another attempt.
func (m *Machine) failNode(r ref, err *event.Error) {
	d := m.liveState(r)
	err.Node, err.Attempt = d.path, d.attempts
	d.err = err
	m.finishNode(r, event.FailedS, "")
}

// finishNode gives a node its last status and notifies the nodes that waited for it.
func (m *Machine) finishNode(r ref, status event.Status, reason string) {
	if status == event.FailedS || status == event.Succeeded {
		m.startParents(r)
	}
	s, d, n := m.state(r), m.liveState(r), m.node(r)
	if s.status.Terminal() {
		assert(false, "%s ends twice", d.path)
	}
	m.cancelNodeTimers(d)
	m.leaveAdmission(r)
	m.leaveRoom(r)
	holds := m.holdOf(r) != nil
	waited := m.releaseHold(r)
	m.leaveEvents(r)
	m.leaveAsk(r, status)
	m.endSync(r, status)
	m.endRules(r)
	if status == event.Succeeded {
		d.err = nil
		if n.Compensate != nil && n.Kind != ir.Step && m.isInner(r) && d.reusedEnd() == nil {
			m.noteCompensation(r)
		}
	} else {
		d.output = nil
	}
	var why cause
	switch {
	case status == event.FailedS:
		if m.tolerateFailure(r); !s.tolerated {
			why = m.causeOf(d)
		}
	case status == event.Cancelled && d.personalCancel() != nil:
		m.failures++
		d.err = d.endError
		d.err.Node, d.err.Attempt = d.path, d.attempts
		why = cause{d.err, m.failures}
	case status.Bad() && d.groupState != nil:
		why = d.cause
	}
	from := s.status
	m.setQueued(s, false)
	s.status = status
	if d.started != 0 && d.finished == 0 {
		d.finished = m.now
	}
	m.showTransition(event.Transition{Node: d.path, From: from, To: status, Attempt: d.attempts, Reason: reason, Result: m.resultOf(r),
		Name: n.Name, Kind: string(n.Kind), Item: m.itemName(r), Members: m.membersOf(r)})
	if !s.open && len(n.Below) > 0 && m.isInner(r) {
		m.agenda.push(task{do: doEndUnreleased, ref: r, status: status, reason: fmt.Sprintf("%q %s", n.Name, statusPhrase(status))})
	}
	waiters := d.waiters
	if n.Region == r.frame.region {
		m.notifyWaiters(r, s)
	}
	m.countInParent(r, s, why)
	if status == event.FailedS && !s.tolerated && (n.OnError == ir.OnErrorStop || failsGroup(n) || d.cold != nil && d.cold.aborted) && !m.isIteration(r) && d.reusedEnd() == nil {
		m.stopAround(r, waiters, why)
	}
	if holds {
		m.letGo(r, waited)
	}
}

// notifyWaiters notifies the nodes that wait for a node, in its own frame and in inner frames.
func (m *Machine) notifyWaiters(r ref, s *state) {
	for _, a := range m.node(r).Awaited {
		m.noteDependency(ref{r.frame, a.Node}, dependencyEnd{r.node, a.Needs, s.status, s.tolerated})
	}
	for _, w := range s.waiters {
		m.noteDependency(w.ref, dependencyEnd{r.node, w.needs, s.status, s.tolerated})
	}
	s.waiters = nil
}

// countInParent counts the end of a node in its parent.
func (m *Machine) countInParent(r ref, s *state, why cause) {
	p := m.parent(r)
	if p.node == plan.None {
		m.countTopEnd(s, why)
		return
	}
	ps := m.state(p)
	switch {
	case !ps.open: // the parent ended before the release of its children
		return
	case ps.join != nil && ps.join.detached:
		m.detached--
		m.endEmptyPhase()
		return
	case ps.status.Terminal():
		return
	}
	ps.remaining--
	switch {
	case ps.join == nil || !ps.join.decided:
		ps.tally.countEnd(s.status, s.tolerated, s.path)
		ps.cause.keepFirst(why)
		m.addOutput(ps.liveState, r)
		m.decideJoin(p, r, s)
	case ps.reusedEnd() != nil && s.status != event.Cancelled: // the counts of the earlier run are complete
		ps.tally.countEnd(s.status, s.tolerated, s.path)
	}
	if ps.remaining == 0 {
		m.collectLater(p)
	}
}

// cause is a failure that counts, with its order in the run. A run fails with its first failure,
// and not with a blocked node or a failed group that followed from it.
type cause struct {
	err   *event.Error
	order uint64 // from 1; 0: no cause
}

// keepFirst keeps the earlier of two causes.
func (c *cause) keepFirst(other cause) {
	if other.order != 0 && (c.order == 0 || other.order < c.order) {
		*c = other
	}
}

// causeOf returns the cause of a node's failure: the first failure below it, or its own.
func (m *Machine) causeOf(d *liveState) cause {
	if d.groupState != nil && d.cause.order != 0 {
		return d.cause
	}
	m.failures++
	return cause{d.err, m.failures}
}

// tolerateFailure decides whether the failure of a node does not count, and sets the output of
// degrade. The repeat decides for its iterations. A for_each has no degraded output of its own;
// its instances have.
func (m *Machine) tolerateFailure(r ref) {
	if m.isIteration(r) {
		return
	}
	s, n := m.state(r), m.node(r)
	if s.cold != nil && s.cold.aborted {
		return
	}
	if n.Degrade != nil && !m.isCollector(r) {
		v, err := m.evalDegrade(r, n)
		if err == nil {
			s.output, s.tolerated = v, true
			return
		}
		m.showNote(r, event.Warned, fmt.Sprintf("degrade.output: %v", err), nil)
	}
	s.tolerated = n.OnError == ir.OnErrorContinue
}

func (m *Machine) evalDegrade(r ref, n *plan.Node) (value.Value, error) {
	v, err := m.composer.Value(n.Degrade, m.newScope(r))
	if err != nil {
		return nil, err
	}
	if t := compose.OutputType(n, m.agentOf(r)); t != nil {
		if v, err = value.Convert(v, *t); err != nil {
			return nil, err
		}
	}
	return v, request.CheckSize(v)
}

// failsGroup reports whether a node is a step that fails its group with its own error.
func failsGroup(n *plan.Node) bool {
	f, ok := n.Action.(*ir.Fail)
	return ok && f.Group
}

// stopAround carries out on_error = "stop" and group of a fail: it blocks the nodes that need the failed node and ends
// the rest of its group or run. The failure of a loser of a join stops nothing. waiters are the
// nodes of inner frames that waited for the failed node.
func (m *Machine) stopAround(r ref, waiters []waiter, c cause) {
	for p := m.parent(r); p.node != plan.None; p = m.parent(p) {
		if d := m.liveState(p); d.join != nil && d.join.decided {
			return
		}
	}
	aborted := m.state(r).cold != nil && m.state(r).cold.aborted
	for m.node(r).Region != r.frame.region {
		r.frame = r.frame.up
		if aborted && m.behaviour[ir.AbortedInstancesCount] {
			m.coldState(r).aborted = true
		}
	}
	m.barDependents(r, waiters)
	if p := m.parent(r); p.node != plan.None {
		err := c.err
		if !failsGroup(m.node(r)) {
			err = &event.Error{Kind: event.Recoverable, Reason: event.ReasonChild, ExitCode: -1,
				Message: fmt.Sprintf("%q failed, which stops what lies around it", m.node(r).Name)}
		}
		m.failAfterChildren(p, err)
		return
	}
	m.stopFor(r, c.err)
}

// barDependents marks the nodes around a failed node that need it, directly or through others.
// They end as blocked.
func (m *Machine) barDependents(failed ref, waiters []waiter) {
	around, barred, groups := m.parent(failed), []ref{failed}, map[ref]bool{}
	add := func(on ref, w waiter) {
		s := m.state(w.ref)
		if s.barred || s.status != event.Pending || s.queued || s.open || !m.needsSuccess(w) || !m.isWithin(w.ref, around) {
			return
		}
		if s.barred = true; s.bad == 0 {
			s.bad = int32(on.node) + 1
		}
		barred = append(barred, w.ref)
	}
	for i := 0; i < len(barred); i++ {
		r := barred[i]
		n, s := m.node(r), m.state(r)
		for _, a := range n.Awaited {
			add(r, waiter{ref{r.frame, a.Node}, a.Needs})
		}
		if s.liveState != nil {
			waiters = append(waiters, s.waiters...)
		}
		for _, w := range waiters {
			add(r, w)
		}
		waiters = nil
		if s.barred && m.isInner(r) { // a group that is not released
			for _, child := range n.Below {
				barred = append(barred, ref{r.frame, child})
			}
		}
		if p := m.parent(r); p != around && !groups[p] && m.needsAll(p) {
			groups[p] = true
			barred = append(barred, p)
		}
	}
}

// isWithin reports whether r lies in a group or in the run.
func (m *Machine) isWithin(r, group ref) bool {
	for group.node != plan.None && r != group {
		if r.node == plan.None {
			return false
		}
		r = m.parent(r)
	}
	return true
}

// needsAll reports whether a blocked child keeps the node from succeeding.
func (m *Machine) needsAll(r ref) bool {
	n := m.node(r)
	return n.Kind != ir.Switch && (n.Join == nil || n.Join.Word == ir.JoinAll)
}

// needsSuccess reports whether a node cannot start after the failure of its dependency.
func (m *Machine) needsSuccess(w waiter) bool {
	switch m.node(w.ref).TriggerRule {
	case "":
		return w.needs
	case ir.NoneFailed, ir.AllSuccess:
		return true
	case ir.AllFailed, ir.AllDone, ir.OneSuccess, ir.OneFailed, ir.Always:
	}
	return false
}

// unstartedEnd returns the status and reason of a node that is cancelled before its start.
func (m *Machine) unstartedEnd(r ref, reason string) (event.Status, string) {
	if s := m.state(r); s.barred {
		return event.Blocked, m.describeNeed(r, int(s.bad)-1)
	}
	return event.Cancelled, reason
}

// deliverOutput converts a node's new output to its declared type and then runs the node's gates.
func (m *Machine) deliverOutput(r ref) { m.deliverAnswer(r, nil) }

// deliverAnswer is deliverOutput for the output of an answer.
func (m *Machine) deliverAnswer(r ref, f *event.AttemptFinished) {
	k := m.reusedEnd(r)
	if k == nil && m.isCollector(r) { // instances have the types and gates
		m.finishNode(r, event.Succeeded, "")
		return
	}
	if !m.isCollector(r) {
		if err := m.evalResult(r); err != nil {
			m.failNode(r, err)
			return
		}
		if err := m.convertOutput(r, f); err != nil {
			m.failAttempt(r, err)
			return
		}
	}
	if k != nil {
		m.endReused(r, k)
		return
	}
	d := m.liveState(r)
	if d.cold != nil {
		d.cold.rejected, d.cold.said, d.cold.refused, d.cold.escalates = nil, "", false, false
	}
	if m.node(r).Kind != ir.Step {
		m.cancelWorkTimer(d) // the timeout of a group does not count its gates
	}
	m.runGates(r, 0)
}

// evalResult evaluates the value and the winner of a group that has ended well. A reused group has
// those of the earlier run.
func (m *Machine) evalResult(r ref) *event.Error {
	n, d := m.node(r), m.liveState(r)
	if n.Result == nil && n.Winner == nil {
		return nil
	}
	if k := d.reusedEnd(); k != nil {
		d.winner = k.Winner
		if n.Result != nil {
			d.output = k.Output
		}
		return nil
	}
	sc := m.newScope(r)
	if n.Winner != nil {
		v, err := m.composer.Value(n.Winner, sc)
		name, isText := v.(string)
		if err == nil && v != nil && !isText {
			err = fmt.Errorf("a text or null is needed, but this is %.60s", value.Text(v))
		}
		if err != nil {
			return compose.EvaluationError("winner", err)
		}
		d.winner = name
	}
	if n.Result == nil {
		return nil
	}
	v, err := m.composer.Value(n.Result, sc)
	if err == nil {
		err = request.CheckSize(v)
	}
	if err != nil {
		return compose.EvaluationError("value", err)
	}
	d.output = v
	return nil
}

// runGates runs a node's gates in order, starting at number from. All gates run, even after one
// has failed, so that a person sees every verdict. A gate that runs a program is an attempt of its
// own; runGates continues after its end.
func (m *Machine) runGates(r ref, from int) {
	n, d := m.node(r), m.liveState(r)
	for i := from; i < len(n.Gates); i++ {
		if m.isHalted(r) {
			m.finishNode(r, event.Cancelled, m.whyStopped())
			return
		}
		if m.behaviour[ir.EndingRunsNoGates] && m.isEnding(r) {
			m.endCancelled(r)
			return
		}
		switch g := n.Gates[i]; {
		case g.Run != nil:
			m.queueForSlots(r, i)
			return
		case g.Review != nil:
			m.startReview(r, i)
			return
		}
		m.checkGate(r, i)
	}
	if d.cold != nil && d.cold.rejected != nil {
		m.failAttempt(r, d.cold.rejected)
		return
	}
	m.finishNode(r, event.Succeeded, "")
}

// checkGate evaluates a gate that starts nothing, and records its verdict.
func (m *Machine) checkGate(r ref, gate int) {
	sc := m.newScope(r)
	sc.Mode = compose.InGate
	said, e := m.judgeGate(m.node(r).Gates[gate], sc, m.resolve(m.liveState(r).output))
	m.recordVerdict(r, gate, said == "", said, e)
}

// judgeGate evaluates a gate that is a condition, a schema or a scan, and returns why it does not pass; "" if it passes. A gate that
// cannot be evaluated does not pass.
func (m *Machine) judgeGate(g *ir.Gate, sc *compose.Scope, output value.Value) (said string, e *event.Evidence) {
	switch {
	case g.Scans != nil:
		found := judge.Scan(g.Scans, output)
		e = &event.Evidence{At: m.now}
		judge.Keep(e, found)
		return judge.Blocked(found, g.Block), e
	case g.Schema != nil:
		schema, err := m.composer.Value(g.Schema, sc)
		if err == nil {
			err = m.composer.Conforms(schema, output)
		}
		if err != nil {
			said = "the output does not fit its schema: " + err.Error()
		}
		return said, nil
	}
	passed, err := m.composer.Condition(g.Check, sc)
	switch {
	case err != nil:
		said = "it cannot be evaluated: " + err.Error()
	case !passed:
		said = "its check is false: " + m.composer.ExplainCondition(g.Check, sc)
	}
	return said, nil
}

// checkInputs asks the gates of the inputs before any node starts; nil means that all passed, or only warn.
func (m *Machine) checkInputs(sc *compose.Scope) *event.Error {
	for _, g := range m.graph.InputGates {
		here := *sc
		here.Mode, here.More = compose.InGate, m.run.Inputs[g.Input]
		said, _ := m.judgeGate(g.Gate, &here, here.More)
		if said == "" {
			continue
		}
		said = event.Bound(said, maxSaid)
		if g.Message != nil {
			if text, err := m.composer.Text(g.Message, &here); err == nil && text != "" {
				said = text + "\n" + said
			}
		}
		said = fmt.Sprintf("input %q did not pass gate %q: %s", g.Input, g.Name, said)
		if g.OnFail != ir.OnFailWarn {
			return &event.Error{Kind: event.Blocking, Reason: event.ReasonGate, ExitCode: -1, Gate: g.Name, Message: said}
		}
		m.showTransition(event.Transition{From: event.Running, To: event.Running, Note: event.Warned, Reason: said})
	}
	return nil
}

// gateFinished records the answer of a gate that ran a program. Only exit code 0 passes, unless its findings judge.
func (m *Machine) gateFinished(a *attempt, f *event.AttemptFinished) {
	g := m.node(a.ref).Gates[a.gate]
	if g.Review != nil {
		m.reviewFinished(a, f)
		return
	}
	message, e := "", m.evidenceOf(a.request, f)
	if g.Benchmark != nil && f.Outcome == event.OK {
		message = judgeFigure(g.Benchmark, f.Output, e, m.behaviour)
	} else if g.Findings != "" {
		message = judgeFindings(g, f, e)
	} else if f.Outcome != event.OK {
		e := failureError(f)
		message = e.Message
		for _, text := range []string{f.Stderr, f.Stdout} {
			if text = strings.TrimRight(text, "\n"); text != "" {
				message += "\n" + text
			}
		}
	}
	m.recordVerdict(a.ref, a.gate, message == "" && (f.Outcome == event.OK || g.Findings != ""), message, e)
	m.runGates(a.ref, a.gate+1)
}

// maxSaid limits the message of one gate in bytes.
const maxSaid = 2 << 10

// recordVerdict records the verdict of a gate. If the file sets a message, that message comes
// first, followed by the gate's own words. e is what the verdict rests on; nil if that is the result alone.
func (m *Machine) recordVerdict(r ref, gate int, passed bool, said string, e *event.Evidence) {
	g, d := m.node(r).Gates[gate], m.liveState(r)
	v := &event.Verdict{Gate: gateName(g), Passed: passed, Evidence: e}
	if !passed {
		v.Message = event.Bound(said, maxSaid)
		if g.Message != nil {
			sc := m.newScope(r)
			sc.Mode = compose.InGate
			if text, err := m.composer.Text(g.Message, sc); err == nil && text != "" {
				v.Message, v.Said = text, v.Message
			}
		}
		if v.Warning = g.OnFail == ir.OnFailWarn; !v.Warning {
			m.rejectAttempt(r, g, v.Words())
		}
	}
	m.showTransition(event.Transition{Node: d.path, Attempt: max(1, d.attempts), Gate: v, Name: m.node(r).Name, Kind: string(m.node(r).Kind)})
}

// wasRejected reports whether err is the rejection of an attempt by its gates.
func (d *liveState) wasRejected(err *event.Error) bool {
	return d.cold != nil && d.cold.rejected == err
}

// gateName returns a gate's name as written. The full name of a gate inside a step begins with the
// workflow and the step.
func gateName(g *ir.Gate) string { return g.Name[strings.LastIndexByte(g.Name, '/')+1:] }

// rejectAttempt records that a gate did not pass. A final rejection replaces one that asks for
// better work, and the first final one fails the attempt; one that escalates comes before others. The feedback holds the messages of all
// failed gates.
func (m *Machine) rejectAttempt(r ref, g *ir.Gate, message string) {
	x := m.coldState(r)
	if x.said != "" {
		x.said += "\n"
	}
	// Lines that a program printed are indented, so that none of them passes for the word of
	// another gate.
	x.said = event.Bound(x.said+fmt.Sprintf("gate %q: %s", gateName(g), strings.ReplaceAll(message, "\n", "\n  ")), limits.MaxStream)
	final, escalates := g.OnFail != ir.OnFailRetry, g.OnFail == ir.OnFailEscalate
	if x.rejected == nil || final && !x.refused || escalates && !x.escalates {
		x.refused, x.escalates = final, x.escalates || escalates
		x.rejected = &event.Error{Kind: event.Recoverable, Reason: event.ReasonGate, Gate: gateName(g), ExitCode: -1,
			Message: fmt.Sprintf("gate %q did not pass: %s", gateName(g), message)}
	}
}
