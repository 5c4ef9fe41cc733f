package machine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/policy"
)

// The host may refuse an attempt, because its agent does as many tasks as it may in other runs of
// the store. Nothing has begun then: the number of the attempt, its key, retries and rules do not
// see the refusal. The node waits without a slot of the run or of a group, and asks again when the
// host grants the attempt, at the moment that the refusal named, or when another process drives
// the run.
//
// In the limiter of the agent the node keeps its slot, so that a run stands in the line of the
// store with as many attempts as the agent may do at once, and not with all instances of a
// for_each.

// refusal is the wait of a node between the refusal of its attempt and the start of the next one.
type refusal struct{ ticket uint64 }

// admissionOf is what an attempt of an agent needs of the store; nil where the agent's concurrency
// is not bounded. A null agent does nothing that could be too much.
func (m *Machine) admissionOf(r ref, g *ir.Agent) *event.Admission {
	l := m.agents[g.Name]
	if l == nil || g.Type == ir.AgentNull {
		return nil
	}
	a := &event.Admission{Needs: []event.Need{{Kind: event.NeedAgent, Name: g.Name, Units: 1, Capacity: l.Capacity()}}}
	if x := m.liveState(r).cold; x != nil {
		a.Priority = int(x.priority)
	}
	return a
}

// isRefused reports whether an answer leaves its node waiting for admission.
func (m *Machine) isRefused(a *attempt, f *event.AttemptFinished) bool {
	return f.Outcome == event.Refused && a.request != nil && a.request.Admission != nil && !a.cancelled && !m.isHalted(a.ref)
}

// waitForAdmission puts a node with a refused attempt back to its state before the attempt. The
// node keeps its place in the line.
func (m *Machine) waitForAdmission(a *attempt, f *event.AttemptFinished) {
	n, s, d := m.node(a.ref), m.state(a.ref), m.liveState(a.ref)
	m.returnSharedSlots(a.ref)
	if d.attempts--; d.attempts == 0 {
		m.forgetCompensation(a.ref)
	}
	m.coldState(a.ref).refusal = &refusal{ticket: a.request.Ticket}
	wait := &event.WaitsFor{Kind: event.WaitBusy, Name: a.request.Admission.Needs[0].Name}
	if f.Error != nil && f.Error.RetryAfter > 0 {
		wait.Until = m.now.Add(min(time.Duration(f.Error.RetryAfter*float64(time.Second)), policy.MaxRetryAfter))
	}
	from := s.status
	s.status = event.Waiting
	m.showTransition(event.Transition{Node: d.path, From: from, To: event.Waiting, Attempt: d.attempts, Name: n.Name, Kind: string(n.Kind),
		Reason: string(event.ReasonBusy), WaitsFor: wait})
	if a.granted {
		m.queueAttempt(a.ref)
		return
	}
	if m.refused == nil {
		m.refused = map[uint64]ref{}
	}
	m.refused[a.request.Ticket] = a.ref
	if wait.Until != 0 {
		m.setTimer(a.ref, wait.Until, event.TimerRefused)
	}
}

// grantAttempt takes the host's word that a refused attempt may start. The grant may come before
// the refusal. One for a ticket that is neither live nor refused changes nothing.
func (m *Machine) grantAttempt(x *event.External) {
	number, ok := x.Data.(float64)
	if !ok || number < 0 || number > float64(m.tickets) {
		return
	}
	ticket := uint64(number)
	if r, waits := m.refused[ticket]; waits && m.liveState(r).path == x.Node {
		m.askAgain(ticket, r)
	} else if a := m.live.by[ticket]; a != nil && a.request.Node == x.Node {
		a.granted = true
	}
}

// askAgain makes the attempt that was refused once more.
func (m *Machine) askAgain(ticket uint64, r ref) {
	delete(m.refused, ticket)
	m.cancelWorkTimer(m.liveState(r))
	m.queueAttempt(r)
}

// askAllAgain asks for all refused attempts: the line forgot them with the driver that stood in it.
func (m *Machine) askAllAgain() {
	for _, ticket := range slices.Sorted(maps.Keys(m.refused)) {
		m.askAgain(ticket, m.refused[ticket])
	}
}

// beginAdmitted ends a node's wait for admission when its next attempt has all slots. It returns
// the ticket of the refused attempt; 0 if there is none.
func (d *liveState) beginAdmitted() (ticket uint64) {
	if d.cold != nil && d.cold.refusal != nil {
		ticket, d.cold.refusal = d.cold.refusal.ticket, nil
	}
	return ticket
}

// leaveAdmission takes a node that ends out of the line, or gives its grant back.
func (m *Machine) leaveAdmission(r ref) {
	d := m.liveState(r)
	if d.cold == nil || d.cold.refusal == nil {
		return
	}
	ticket := d.beginAdmitted()
	delete(m.refused, ticket)
	if l := m.agentLimiter(slotRequest{r, work}); l != nil {
		m.slots.Return(l)
	}
	m.withdrawRefused(r, ticket)
}

// withdrawRefused tells the host that a refused attempt is not wanted any more.
func (m *Machine) withdrawRefused(r ref, ticket uint64) {
	m.addCommand(event.Command{Cancel: &event.CancelAttempt{Ticket: ticket, Node: m.liveState(r).path,
		Reason: fmt.Sprintf("%q does not wait for it any more", m.liveState(r).path)}})
}
