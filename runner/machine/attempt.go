package machine

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/request"
)

// attempt is an attempt that has started and has no answer yet.
type attempt struct {
	ref
	gate       int
	request    *event.Attempt
	child      *event.StartChild // set instead of request
	since      event.Time
	cancelled  bool
	open       bool         // its answer can take its start back, and budgets know
	delayed    bool         // since the driver changed it waits for what is held around it, and has no slots
	free       bool         // its slots were given back
	person     bool         // a person does it: see askTask
	now        bool         // the child was cancelled with Now
	expired    *event.Error // why the child was cancelled
	rule       *adaptRule   // set if a rule of adapt has started the child
	granted    bool         // the host granted it, and its refusal has not come yet
	loans      []loan       // what budgets keep for the child
	next, prev *attempt
}

// liveList finds live attempts by ticket, children by their ids, and walks all of them in the
// order of their starts.
type liveList struct {
	by          map[uint64]*attempt
	children    map[string]*attempt
	first, last *attempt
}

func (l *liveList) add(a *attempt) {
	if a.child != nil {
		l.children[a.child.Run] = a
	} else {
		l.by[a.request.Ticket] = a
	}
	if a.prev = l.last; a.prev == nil {
		l.first = a
	} else {
		a.prev.next = a
	}
	l.last = a
}

func (l *liveList) remove(a *attempt) {
	if a.child != nil {
		delete(l.children, a.child.Run)
	} else {
		delete(l.by, a.request.Ticket)
	}
	if a.prev == nil {
		l.first = a.next
	} else {
		a.prev.next = a.next
	}
	if a.next == nil {
		l.last = a.prev
	} else {
		a.next.prev = a.prev
	}
}

// snapshot lists the live attempts, so that the caller can walk them while the list changes.
func (l *liveList) snapshot() (list []*attempt) {
	for a := l.first; a != nil; a = a.next {
		list = append(list, a)
	}
	return list
}

// startAttempt composes and starts an attempt that has its slots.
func (m *Machine) startAttempt(w slotRequest) {
	inside := m.parent(w.ref)
	if w.gate == healing { // of a group, inside what the group holds
		inside = w.ref
	}
	if h := m.barring(inside); h != nil && !m.waitsAtPoint(w.ref) {
		m.waitForHold(h, w)
		return
	}
	if a := m.delayedAttempt(w.ref); a != nil {
		if a.free = false; a.child == nil {
			m.sendAgain(a)
			return
		}
	} else if !m.waitsAtPoint(w.ref) && m.refuseSpent(w) {
		return
	}
	if w.gate == healing {
		m.startHealing(w.ref)
		return
	}
	if m.isCall(w) {
		m.startChild(w.ref)
		return
	}
	m.enterRoom(w)
	s, d := m.state(w.ref), m.liveState(w.ref)
	refused := uint64(0)
	if j := d.judgingOf(); w.gate != work && j != nil {
		refused, j.waits = d.beginAdmitted(), false
	}
	if w.gate == work {
		refused = d.beginAdmitted()
		d.attempts++
		if g := m.agentOf(w.ref); g != nil {
			d.agent = g.Name
		}
	}
	request, err := m.composeAttempt(w)
	if err != nil {
		m.returnSlots(w.ref, w.gate)
		if w.gate == work {
			if refused != 0 {
				m.withdrawRefused(w.ref, refused, leftLine)
			}
			m.startParents(w.ref)
			m.failWork(w.ref, err)
		} else {
			m.endReview(w.ref, refused)
			m.recordVerdict(w.ref, w.gate, false, err.Message, nil)
			m.runGates(w.ref, w.gate+1)
		}
		return
	}
	m.tickets++
	request.Ticket = m.tickets
	counted := m.waitsAtPoint(w.ref)
	if w.gate == work && request.Kind == event.HumanAgentAttempt {
		m.askTask(w.ref, request)
		return
	}
	m.prepareSync(w.ref, request)
	if w.gate == work {
		m.noteCompensation(w.ref)
		m.moveNode(w.ref, event.Running, m.whyStarted(w.ref))
	} else if s.status == event.Waiting { // for a judge, or for room in a budget
		m.moveNode(w.ref, event.Running, fmt.Sprintf("gate %q judges", gateName(m.node(w.ref).Gates[w.gate])))
	}
	a := &attempt{ref: w.ref, gate: w.gate, request: request, since: m.now}
	d.live = a
	m.live.add(a)
	m.addCommand(event.Command{Start: request})
	if !counted {
		m.countStart(a)
	}
	if s.status.Terminal() {
		assert(false, "%s starts after its end", d.path)
	}
}

func (m *Machine) whyStarted(r ref) string {
	if x := m.liveState(r).cold; x != nil && x.silent > 0 {
		return m.reason(silentAgain, x.silent, plan.MaxSilences-1)
	}
	if n := m.node(r); n.When != nil && m.liveState(r).attempts == 1 && !m.isIteration(r) {
		return "its condition holds: " + n.When.Text
	}
	return ""
}

// attemptFinished records an answer. A late or second answer finds no live attempt and changes
// nothing.
func (m *Machine) attemptFinished(f *event.AttemptFinished) {
	if h := m.holds[f.Ticket]; h != nil && h.request.Node == f.Node {
		m.holdAnswered(h, f)
		return
	}
	if n := m.notices[f.Ticket]; n != nil && n.request.Node == f.Node {
		m.noticeAnswered(n, f)
		return
	}
	a := m.live.by[f.Ticket]
	if a == nil || a.request.Node != f.Node {
		return
	}
	m.live.remove(a)
	s := m.state(a.ref)
	d := s.liveState
	d.live = nil
	m.askBreakers(a, f)
	if a.gate == undone {
		m.usage.Add(usageOf(f))
		m.countSpent(a.ref, usageOf(f), 0)
		m.compensationFinished(a, f)
		return
	}
	if m.waitAtPoint(a, f) {
		return
	}
	m.tellHandoff(a, f)
	if !s.status.Terminal() && m.isRefused(a, f) {
		m.refuseAttempt(a, f)
		return
	}
	if f.Outcome == event.Failed && a.gate == work && !s.status.Terminal() && !a.cancelled {
		failed := *f
		failed.Error = failureError(f)
		m.takeStreams(a.ref, f) // rules of classify read them
		m.classifyError(a.ref, failed.Error)
		f = &failed
	}
	used, waits := usageOf(f), m.waitsOut(a, f)
	never := f.Outcome == event.Refused && mayTakeBack(a) // and the node does not wait for the grant
	if waits || never {
		used.Attempts = 0
	}
	m.leaveSession(a, f)
	m.countUsage(a.ref, used)
	m.countSpent(a.ref, used, 0)
	m.warnOfSilence(a, f)
	m.countEnd(a, f, waits)
	m.returnHeld(a)
	m.settleStart(a, !waits && !never)
	if s.status.Terminal() {
		return
	}
	atPoint := leavesOf(a.request) != "" // what must happen once must not be left to a node that nobody needs
	if a.cancelled && (f.Outcome != event.OK || len(m.node(a.ref).Gates) > 0 || atPoint) {
		m.endCancelled(a.ref)
		return
	}
	if f.Outcome == event.Lost && !m.isHalted(a.ref) && !m.failsIfLost(a) && m.mayRepeatSilent(a) { // the same attempt again
		m.queueForSlots(a.ref, a.gate)
		return
	}
	if a.gate != work {
		m.gateFinished(a, f)
		return
	}
	if f.StartedAt != 0 && d.attempts == 1 && (d.cold == nil || d.cold.sync == nil) { // a sync step began when it first asked
		d.started = f.StartedAt
	}
	m.takeResult(a.ref, f)
	if waits {
		m.waitOut(a.ref, f.Error)
		return
	}
	switch f.Outcome {
	case event.OK:
	case event.Lost:
		m.failAttempt(a.ref, lostError(m.silence(f)))
		return
	case event.Failed, event.Refused:
		if d.output, d.partial = m.handedIn(a.ref, f); d.partial {
			m.deliverOutput(a.ref)
			return
		}
		m.failClassified(a.ref, failureError(f))
		return
	default:
		assert(false, "the attempt of %s has the unknown outcome %q, which Step refuses", d.path, f.Outcome)
	}
	output, err := compose.ParseOutput(m.node(a.ref).Action, f)
	if err != nil {
		m.failAttempt(a.ref, err)
		return
	}
	d.output = output
	m.deliverAnswer(a.ref, f)
}

// keepSession notes in which session of its agent a live attempt works. If the attempt begins again, its request names the session.
func (m *Machine) keepSession(x *event.External) {
	ticket, session := event.SessionOf(x)
	a := m.live.by[ticket]
	if a == nil || a.request.Node != x.Node || a.request.Agent == nil {
		return
	}
	request, agent := *a.request, *a.request.Agent // the first one was handed out
	agent.Session = session
	request.Agent, a.request = &agent, &request
}

// leaveSession notes the session in which the next attempt goes on: if the attempt ended because its agent or its worker could not be heard, and, for
// an agent that keeps its session, if a gate refuses the work.
func (m *Machine) leaveSession(a *attempt, f *event.AttemptFinished) {
	g := a.request.Agent
	if g == nil || a.gate != work || f.Outcome != event.Failed && f.Outcome != event.Lost && !(f.Outcome == event.OK && g.KeepSession) {
		return
	}
	if m.liveState(a.ref).cold != nil || f.Session != "" {
		x := m.coldState(a.ref)
		x.session, x.sessionOf = f.Session, g.Name
	}
}

// enterSession has an attempt go on in the session that the one before has left, if both have the same agent. The first attempt of an iteration goes on
// in that of the iteration before, if the agent keeps its session.
func (m *Machine) enterSession(r ref, request *event.Attempt) {
	g, x := request.Agent, m.liveState(r).cold
	if x == nil || x.session == "" {
		if g != nil && g.KeepSession && request.Attempt == 1 {
			m.enterEarlier(r, g)
		}
		return
	}
	if g != nil && g.Name == x.sessionOf {
		g.Session = x.session
	}
	x.session, x.sessionOf = "", ""
}

// enterEarlier has an agent go on in the session of the same node in the iteration before.
func (m *Machine) enterEarlier(r ref, g *event.AgentRequest) {
	last, ok := m.lastIteration(r.frame, r.node)
	if !ok {
		return
	}
	if d := m.state(last).liveState; d != nil && d.cold != nil && d.cold.sessionOf == g.Name {
		g.Session = d.cold.session
	}
}

// handedIn returns the output of an attempt whose time was up, if the step takes what there is.
func (m *Machine) handedIn(r ref, f *event.AttemptFinished) (value.Value, bool) {
	n := m.node(r)
	if n.OnTimeout != ir.OnTimeoutHandIn || f.Error == nil || f.Error.Reason != event.ReasonTimeout {
		return nil, false
	}
	if f.Partial != nil {
		return f.Partial, true
	}
	if _, runs := n.Action.(*ir.Run); !runs || f.Stdout == "" {
		return nil, false
	}
	v, err := compose.ParseOutput(n.Action, f)
	return v, err == nil && v != nil
}

// mayRepeatSilent reports whether the machine may repeat an attempt that fell silent without
// counting it.
func (m *Machine) mayRepeatSilent(a *attempt) bool {
	if a.gate != work {
		return true
	}
	d, x := m.liveState(a.ref), m.coldState(a.ref)
	if x.silent++; x.silent == plan.MaxSilences {
		x.silent = 0
		return false
	}
	x.begun = d.attempts
	d.attempts--
	return true
}

// takeResult stores the result of an attempt: the exit code, bounded streams and recalled
// memories.
func (m *Machine) takeResult(r ref, f *event.AttemptFinished) {
	d := m.liveState(r)
	d.output, d.partial = nil, false
	m.takeStreams(r, f)
	if d.cold != nil {
		d.cold.silent = 0
		if !limited(f) {
			d.cold.limited = 0
		}
	}
	if d.cold != nil || len(f.Recalled) > 0 {
		m.coldState(r).recalled = f.Recalled
	}
	if f.Warning != "" {
		m.showNote(r, event.Warned, f.Warning, nil)
	}
}

// takeStreams stores what the program of an attempt left.
func (m *Machine) takeStreams(r ref, f *event.AttemptFinished) {
	d := m.liveState(r)
	d.exit, d.streams = f.Exit(), m.streamsOf(f)
}

func failureError(f *event.AttemptFinished) *event.Error {
	if f.Error == nil {
		return &event.Error{Kind: event.Transient, Reason: reasonOf(f.Outcome), Message: "the attempt ended without a reason", ExitCode: -1}
	}
	e := *f.Error
	if e.Reason == "" { // error.reason is never empty
		e.Reason = reasonOf(f.Outcome)
	}
	return &e
}

// reasonOf returns the reason of an error if the executor gave none.
func reasonOf(o event.Outcome) event.Reason {
	if o == event.Lost {
		return event.ReasonLost
	}
	return event.ReasonUnexplained
}

// begins starts the step of each kind of action, when nothing keeps the step from starting.
var begins map[ir.ActionKind]func(*Machine, ref)

func init() { // in init, because some of the functions read the table
	begins = map[ir.ActionKind]func(*Machine, ref){
		ir.RunAction:      (*Machine).startAttempts,
		ir.AgentAction:    (*Machine).startAttempts,
		ir.ValueAction:    (*Machine).computeValue,
		ir.CallAction:     (*Machine).startAttempts,
		ir.HTTPAction:     (*Machine).startAttempts,
		ir.RememberAction: (*Machine).startAttempts,
		ir.RecallAction:   (*Machine).startAttempts,
		ir.KVAction:       (*Machine).startAttempts,
		ir.EmitAction:     (*Machine).startAttempts,
		ir.SyncAction:     (*Machine).startSync,
		ir.NotifyAction:   (*Machine).startAttempts,
		ir.HandoffAction:  (*Machine).startAttempts,
		ir.WaitAction:     (*Machine).startWait,
		ir.ApproveAction:  (*Machine).startApproval,
		ir.FailAction:     (*Machine).failOnPurpose,
		ir.EndAction:      (*Machine).runEndStep,
	}
}

// checkActions returns an error if the graph has a step that the machine cannot carry out.
func checkActions(g *plan.Graph) error {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if err := ir.CheckAction(n.Node); err != nil {
			return fmt.Errorf("machine: %w", err)
		}
		if n.Kind != ir.Step {
			continue
		}
		if k := n.Action.Kind(); begins[k] == nil || makesAttempts(k) && !compose.Composes(k) {
			return fmt.Errorf("machine: step %q has the action %q, which is not described", n.Name, k)
		}
	}
	return nil
}

// makesAttempts reports whether steps with an action of the kind ask for attempts.
func makesAttempts(k ir.ActionKind) bool {
	return k.Course() == ir.Attempted || k.Course() == ir.Stored
}

// computeValue does a value step, which takes no time and no slot.
func (m *Machine) computeValue(r ref) {
	v, err := m.composer.Value(&m.node(r).Action.(*ir.Value).Expr, m.newScope(r))
	if err == nil {
		err = request.CheckSize(v)
	}
	d := m.liveState(r)
	d.attempts = 1
	m.startParents(r)
	d.started = m.now
	if err != nil {
		m.failNode(r, compose.EvaluationError("value", err))
		return
	}
	d.output = v
	m.deliverOutput(r)
}

// failOnPurpose does a step that fails on purpose.
func (m *Machine) failOnPurpose(r ref) {
	f, d := m.node(r).Action.(*ir.Fail), m.liveState(r)
	d.attempts = 1
	m.startParents(r)
	d.started = m.now
	e := &event.Error{Kind: f.ErrorKind, Reason: event.ReasonFail, ExitCode: -1, Message: fmt.Sprintf("%q fails on purpose", m.node(r).Name)}
	if f.Reason != "" {
		e.Reason = event.Reason(f.Reason)
	}
	if e.Kind == "" {
		e.Kind = event.Blocking
	}
	if f.Message != nil {
		text, err := m.composer.Text(f.Message, m.newScope(r))
		if err != nil {
			e = compose.EvaluationError("message", err)
		} else {
			e.Message = text
		}
	}
	m.failNode(r, e)
}

// startAttempts sends a step's action to its turn for slots.
func (m *Machine) startAttempts(r ref) {
	d := m.liveState(r)
	if !m.chooseAssignee(r) || !m.prepareAgent(r) {
		return
	}
	if g := m.agentOf(r); g != nil {
		d.agent = g.Name
	}
	m.queueAttempt(r)
}

// isCall reports whether a request is for a run of another workflow.
func (m *Machine) isCall(w slotRequest) bool {
	return w.gate == work && m.node(w.ref).Action.Kind().Course() == ir.Called
}

// startChild starts a run of another workflow. A call counts in the limiters of groups and
// for_each around it but takes no slot of the run: the attempts of the child take slots of the
// child.
func (m *Machine) startChild(r ref) {
	n, d := m.node(r), m.liveState(r)
	if m.holdForCall(r) {
		return
	}
	if a := m.delayedAttempt(r); a != nil {
		m.sendAgain(a)
		return
	}
	if m.refuseSpent(slotRequest{r, work}) { // others may have spent a budget while the call waited for its hold
		return
	}
	m.enterRoom(slotRequest{r, work})
	d.attempts++
	call, sc := n.Action.(*ir.Call), m.newScope(r)
	inputs, late, err := m.composer.ChildInputs(call, sc)
	what := "with"
	var due event.Time
	if err == nil && n.Timeout != nil {
		due, err = m.evalDue(n.Timeout, sc)
		what = "timeout"
	}
	if err != nil {
		m.returnSlots(r, work)
		m.failWork(r, compose.EvaluationError(what, err))
		return
	}
	a := &attempt{ref: r, gate: work, since: m.now,
		child: &event.StartChild{Run: m.composer.ChildID(d.path, d.generation()), Node: d.path, Workflow: call.Workflow, Inputs: inputs,
			Late: late, Held: m.heldAround(r)}}
	m.lend(a)
	m.noteCompensation(r)
	m.moveNode(r, event.Running, fmt.Sprintf("run %s of workflow %q", a.child.Run, a.child.Workflow))
	d.live = a
	m.live.add(a)
	m.addCommand(event.Command{StartChild: a.child})
	if due != 0 {
		m.setTimer(r, due, event.TimerTimeout)
	}
}

// childFinished records the end of a child run. If the parent no longer waits for the child,
// nothing changes.
func (m *Machine) childFinished(f *event.ChildFinished) {
	a := m.live.children[f.Run]
	if a == nil || a.child.Node != f.Node {
		return
	}
	m.live.remove(a)
	if a.rule != nil {
		m.ruleEnded(a, f)
		return
	}
	m.askRulesSoon()
	if a.delayed {
		m.forgetDelayed(a.ref)
	}
	if a.gate == healing {
		m.healingFinished(a, f)
		return
	}
	h := m.holdOf(a.ref)
	if !a.free && (h == nil || !h.slots) {
		m.returnSlots(a.ref, work)
	}
	m.releaseHold(a.ref)
	d := m.liveState(a.ref)
	d.live = nil
	m.cancelWorkTimer(d)
	m.settleChild(a, f)
	d.output = nil
	switch succeeded := f.Status == event.Succeeded; {
	case a.expired != nil && !succeeded:
		m.failAttempt(a.ref, a.expired)
	case a.cancelled && (!succeeded || len(m.node(a.ref).Gates) > 0):
		m.endCancelled(a.ref)
	case succeeded:
		outputs := make(map[string]any, len(f.Outputs))
		for name, v := range f.Outputs { // any order: it copies a map
			outputs[name] = v
		}
		d.output = outputs
		m.deliverOutput(a.ref)
	default:
		m.failAttempt(a.ref, childError(a.child, f))
	}
}

// childError returns the error of a node after its child did not succeed. The child's own error
// gives the kind.
func childError(c *event.StartChild, f *event.ChildFinished) *event.Error {
	e := &event.Error{Kind: event.Recoverable, Reason: event.ReasonChild, ExitCode: -1,
		Message: fmt.Sprintf("run %s of workflow %q %s", c.Run, c.Workflow, statusPhrase(f.Status))}
	if f.Error != nil {
		e.Kind, e.RetryAfter = f.Error.Kind, f.Error.RetryAfter
		e.Message += ": " + f.Error.Message
	}
	return e
}

// expireChild cancels a child after its timeout. The child's answer fails the attempt.
func (m *Machine) expireChild(a *attempt, t timer) {
	if a.cancelled {
		return
	}
	a.expired = &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, ExitCode: -1,
		Message: m.reason(timedOut, "it", t.elapsedSince(a.since))}
	m.askToEnd(a, "its time is up")
}

// driverChanged repeats the commands of all live attempts with the same numbers and keys. It fails
// them if too many drivers died in a row. The clocks continue from where they stopped.
func (m *Machine) driverChanged(d *event.DriverChanged) {
	if d.Since != 0 {
		m.shiftClocks(m.now.Sub(d.Since))
	}
	m.askAllHolds()
	m.askAllAgain()
	poison := false
	if d.Lost {
		m.deaths++
		limit := d.DeathLimit
		if limit == 0 {
			limit = DefaultDeathLimit
		}
		poison = m.deaths >= limit
	}
	for _, a := range m.live.snapshot() {
		switch {
		case a.person: // the store still asks
		case a.child != nil: // a run of its own; the new driver takes it over too
			m.repeatAttempt(a)
		case a.delayed && m.behaviour[ir.DelayedNotLost]: // the driver before did not run it, and it waits on
		case slices.Contains(d.Kept, a.request.Ticket):
			if a.cancelled { // its worker may not know
				m.addCommand(event.Command{Cancel: &event.CancelAttempt{Ticket: a.request.Ticket, Node: a.request.Node, Reason: "it was cancelled"}})
			}
		case a.cancelled:
			m.dropAttempt(a)
			m.endCancelled(a.ref)
		case poison && a.gate == undone:
			m.loseCompensation(a, m.poisonError())
		case poison:
			m.dropAttempt(a)
			m.failWork(a.ref, m.poisonError())
		case d.Lost && m.failsIfLost(a):
			m.dropAttempt(a)
			// An earlier event of this batch may have started the attempt: cancel that start.
			m.addCommand(event.Command{Cancel: &event.CancelAttempt{Ticket: a.request.Ticket, Node: a.request.Node, Reason: "the process that ran it died"}})
			m.failAttempt(a.ref, lostError("the process that ran it died"))
		default:
			m.settleMember(a.ref)
			if a.gate == work && (a.request.Admission != nil || a.request.Agent != nil) {
				m.coldState(a.ref).begun = a.request.Attempt
			}
			m.repeatAttempt(a)
		}
	}
	m.repeatNotices()
	m.askAllPointsAgain()
}

func (m *Machine) poisonError() *event.Error {
	return &event.Error{Kind: event.Fatal, Reason: event.ReasonPoison, ExitCode: -1,
		Message: fmt.Sprintf("%d drivers in a row died while this attempt was in flight", m.deaths)}
}

// failsIfLost reports whether the file forbids repeating a lost attempt of the node.
func (m *Machine) failsIfLost(a *attempt) bool {
	return a.gate == work && m.node(a.ref).OnLost == ir.OnLostFail
}

// silence is how an attempt was lost alone, in the host's words if it has any.
func (m *Machine) silence(f *event.AttemptFinished) string {
	if f.Error != nil && f.Error.Message != "" {
		return f.Error.Message
	}
	return m.reason(silent)
}

func lostError(how string) *event.Error {
	return &event.Error{Kind: event.Transient, Reason: event.ReasonLost, ExitCode: -1, Message: how + "; what the attempt did is unknown"}
}

// dropAttempt forgets a live attempt that will not be answered.
func (m *Machine) dropAttempt(a *attempt) {
	m.live.remove(a)
	m.state(a.ref).live = nil
	m.returnHeld(a)
	m.settleStart(a, true)
	if a.request != nil && leavesOf(a.request) != "" {
		m.leavePoint(a)
	}
}
