package machine

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/slots"
)

// slotRequest asks for the slots of one attempt. Attempts of leaves alone hold slots.
type slotRequest struct {
	ref
	gate int // from 0, or work
}

// work as a gate number is the action itself.
const work = -1

type (
	slotLimiter = slots.Limiter[slotRequest]
	slotQueue   = slots.Queue[slotRequest]
)

// needsOrder reports whether attempts start in another order than that of becoming ready, or have
// other limiters than the run's. If not, each attempt starts as it comes. If so, slots are given
// away once all effects of an event are known, to the first of the requests that have room in all
// of their limiters.
func needsOrder(g *plan.Graph) bool {
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Ranked != plan.None || n.MaxConcurrency != nil {
			return true
		}
	}
	for i := range g.Program.Agents {
		if g.Program.Agents[i].Concurrency != nil {
			return true
		}
	}
	return false
}

// queueForSlots asks for a start as soon as all limiters have a slot.
func (m *Machine) queueForSlots(r ref, gate int) {
	s := m.state(r)
	if s.seq == 0 {
		if err := m.takePriority(r); err != nil {
			m.failNode(r, compose.EvaluationError("priority", err))
			return
		}
		m.queueSeq++
		s.seq = m.queueSeq
	}
	s.queued = true
	w := slots.Request[slotRequest]{Of: slotRequest{r, gate}, Seq: s.seq}
	if s.cold != nil {
		w.Priority = s.cold.priority
	}
	if m.left != nil {
		if w.Left = m.left[r.node]; s.status != event.Pending {
			w.Left = slots.Begun
		}
	}
	if !m.ordered {
		m.startOrPark(w)
		return
	}
	var buf [8]*slotLimiter
	key := slots.Key[slotRequest]{Call: m.isCall(w.Of)}
	limits := m.groupLimiters(buf[:0], r)
	if len(limits) > 0 {
		key.Around = limits[0]
	}
	if key.Agent = m.agentLimiter(w.Of); key.Agent != nil && s.cold != nil && s.cold.refusal != nil {
		key.Agent = nil // the refused attempt kept that slot
	}
	if key.Agent != nil {
		limits = append(limits, key.Agent)
	}
	m.slots.Add(w, key, limits)
}

// startOrPark starts an attempt or parks it. Only runs without other limiters use it.
func (m *Machine) startOrPark(w slots.Request[slotRequest]) {
	if !m.isCall(w.Of) && !m.slots.TakeRun() {
		m.slots.Wait(w)
		return
	}
	m.state(w.Of.ref).queued = false
	m.startAttempt(w.Of)
}

// returnSlots frees the slots of an attempt.
func (m *Machine) returnSlots(r ref, gate int) {
	w := slotRequest{r, gate}
	if !m.isCall(w) && m.slots.ReturnRun() {
		m.agenda.push(task{do: doStartParked})
	}
	if !m.ordered {
		return
	}
	var buf [8]*slotLimiter
	for _, l := range m.groupLimiters(buf[:0], r) {
		m.slots.Return(l)
	}
	if l := m.agentLimiter(w); l != nil {
		m.slots.Return(l)
	}
}

// returnSharedSlots frees the slots of an attempt of an agent, but for the agent's.
func (m *Machine) returnSharedSlots(r ref) {
	if m.slots.ReturnRun() {
		m.agenda.push(task{do: doStartParked})
	}
	var buf [8]*slotLimiter
	for _, l := range m.groupLimiters(buf[:0], r) {
		m.slots.Return(l)
	}
}

// startParked starts parked attempts while the run has free slots.
func (m *Machine) startParked() {
	for {
		w, ok := m.slots.NextParked()
		if !ok {
			return
		}
		if m.stillQueued(w.Of) {
			m.startOrPark(w)
		}
	}
}

// startNext looks at the first class of requests and starts its first attempt, if that has its
// slots. It reports whether there was a class to look at.
func (m *Machine) startNext() (more bool) {
	w, picked, more := m.slots.Pick(m.stillQueued)
	if picked {
		m.state(w.Of.ref).queued = false
		m.startAttempt(w.Of)
	}
	return more
}

// stillQueued reports whether a request still waits. A stop ends nodes that wait for slots.
func (m *Machine) stillQueued(w slotRequest) bool { return m.state(w.ref).queued && !m.isHalted(w.ref) }

// groupLimiters lists the limiters of the groups and for_each around a node, from the innermost
// out.
func (m *Machine) groupLimiters(list []*slotLimiter, r ref) []*slotLimiter {
	for ; r.node != plan.None; r = m.parent(r) {
		if d := m.state(r).liveState; d != nil && d.groupState != nil && d.limit != nil {
			list = append(list, d.limit)
		}
	}
	return list
}

// agentLimiter is the limiter of the agent that makes an attempt; nil if there is none. Gates do
// not count against an agent.
func (m *Machine) agentLimiter(w slotRequest) *slotLimiter {
	var a *ir.Agent
	if w.gate == work {
		a = m.agentOf(w.ref)
	}
	if a == nil {
		return nil
	}
	return m.agents[a.Name]
}

// takePriority computes the priority of a node, once: its own, or that of the nearest group around
// it that has one.
func (m *Machine) takePriority(r ref) error {
	at, ranked := r, m.node(r).Ranked
	if ranked == plan.None {
		return nil
	}
	for at.node != ranked {
		at = m.parent(at)
	}
	v, err := m.composer.Value(m.node(at).Priority, m.newScope(at))
	if err == nil {
		m.coldState(r).priority, err = slots.Priority(v)
	}
	return err
}
