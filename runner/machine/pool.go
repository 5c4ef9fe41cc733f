package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/policy"
	"github.com/flowrun/flowrun/runner/slots"
)

// A step of a pool has no agent until it gets its slots: then the strategy of the pool chooses one of
// the members that have the capabilities of the step and a free place. If the strategy would choose a
// person, the step needs no slots and does not wait for them. The choice holds for the instance and
// iteration: retries, and attempts that were lost, go to the same member. It is made anew if the host
// refuses an attempt before anything has begun.

// pools is what a run knows of its pools. The zero value is that of a run whose steps name agents.
type pools struct {
	of      map[*plan.Pool]*circle
	members map[*ir.Agent]bool // of pools whose strategy chooses
	choices map[string]*slots.Choice[slotRequest]
}

// circle is the order in which members of a pool are asked where nothing else decides.
type circle struct {
	begun bool
	next  int // number of the member that is asked first
}

func newPools(g *plan.Graph) (p pools) {
	if len(g.Pools) == 0 {
		return p
	}
	p.of, p.members, p.choices = map[*plan.Pool]*circle{}, map[*ir.Agent]bool{}, map[string]*slots.Choice[slotRequest]{}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		for _, a := range slices.Concat([]*plan.Assignee{n.Own, n.Else}, n.Others, n.To()) {
			if a == nil || !a.Chooses() {
				continue
			}
			p.of[a.Pool] = &circle{}
			for _, member := range a.Pool.Members {
				p.members[member] = true
			}
		}
	}
	return p
}

// chooses reports whether a step of the run gives its task to a pool.
func (p pools) chooses() bool { return len(p.of) > 0 }

// shares reports whether an agent is a member of a pool that chooses.
func (p pools) shares(g *ir.Agent) bool { return p.members[g] }

// prepareAgent does what comes before a step with an agent or a pool queues: it finds the member that
// the step names, and makes the limiters of the agents. It fails the node and returns false if that
// cannot be done.
func (m *Machine) prepareAgent(r ref) bool {
	a := m.assigneeOf(r)
	if a == nil {
		return true
	}
	if a.Member != nil && !m.chooseNamed(r, a) {
		return false
	}
	if g := m.agentOf(r); g != nil {
		return m.ensureAgentLimiter(r, g)
	}
	for _, g := range a.Members {
		if !m.ensureAgentLimiter(r, g) {
			return false
		}
	}
	return true
}

// chooseNamed finds the member of a pool whose name an expression gives.
func (m *Machine) chooseNamed(r ref, a *plan.Assignee) bool {
	sc := m.newScope(r)
	if x := m.liveState(r).cold; x != nil && x.escalation != nil && x.escalation.to == a {
		sc = m.levelScope(r)
	}
	v, err := m.composer.Value(a.Member, sc)
	if err != nil {
		m.failWork(r, compose.EvaluationError("agent", err))
		return false
	}
	name, _ := v.(string) // the file was checked
	for _, g := range a.Members {
		if g.Name == name {
			m.coldState(r).chosen = g
			return true
		}
	}
	m.failWork(r, &event.Error{Kind: event.Blocking, Reason: event.ReasonNoMember, ExitCode: -1, Message: noMember(a, name)})
	return false
}

// noMember says why a pool has no member of a name for a step.
func noMember(a *plan.Assignee, name string) string {
	for _, g := range a.Pool.Members {
		if g.Name == name {
			return fmt.Sprintf("member %q of pool %q does not have the capabilities of the step", name, a.Pool.Name)
		}
	}
	names := make([]string, len(a.Members))
	for i, g := range a.Members {
		names[i] = g.Name
	}
	message := fmt.Sprintf("pool %q has no member %.80q", a.Pool.Name, name)
	if near := diag.Nearest(name, names); near != "" {
		return fmt.Sprintf("%s; did you mean %q?", message, near)
	}
	return fmt.Sprintf("%s; it has %.200s", message, strings.Join(names, ", "))
}

// takesOver names who has a step now.
func (m *Machine) takesOver(r ref) string {
	if g := m.agentOf(r); g != nil {
		return fmt.Sprintf("agent %q", g.Name)
	}
	return fmt.Sprintf("pool %q", m.assigneeOf(r).Pool.Name)
}

// awaitsMember reports whether the strategy of a pool has to choose who does a step.
func (m *Machine) awaitsMember(r ref) bool {
	a := m.assigneeOf(r)
	return a != nil && a.Chooses() && m.agentOf(r) == nil
}

// openMembers are the members that can be chosen for a step: those that have not refused it in this
// turn, but for the one that the step was taken from.
func (m *Machine) openMembers(r ref) []*ir.Agent {
	all := m.assigneeOf(r).Members
	x := m.liveState(r).cold
	if x == nil || len(x.passed) == 0 && (x.escalation == nil || x.escalation.failed == nil) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(g *ir.Agent) bool {
		return slices.Contains(x.passed, g) || x.escalation != nil && x.escalation.failed == g
	})
}

// openChoice returns the limiters of the members that can be chosen for a step, but for those of
// people. Equal sets of members of a pool are one choice, so that their requests stand in one class.
func (m *Machine) openChoice(r ref) *slots.Choice[slotRequest] {
	members := m.openMembers(r)
	var key strings.Builder
	key.WriteString(m.assigneeOf(r).Pool.Name)
	key.WriteByte(':')
	for _, g := range members {
		key.WriteString(g.Name)
		key.WriteByte(' ')
	}
	c := m.pools.choices[key.String()]
	if c == nil {
		c = &slots.Choice[slotRequest]{}
		for _, g := range members {
			if g.Type == ir.AgentHuman {
				c.Slotless = true
			} else {
				c.Of = append(c.Of, m.agents[g.Name])
			}
		}
		m.pools.choices[key.String()] = c
	}
	return c
}

// chooseMember chooses who does a step that has its other slots, and takes a slot of that member. A
// person needs none: askTask counts the task.
func (m *Machine) chooseMember(r ref) {
	all, next := m.assigneeOf(r).Pool.Members, m.nextMember(r)
	m.circleOf(m.assigneeOf(r).Pool).next = (next + 1) % len(all)
	if m.coldState(r).chosen = all[next]; !m.isForPerson(r) {
		m.slots.Take(m.agents[all[next].Name])
	}
}

// wouldChoosePerson reports whether the strategy of a pool would choose a person for a step now.
func (m *Machine) wouldChoosePerson(w slotRequest) bool {
	return m.assigneeOf(w.ref).Pool.Members[m.nextMember(w.ref)].Type == ir.AgentHuman
}

// nextMember returns the number of the member whom the strategy of the pool would choose for a step
// now. One member at least has room.
func (m *Machine) nextMember(r ref) (best int) {
	a := m.assigneeOf(r)
	open, all, circle := m.openMembers(r), a.Pool.Members, m.circleOf(a.Pool)
	best, least := -1, 0
	for i := range all {
		at := (circle.next + i) % len(all)
		if !slices.Contains(open, all[at]) || !m.agents[all[at].Name].HasRoom() {
			continue
		}
		if load := m.loadOf(a, all[at]); best < 0 || load < least {
			best, least = at, load
		}
	}
	assert(best >= 0, "no member of pool %s has room for %s", a.Pool.Name, m.liveState(r).path)
	return best
}

// loadOf is what speaks against a member by the strategy of its pool.
func (m *Machine) loadOf(a *plan.Assignee, g *ir.Agent) int {
	switch a.Pool.Strategy {
	case ir.RoundRobin:
		return 0
	case ir.FewestAbilities:
		return len(g.Capabilities) - a.Wanted
	}
	return m.agents[g.Name].Used()
}

// circleOf returns the circle of a pool. It begins at a member that the run's id decides.
func (m *Machine) circleOf(p *plan.Pool) *circle {
	c := m.pools.of[p]
	if !c.begun {
		if c.begun = true; !m.run.FirstMembers {
			c.next = int(policy.Seed(m.run.Run, "pool."+p.Name, 0) % uint64(len(p.Members)))
		}
	}
	return c
}

// settleMember keeps a step with the member that has it: another driver repeats the attempt, which may
// have begun under the driver before.
func (m *Machine) settleMember(r ref) {
	if a := m.assigneeOf(r); a != nil && a.Chooses() {
		m.coldState(r).settled = true
	}
}

// askOtherMember gives a refused attempt to another member of its pool. asks is false if nobody else is
// free, if others would be refused for the same reason, or if the work may have begun: the node then
// waits for the member that has it. busy tells of the turn that ends so: a member was busy, and not
// behind an open breaker.
func (m *Machine) askOtherMember(a *attempt, f *event.AttemptFinished) (asks, busy bool) {
	who, d := m.assigneeOf(a.ref), m.liveState(a.ref)
	if who == nil || !who.Chooses() || d.mayHaveBegun() || findUse(m.node(a.ref).Quotas, f.Resource) != nil {
		return false, false
	}
	x := d.cold
	x.passed = append(x.passed, x.chosen)
	x.busy = x.busy || f.Error == nil || f.Error.Reason != event.ReasonBreaker
	if open := m.openMembers(a.ref); !slices.ContainsFunc(open, func(g *ir.Agent) bool { return m.agents[g.Name].HasRoom() }) {
		busy = x.busy || len(open) > 0
		x.passed, x.busy = nil, false // the next refusal begins another turn
		return false, busy
	}
	m.returnSlots(a.ref, work)
	m.withdrawRefused(a.ref, a.request.Ticket, "asks another member of its pool")
	n, s := m.node(a.ref), m.state(a.ref)
	m.showTransition(event.Transition{Node: d.path, From: s.status, To: event.Waiting, Attempt: d.attempts, Name: n.Name, Kind: string(n.Kind),
		Reason:   fmt.Sprintf("agent %q cannot take it now; pool %q has others", x.chosen.Name, who.Pool.Name),
		WaitsFor: &event.WaitsFor{Kind: event.WaitBusy, Name: x.chosen.Name}})
	s.status, x.chosen = event.Waiting, nil
	m.queueAttempt(a.ref)
	return true, false
}

// nextTurn returns when a node that waits for a member of its pool asks the others again; 0 if it has
// nobody else to ask. A node stands in the line of one member, and the others may be free long before.
// Leaving the line loses the place, so each wait is twice as long as the one before.
func (m *Machine) nextTurn(r ref, f *event.AttemptFinished) event.Time {
	a, d := m.assigneeOf(r), m.liveState(r)
	if a == nil || !a.Chooses() || len(a.Members) == 1 || d.mayHaveBegun() || findUse(m.node(r).Quotas, f.Resource) != nil {
		return 0
	}
	d.cold.turns = min(d.cold.turns+1, 16)
	return m.now.Add(min(policy.PoolTurn<<(d.cold.turns-1), policy.MaxRetryAfter))
}

// takeTurn lets a node that waits for a member of its pool ask anew.
func (m *Machine) takeTurn(r ref) {
	x := m.liveState(r).cold
	m.leaveAdmission(r)
	x.chosen = nil
	m.queueAttempt(r)
}

// mayHaveBegun reports whether the member that has a step may have begun with the work.
func (d *liveState) mayHaveBegun() bool {
	x := d.cold
	return x.settled || x.silent > 0 || x.limited > 0 || d.attempts != x.before
}
