package machine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// A group, a call or the run can hold units of quotas for as long as it lasts. An attempt of the kind
// hold takes them: the host answers OK when all of them are granted, and the machine gives them back
// with a cancel of the ticket. Nothing is released inside before the first grant.
//
// A new driver holds nothing: the machine asks again for each hold. Until the grant, no attempt starts
// inside of it, and the attempts and calls that were in flight there are not repeated. What already
// waits inside, such as a timer or a sync step, goes on waiting.
//
// Nothing waits in a circle: a call has its slots before it asks, and nothing else that asks, or waits
// for what it lies in, keeps slots.

// hold is what a group, a call or the run (node None) holds of quotas, or asks for.
type hold struct {
	ref
	request   *event.Attempt
	held      bool         // the present driver was granted it
	ever      bool         // a driver was granted it: what lies inside has begun
	granted   bool         // the grant came before the refusal
	refused   bool         // it waits for its grant
	suspended bool         // it is not asked for until what is around it is held
	shown     event.Status // Waiting where the wait was shown
	timer     uint64
	slots     bool          // of a call: it keeps its slots while it asks
	waiting   []slotRequest // attempts inside that found it not held
}

// holdOf returns the hold of a node, or of the run; nil if there is none.
func (m *Machine) holdOf(r ref) *hold {
	if r.node == plan.None {
		return m.hold
	}
	if d := m.state(r).liveState; d != nil && d.cold != nil {
		return d.cold.hold
	}
	return nil
}

// barring returns the innermost hold at or around a node that the present driver was not granted; nil
// if the node may go on.
func (m *Machine) barring(r ref) *hold {
	if len(m.holds) == 0 {
		return nil
	}
	for ; ; r = m.parent(r) {
		if h := m.holdOf(r); h != nil && !h.held {
			return h
		}
		if r.node == plan.None {
			return nil
		}
	}
}

// heldAround lists the quotas that are held at or around a node, in this run or in those above it, by
// name.
func (m *Machine) heldAround(r ref) []string {
	names := slices.Clone(m.run.Held)
	for ; ; r = m.parent(r) {
		if h := m.holdOf(r); h != nil {
			for i := range h.request.Admission.Needs {
				names = append(names, h.request.Admission.Needs[i].Name)
			}
		}
		if r.node == plan.None {
			slices.Sort(names)
			return slices.Compact(names)
		}
	}
}

// takeHold asks for what a group, a call or the run takes of quotas. It reports false if there is
// nothing to ask for: what is around it holds it already.
func (m *Machine) takeHold(r ref, uses []ir.QuotaUse) (asks bool, err *event.Error) {
	if len(uses) == 0 {
		return false, nil
	}
	needs, err := m.quotaNeeds(r, uses, nil)
	if err != nil {
		return false, err
	}
	needs = slices.DeleteFunc(needs, func(n event.Need) bool { return n.Units == 0 })
	if len(needs) == 0 {
		return false, nil
	}
	for i := range needs { // pace, health and spending belong to attempts
		needs[i].Pace, needs[i].Breaker, needs[i].Spending = nil, nil, nil
	}
	a := &event.Admission{Needs: needs}
	h := &hold{ref: r}
	name, generation := "", 0
	if r.node == plan.None {
		m.hold, h.shown = h, event.Running
	} else {
		if err := m.takePriority(r); err != nil {
			return false, compose.EvaluationError("priority", err)
		}
		x := m.coldState(r)
		x.hold, a.Priority, name, generation = h, int(x.priority), m.node(r).Name, x.generation
	}
	h.request = m.composer.Hold(m.path(r), name, generation, a)
	m.askHold(h)
	return true, nil
}

// askHold asks for a hold with a new ticket.
func (m *Machine) askHold(h *hold) {
	delete(m.holds, h.request.Ticket)
	m.cancelTimer(&h.timer)
	request := *h.request // commands keep the one before
	m.tickets++
	request.Ticket = m.tickets
	h.request, h.held, h.granted, h.refused, h.suspended = &request, false, false, false, false
	if m.holds == nil {
		m.holds = map[uint64]*hold{}
	}
	m.holds[request.Ticket] = h
	m.addCommand(event.Command{Start: h.request})
}

// askAllHolds asks again for all holds: those of the driver before are gone. What lies inside of another
// hold comes after it, in the order of declaration. What had begun comes first.
func (m *Machine) askAllHolds() {
	tickets := slices.Sorted(maps.Keys(m.holds))
	for _, ticket := range tickets {
		m.holds[ticket].held = false
	}
	for _, begun := range []bool{true, false} {
		for _, ticket := range tickets {
			switch h := m.holds[ticket]; {
			case h == nil || h.ever != begun:
			case m.mayAsk(h):
				m.askHold(h)
			case !h.suspended:
				h.suspended = true
				m.cancelTimer(&h.timer)
				m.withdrawHold(h, behindHold)
			}
		}
	}
}

func (m *Machine) withdrawHold(h *hold, why string) {
	m.addCommand(event.Command{Cancel: &event.CancelAttempt{Ticket: h.request.Ticket, Node: h.request.Node, Reason: why}})
}

// holdAnswered takes the host's answer to a hold.
func (m *Machine) holdAnswered(h *hold, f *event.AttemptFinished) {
	switch {
	case h.held:
	case f.Outcome == event.OK:
		m.enterHold(h)
	case f.Outcome == event.Failed:
		m.failHold(h, failureError(f))
	case f.Outcome == event.Lost || h.granted:
		m.askHold(h)
	default:
		h.refused = true
		m.showHold(h, event.Waiting, m.waitFor(h.request, f))
		if f.Error != nil && f.Error.RetryAfter > 0 {
			_, ask := m.retryMoments(f.Error)
			h.timer = m.newTimer(h.ref, ask, event.TimerRefused)
		}
	}
}

// grantHold takes the host's word that a refused hold may be asked for again.
func (m *Machine) grantHold(h *hold) {
	if h.held || !h.refused {
		h.granted = true
		return
	}
	m.askHold(h)
}

// showHold shows that a group, a call or the run waits for what it holds, or goes on.
func (m *Machine) showHold(h *hold, to event.Status, wait *event.WaitsFor) {
	reason := ""
	if wait != nil {
		reason = string(wait.Kind)
	}
	if h.node == plan.None {
		m.showTransition(event.Transition{From: h.shown, To: to, Reason: reason, WaitsFor: wait})
		h.shown = to
		return
	}
	n, s, d := m.node(h.ref), m.state(h.ref), m.liveState(h.ref)
	from := s.status
	s.status, h.shown = to, to
	m.showTransition(event.Transition{Node: d.path, From: from, To: to, Attempt: d.attempts, Name: n.Name, Kind: string(n.Kind),
		Reason: reason, WaitsFor: wait})
}

// enterHold goes on with what a hold is for.
func (m *Machine) enterHold(h *hold) {
	m.cancelTimer(&h.timer)
	h.held = true
	first := !h.ever
	h.ever = true
	if h.node != plan.None && m.node(h.ref).Kind == ir.Step {
		h.slots = false
		m.startChild(h.ref)
		return
	}
	begun := !m.behaviour[ir.HeldGroupsBegin] || h.node == plan.None || m.liveState(h.ref).started != 0
	if h.shown == event.Waiting && (!first || h.node == plan.None) && begun { // else its first node begins it
		m.showHold(h, event.Running, nil)
	}
	switch {
	case first && h.node == plan.None:
		m.agenda.push(task{do: doRelease, ref: h.ref})
	case first:
		m.openNode(h.ref)
	}
	m.askSuspendedHolds()
	if h.node != plan.None && m.delayedAttempt(h.ref) != nil { // the run that heals the group
		m.sendAgain(m.delayedAttempt(h.ref))
	}
	waiting := h.waiting
	h.waiting = nil
	m.goOnInside(waiting)
}

// askSuspendedHolds asks for the holds that came after another one around them, and need not any more.
func (m *Machine) askSuspendedHolds() {
	for _, ticket := range slices.Sorted(maps.Keys(m.holds)) {
		if h := m.holds[ticket]; h.suspended && m.mayAsk(h) {
			m.askHold(h)
		}
	}
}

// goOnInside goes on with attempts that waited for a hold around them.
func (m *Machine) goOnInside(waiting []slotRequest) {
	for _, w := range waiting {
		switch a := m.delayedAttempt(w.ref); {
		case w.gate == undone && a != nil:
			m.sendAgain(a)
		case w.gate == undone:
			m.toUndo = append(m.toUndo, w.ref)
			m.agenda.push(task{do: doEnd})
		case !m.state(w.ref).status.Terminal():
			m.queueForSlots(w.ref, w.gate)
		}
	}
}

// mayAsk reports whether a hold can be asked for: what is around it is held, and a call has its slots.
func (m *Machine) mayAsk(h *hold) bool {
	if h.node == plan.None {
		return true
	}
	return m.barring(m.parent(h.ref)) == nil && (m.node(h.ref).Kind != ir.Step || h.slots)
}

// repeatAttempt starts an attempt or a call again that was in flight when the driver changed. One that
// has to wait for the hold around it gives its slots back, because whatever has the hold may need them.
// It gets a new ticket: an earlier event of this batch may have started it with the old one, and that
// start is cancelled.
func (m *Machine) repeatAttempt(a *attempt) {
	if a.delayed {
		return
	}
	// It only ends, waits at a sync point, or is the run of a rule of adapt, which nothing holds back.
	if a.cancelled || a.rule != nil || a.child == nil && leavesOf(a.request) != "" {
		m.sendAgain(a)
		return
	}
	h := m.barring(m.parent(a.ref))
	if h == nil && a.child != nil {
		h = m.barring(a.ref) // the call's own: it keeps its slots meanwhile
		if h != nil {
			a.delayed, h.slots = true, m.node(a.ref).Kind == ir.Step
			if h.suspended {
				m.askHold(h)
			}
			return
		}
	}
	if h == nil {
		m.sendAgain(a)
		return
	}
	a.delayed = true
	h.waiting = append(h.waiting, slotRequest{a.ref, a.gate})
	if a.gate != undone {
		a.free = true
		m.returnSlots(a.ref, a.gate)
	}
	if a.child == nil {
		m.addCommand(event.Command{Cancel: &event.CancelAttempt{Ticket: a.request.Ticket, Node: a.request.Node, Reason: behindHold}})
		request := *a.request
		m.tickets++
		request.Ticket = m.tickets
		delete(m.live.by, a.request.Ticket)
		a.request, m.live.by[request.Ticket] = &request, a
	}
}

const behindHold = "waits for what is around it"

func (m *Machine) sendAgain(a *attempt) {
	a.delayed = false
	if a.child == nil {
		m.addCommand(event.Command{Start: a.request})
		return
	}
	m.addCommand(event.Command{StartChild: a.child})
	if a.cancelled {
		m.addCommand(event.Command{CancelChild: &event.CancelChild{Run: a.child.Run, Node: a.child.Node, Now: a.now}})
	}
}

// delayedAttempt returns the attempt of a node that waits to be sent again; nil if there is none.
func (m *Machine) delayedAttempt(r ref) *attempt {
	if a := m.liveState(r).live; a != nil && a.delayed {
		return a
	}
	return nil
}

// forgetDelayed takes a node out of the lists of those that wait for a hold.
func (m *Machine) forgetDelayed(r ref) {
	m.setQueued(m.state(r), false)
	for _, h := range m.holds { // any order: each for itself
		h.waiting = slices.DeleteFunc(h.waiting, func(w slotRequest) bool { return w.ref == r })
	}
}

// holdForCall takes what a call holds, once it has its slots: others that have such slots may wait for
// what it would hold. It reports whether the call has to wait.
func (m *Machine) holdForCall(r ref) (waits bool) {
	n := m.node(r)
	if h := m.holdOf(r); h != nil {
		if !h.held {
			h.slots = true
			m.askHold(h)
		}
		return !h.held
	}
	asks, err := m.takeHold(r, n.Quotas)
	if err != nil {
		m.returnSlots(r, work)
		m.failNode(r, err)
	}
	if asks {
		m.holdOf(r).slots = true
	}
	return asks || err != nil
}

// waitForHold parks an attempt that has its slots until the hold around it is granted.
func (m *Machine) waitForHold(h *hold, w slotRequest) {
	m.returnSlots(w.ref, w.gate)
	if ticket := m.liveState(w.ref).beginAdmitted(); ticket != 0 {
		m.withdrawRefused(w.ref, ticket, "waits for what is around it")
	}
	h.waiting = append(h.waiting, w)
}

// failHold fails what a hold is for.
func (m *Machine) failHold(h *hold, err *event.Error) {
	switch {
	case h.node == plan.None:
		m.stopPhase(&phaseStop{status: event.FailedS, err: err, reason: err.Message})
		m.releaseHold(h.ref)
	case h.ever && m.node(h.ref).Kind != ir.Step:
		m.failAfterChildren(h.ref, err)
	default:
		m.failNode(h.ref, err)
	}
}

// releaseHold gives back what a group, a call or the run holds, and returns what waited for it inside.
func (m *Machine) releaseHold(r ref) (waiting []slotRequest) {
	h := m.holdOf(r)
	if h == nil {
		return nil
	}
	if r.node == plan.None {
		m.hold = nil
	} else {
		m.state(r).cold.hold = nil
	}
	m.cancelTimer(&h.timer)
	delete(m.holds, h.request.Ticket)
	why := "the run has ended"
	if r.node != plan.None {
		why = fmt.Sprintf("%q has ended", h.request.Node)
	}
	m.withdrawHold(h, why)
	if h.slots {
		h.slots = false
		m.returnSlots(r, work)
	}
	return h.waiting
}

// letGo goes on with what waited for the hold of a node that has ended: what is detached inside of a group.
func (m *Machine) letGo(r ref, waiting []slotRequest) {
	if !m.behaviour[ir.EndedGroupsLetGo] {
		return
	}
	if around := m.barring(m.parent(r)); around != nil {
		around.waiting = append(around.waiting, waiting...)
		return
	}
	m.askSuspendedHolds()
	m.goOnInside(waiting)
}
