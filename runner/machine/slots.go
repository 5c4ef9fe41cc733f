package machine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/policy"
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
		if a := &g.Program.Agents[i]; a.Concurrency != nil || a.Resources != nil && a.Resources.Priority != nil {
			return true
		}
	}
	return newPools(g).chooses() || g.Adapts()
}

// isSlotless reports whether a request needs no slot at all: the host answers it from what runs share, it is the run of a workflow that
// heals, or it is a task for a person.
func (m *Machine) isSlotless(w slotRequest) bool {
	return w.gate == healing || w.gate == work && (m.node(w.ref).Action.Kind().Course() == ir.Stored || m.isForPerson(w.ref))
}

// maxKV is how many kv operations of a run are under way at once at most: as many as two batches of the journal have room for, so that the host
// carries out the operations of one while the machine takes the answers of the other.
const maxKV = 2048

// newKVQueue makes the queue of the kv operations of a run.
func newKVQueue(rules ir.Rules) *slotQueue {
	capacity := math.MaxInt
	if rules[ir.BoundedKV] {
		capacity = maxKV
	}
	q := slots.NewQueue[slotRequest]()
	q.SetRun(slots.NewLimiter[slotRequest](capacity))
	return q
}

// isKV reports whether a request is that of a kv operation.
func (m *Machine) isKV(w slotRequest) bool {
	return w.gate == work && m.node(w.ref).Action.Kind() == ir.KVAction
}

// isForPerson reports whether the agent of a step is a person. A step for which a pool has yet to choose has no agent.
func (m *Machine) isForPerson(r ref) bool {
	g := m.agentOf(r)
	return g != nil && g.Type == ir.AgentHuman
}

// queueForSlots asks for a start as soon as all limiters have a slot.
func (m *Machine) queueForSlots(r ref, gate int) {
	s := m.state(r)
	if of := (slotRequest{r, gate}); m.isSlotless(of) {
		if m.isKV(of) && !m.kv.TakeRun() {
			m.queueSeq++
			m.setQueued(s, true)
			m.kv.Wait(slots.Request[slotRequest]{Of: of, Seq: m.queueSeq})
			return
		}
		m.startAttempt(of)
		return
	}
	if s.seq == 0 {
		if err := m.takePriority(r); err != nil {
			m.failNode(r, compose.EvaluationError("priority", err))
			return
		}
		m.queueSeq++
		s.seq = m.queueSeq
	}
	m.setQueued(s, true)
	w := slots.Request[slotRequest]{Of: slotRequest{r, gate}, Seq: s.seq}
	if s.cold != nil {
		w.Priority = s.cold.priority
	}
	if m.delayedAttempt(r) != nil { // it goes on before anything else starts: a call has done a part of its work
		w.Priority = math.MaxInt16
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
	if key.Agent = m.agentLimiter(w.Of); key.Agent != nil && s.cold != nil && s.cold.refusal != nil && s.cold.refusal.kept {
		key.Agent = nil // the refused attempt kept that slot
	}
	if key.Agent != nil {
		limits = append(limits, key.Agent)
	}
	if gate == work && m.awaitsMember(r) {
		key.Choice = m.openChoice(r)
	}
	m.slots.Add(w, key, limits)
}

// startOrPark starts an attempt or parks it. Only runs without other limiters use it.
func (m *Machine) startOrPark(w slots.Request[slotRequest]) {
	if !m.isCall(w.Of) && !m.slots.TakeRun() {
		m.slots.Wait(w)
		return
	}
	m.setQueued(m.state(w.Of.ref), false)
	m.startAttempt(w.Of)
}

// returnHeld frees what a live attempt holds.
func (m *Machine) returnHeld(a *attempt) {
	switch {
	case a.person:
		if l := m.agentLimiter(slotRequest{a.ref, work}); l != nil { // askTask has taken it
			m.slots.Return(l)
		}
	case a.gate != undone && !a.free:
		m.returnSlots(a.ref, a.gate)
	}
}

// returnSlots frees the slots of an attempt.
func (m *Machine) returnSlots(r ref, gate int) {
	w := slotRequest{r, gate}
	if m.isSlotless(w) {
		if m.isKV(w) && m.kv.ReturnRun() {
			m.agenda.push(task{do: doStartParked})
		}
		return
	}
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

// startParked starts parked attempts while there are free slots for them.
func (m *Machine) startParked() {
	for _, q := range []*slotQueue{m.kv, m.slots} {
		for w, ok := q.NextParked(); ok; w, ok = q.NextParked() {
			if m.stillQueued(w.Of) {
				q.TakeRun()
				m.setQueued(m.state(w.Of.ref), false)
				m.startAttempt(w.Of)
			}
		}
	}
}

// startNext looks at the first class of requests and starts its first attempt, if that has its
// slots. It reports whether there was a class to look at.
func (m *Machine) startNext() (more bool) {
	w, picked, more := m.slots.Pick(m.stillQueued, m.wouldChoosePerson)
	if picked {
		if w.Of.gate == work && m.awaitsMember(w.Of.ref) {
			m.chooseMember(w.Of.ref)
		}
		m.setQueued(m.state(w.Of.ref), false)
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

// agentLimiter is the limiter of the agent that makes an attempt; nil if there is none. The program
// of a gate does not count against an agent; a review counts against its judge.
func (m *Machine) agentLimiter(w slotRequest) *slotLimiter {
	var a *ir.Agent
	if w.gate == work {
		a = m.agentOf(w.ref)
	} else if j := m.liveState(w.ref).judgingOf(); j != nil {
		a = j.agent
	}
	if a == nil {
		return nil
	}
	return m.agents[a.Name]
}

// takePriority computes the priority of a node, once: its own, that of the nearest group around it
// that has one, or that of its agent.
func (m *Machine) takePriority(r ref) error {
	at, ranked := r, m.node(r).Ranked
	if ranked == plan.None {
		g := m.agentOf(r)
		if g == nil || g.Resources == nil || g.Resources.Priority == nil {
			return nil
		}
		v, err := m.composer.Value(g.Resources.Priority, m.composer.Constants())
		if err == nil {
			m.coldState(r).priority, err = slots.Priority(v)
		}
		return err
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

// The host may refuse an attempt, because its agent does as many tasks as it may in other runs of
// the store, a quota has too few free units, a rate limit allows no start now, or a breaker is open.
// Nothing has begun then: the number of the attempt, its key, retries and rules do not see the
// refusal. The node waits without a slot of the run or of a group, and asks again when the host
// grants the attempt, at the moment that the refusal named, or when another process drives the run.
// An open breaker alone can also send the node elsewhere: see leaveBroken.
//
// In the limiter of the agent the node keeps its slot, so that a run stands in the line of the
// store with as many attempts as the agent may do at once, and not with all instances of a
// for_each. A node that takes units of quotas gives the slot back: whatever holds these units may
// need the slot.

// refusal is the wait of a node between the refusal of its attempt and the start of the next one.
// ticket is that of the refused attempt, 0 if the attempt has left the line of the store. kept tells
// that the node keeps its slot in the limiter of the agent. turn is set if the node asks the other
// members of its pool when its timer fires.
type refusal struct {
	ticket     uint64
	kept, turn bool
}

// admissionOf is what an attempt of a node needs of the store: the quotas of the step, own, and of its
// agent, in the order of their declaration, then the agent. It is nil if there is no such need. A
// null agent does nothing that could be too much.
func (m *Machine) admissionOf(r ref, own []ir.QuotaUse, g *ir.Agent) (*event.Admission, *event.Error) {
	var needs []event.Need
	if len(own) > 0 || g != nil && len(g.Quotas) > 0 {
		var err *event.Error
		if needs, err = m.quotaNeeds(r, own, g); err != nil {
			return nil, err
		}
	}
	if g != nil {
		need, err := m.agentNeed(g)
		if err != nil {
			return nil, err
		}
		if need.Units > 0 || need.Pace != nil || need.Breaker != nil {
			needs = append(needs, need)
		}
	}
	if needs == nil {
		return nil, nil
	}
	a := &event.Admission{Needs: needs}
	if x := m.liveState(r).cold; x != nil {
		a.Priority = int(x.priority)
	}
	return a, nil
}

// agentNeed is what each attempt of an agent needs of the agent.
func (m *Machine) agentNeed(g *ir.Agent) (need event.Need, err *event.Error) {
	if g.RateLimit != nil || g.Breaker != nil {
		need, err = m.sharedNeed(event.NeedAgent, g.Name, func() (event.Need, *event.Error) { return m.composer.AgentNeed(g) })
	} else {
		need = event.Need{Kind: event.NeedAgent, Name: g.Name}
	}
	if l := m.agents[g.Name]; l != nil && g.Concurrency != nil && g.Type != ir.AgentNull {
		need.Units, need.Capacity = 1, l.Capacity()
	}
	return need, err
}

// quotaNeeds is what an attempt takes of quotas. What the step says counts before what its agent says.
// Units of a quota that is held around it are not taken again.
func (m *Machine) quotaNeeds(r ref, own []ir.QuotaUse, g *ir.Agent) (needs []event.Need, err *event.Error) {
	held := m.heldAround(r)
	for i := range m.graph.Program.Quotas {
		q := &m.graph.Program.Quotas[i]
		use := findUse(own, q.Name)
		if use == nil && g != nil {
			use = findUse(g.Quotas, q.Name)
		}
		if use == nil {
			continue
		}
		need, err := m.sharedNeed(event.NeedQuota, q.Name, func() (event.Need, *event.Error) { return m.composer.QuotaNeed(q) })
		if err != nil {
			return nil, err
		}
		if need.Units, err = m.composer.Units(use, need.Capacity, m.newScope(r)); err != nil {
			return nil, err
		}
		if slices.Contains(held, q.Name) {
			need.Units = 0
		}
		if need.Units > 0 || need.Pace != nil || need.Breaker != nil || need.Spending != nil {
			needs = append(needs, need)
		}
	}
	return needs, nil
}

func findUse(uses []ir.QuotaUse, quota string) *ir.QuotaUse {
	for i := range uses {
		if uses[i].Quota == quota {
			return &uses[i]
		}
	}
	return nil
}

// sharedNeed computes what is the same for all attempts of the run, once.
func (m *Machine) sharedNeed(kind event.NeedKind, name string, compute func() (event.Need, *event.Error)) (event.Need, *event.Error) {
	of := event.Need{Kind: kind, Name: name}
	if need, known := m.needs[of]; known {
		return need, nil
	}
	need, err := compute()
	if err == nil {
		if m.needs == nil {
			m.needs = map[event.Need]event.Need{}
		}
		m.needs[of] = need
	}
	return need, err
}

// isRefused reports whether an answer leaves its node waiting for admission. An agent that was stopped refuses attempts that
// need no admission, too.
func (m *Machine) isRefused(a *attempt, f *event.AttemptFinished) bool {
	return f.Outcome == event.Refused && a.request != nil && (a.request.Admission != nil || a.request.Agent != nil) && !a.cancelled && !m.isHalted(a.ref)
}

// refuseAttempt puts a node with a refused attempt back to its state before the attempt, and lets it wait or go elsewhere. The
// node keeps its place in the line.
func (m *Machine) refuseAttempt(a *attempt, f *event.AttemptFinished) {
	d := m.liveState(a.ref)
	if a.gate != work {
		d.cold.judging.waits = true
	} else if d.attempts--; d.attempts == 0 && (d.cold == nil || d.cold.begun != a.request.Attempt) { // it cannot have begun
		m.forgetCompensation(a.ref)
	}
	m.settleStart(a, false)
	if !a.granted && a.gate == work {
		asks, busy := m.askOtherMember(a, f)
		if asks || !busy && f.Error != nil && f.Error.Reason == event.ReasonBreaker && m.leaveBroken(a, f) {
			return
		}
	}
	kept := !takesUnits(a.request.Admission)
	if kept {
		m.returnSharedSlots(a.ref)
	} else {
		m.returnSlots(a.ref, a.gate)
	}
	m.coldState(a.ref).refusal = &refusal{ticket: a.request.Ticket, kept: kept}
	ask := m.showRefusal(a, f)
	if turn := m.nextTurn(a.ref, f); turn != 0 && a.gate == work {
		m.coldState(a.ref).refusal.turn = true
		if ask == 0 || turn < ask {
			ask = turn
		}
	}
	if a.granted {
		m.queueAttempt(a.ref)
		m.granted = append(m.granted, a.ref)
		return
	}
	if m.refused == nil {
		m.refused = map[uint64]ref{}
	}
	m.refused[a.request.Ticket] = a.ref
	if ask != 0 {
		m.setTimer(a.ref, ask, event.TimerRefused)
	}
}

// takesUnits reports whether an attempt needs units of a quota.
func takesUnits(a *event.Admission) bool {
	return a != nil && slices.ContainsFunc(a.Needs, func(n event.Need) bool { return n.Kind == event.NeedQuota && n.Units > 0 })
}

// showRefusal shows that a node waits for admission. It returns when the node has to ask again; 0 if
// only a grant ends the wait.
func (m *Machine) showRefusal(a *attempt, f *event.AttemptFinished) (ask event.Time) {
	n, s, d := m.node(a.ref), m.state(a.ref), m.liveState(a.ref)
	wait := m.waitFor(a.request, f)
	if wait.Until != 0 {
		_, ask = m.retryMoments(f.Error)
	}
	from := s.status
	s.status = event.Waiting
	m.showTransition(event.Transition{Node: d.path, From: from, To: event.Waiting, Attempt: d.attempts, Name: n.Name, Kind: string(n.Kind),
		Reason: string(wait.Kind), WaitsFor: wait})
	return ask
}

// firstNeed names the first thing that an attempt needs.
func firstNeed(request *event.Attempt) string {
	if request.Admission == nil {
		return request.Agent.Name
	}
	return request.Admission.Needs[0].Name
}

// waitFor is what a refused attempt waits for.
func (m *Machine) waitFor(request *event.Attempt, f *event.AttemptFinished) *event.WaitsFor {
	wait := &event.WaitsFor{Kind: event.WaitBusy, Name: f.Resource}
	if wait.Name == "" {
		wait.Name = firstNeed(request)
	}
	if f.Error != nil {
		if wait.Kind = waitKind(f.Error.Reason); f.Error.RetryAfter > 0 {
			wait.Until, _ = m.retryMoments(f.Error)
		}
	}
	return wait
}

// waitKind says what a node waits for that was refused for a reason.
func waitKind(r event.Reason) event.WaitKind {
	for _, kind := range event.WaitKinds {
		if string(kind) == string(r) {
			return kind
		}
	}
	return event.WaitBusy
}

// retryMoments returns the moment that an error names, and when the node asks again: then, or after
// an hour, if that is earlier.
func (m *Machine) retryMoments(err *event.Error) (until, ask event.Time) {
	const micro = float64(time.Second / time.Microsecond)
	after := time.Duration(math.Ceil(min(err.RetryAfter, value.MaxDuration.Seconds())*micro)) * time.Microsecond
	return m.now.Add(after), m.now.Add(min(after, policy.MaxRetryAfter))
}

// leaveBroken takes a node away from an open breaker: to the next agent of its list, or to the end if
// the file tolerates its failure. It reports false if the node has to wait. It has to where an attempt was lost that may have
// begun: the same work is repeated then, by the same agent.
func (m *Machine) leaveBroken(a *attempt, f *event.AttemptFinished) bool {
	n := m.node(a.ref)
	tolerated := n.Degrade != nil || n.OnError == ir.OnErrorContinue
	if !m.hasFallback(a.ref) && !tolerated || m.coldState(a.ref).begun == a.request.Attempt {
		return false
	}
	m.returnSlots(a.ref, work)
	m.withdrawRefused(a.ref, a.request.Ticket, leftLine)
	name := f.Resource
	if name == "" {
		name = firstNeed(a.request)
	}
	why := fmt.Sprintf("the circuit breaker of %q is open", name)
	if m.hasFallback(a.ref) {
		m.fallBack(a.ref, why)
		return true
	}
	m.failWork(a.ref, &event.Error{Kind: event.Transient, Reason: event.ReasonBreaker, Message: why, ExitCode: -1})
	return true
}

// grantAttempt takes the host's word that a refused attempt may start. The grant may come before
// the refusal. One for a ticket that is neither live nor refused changes nothing.
func (m *Machine) grantAttempt(x *event.External) {
	number, ok := x.Data.(float64)
	if !ok || number < 0 || number > float64(m.tickets) {
		return
	}
	ticket := uint64(number)
	if h := m.holds[ticket]; h != nil && h.request.Node == x.Node {
		m.grantHold(h)
	} else if r, waits := m.meeting[ticket]; waits && m.liveState(r).path == x.Node {
		m.askPointAgain(r)
	} else if r, waits := m.refused[ticket]; waits && m.liveState(r).path == x.Node {
		m.askAgain(ticket, r)
	} else if a := m.live.by[ticket]; a != nil && a.request.Node == x.Node {
		a.granted = true
	}
}

// askAgain makes the attempt that was refused once more, if it finds its slots now.
func (m *Machine) askAgain(ticket uint64, r ref) {
	m.queueRefused(ticket, r)
	m.granted = append(m.granted, r)
}

func (m *Machine) queueRefused(ticket uint64, r ref) {
	delete(m.refused, ticket)
	m.cancelWorkTimer(m.liveState(r))
	m.queueAttempt(r)
}

// returnGrants gives back the grants of attempts that have found no slots, when the reaction to an
// event is otherwise complete. A node must not hold a grant while it waits for slots: the slots may
// be those of a called run that waits for the same grant. The attempt asks again when it has its
// slots.
func (m *Machine) returnGrants() {
	for _, r := range m.granted {
		if !m.state(r).queued {
			continue
		}
		if x := m.liveState(r).cold.refusal; x != nil && x.ticket != 0 {
			m.withdrawRefused(r, x.ticket, "has no slot now")
			x.ticket = 0
		}
	}
	m.granted = nil
}

// askAllAgain asks for all refused attempts: the line forgot them with the driver that stood in it.
func (m *Machine) askAllAgain() {
	for _, ticket := range slices.Sorted(maps.Keys(m.refused)) {
		m.queueRefused(ticket, m.refused[ticket])
	}
}

// beginAdmitted ends a node's wait for admission when its next attempt has all slots. It returns
// the ticket of the refused attempt; 0 if none stands in the line.
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
	kept := d.cold.refusal.kept
	ticket := d.beginAdmitted()
	delete(m.refused, ticket)
	if l := m.agentLimiter(slotRequest{r, d.nextGate()}); l != nil && kept {
		m.slots.Return(l)
	}
	if ticket != 0 {
		m.withdrawRefused(r, ticket, leftLine)
	}
}

// leftLine is why a node withdraws a refused attempt that it does not want any more.
const leftLine = "does not wait for it any more"

// withdrawRefused takes a refused attempt out of the line of the store, or gives its grant back.
func (m *Machine) withdrawRefused(r ref, ticket uint64, why string) {
	path := m.liveState(r).path
	m.addCommand(event.Command{Cancel: &event.CancelAttempt{Ticket: ticket, Node: path, Reason: fmt.Sprintf("%q %s", path, why)}})
}
