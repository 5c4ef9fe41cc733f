package machine

import "github.com/flowrun/flowrun/runner/plan"

// contest is who competes for slots in a run in which nodes have priorities. There a slot is given away when all that an
// event sets free is known: else the first that is released would have it, and not the one that ranks highest. Where no
// node has a priority turns are kept by letting each go as it comes, and nothing competes.
type contest struct {
	on    bool
	ready limiter    // what has become ready with this event, by rank
	woken []*limiter // those with slots that became free
}

// ranked tells whether a node of the graph has a priority.
func ranked(g *plan.Graph) bool {
	for i := range g.Nodes {
		if g.Nodes[i].Ranked != plan.None {
			return true
		}
	}
	return false
}

// open tells whether slots are still to be given away.
func (c *contest) open() bool { return len(c.ready.parked) > 0 || len(c.woken) > 0 }

// allot gives the slots that one attempt needs to the highest of those that compete, or lets it park. It does nothing
// and says so where nobody does.
func (m *Machine) allot() bool {
	c := &m.contest
	from := &c.ready
	woken := c.woken[:0]
	for _, l := range c.woken {
		if l.used >= l.cap || len(l.parked) == 0 {
			continue
		}
		woken = append(woken, l)
		if len(from.parked) == 0 || l.parked[0].before(&from.parked[0]) {
			from = l
		}
	}
	clear(c.woken[len(woken):])
	c.woken = woken
	if len(from.parked) == 0 {
		return false
	}
	if w := from.unpark(); m.state(w.ref).queued && !m.halted(w.ref) { // what a stop finds queued it ends
		m.admit(w)
	}
	return true
}
