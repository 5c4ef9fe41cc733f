package machine

import (
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// cancelNode ends the node that a person names, with all nodes below it; the run goes on. Nothing changes if the node does
// not exist now, has ended, or is ending for another reason.
func (m *Machine) cancelNode(x *event.External) {
	r, found := m.findByPath(x.Node)
	if !found || m.state(r).status.Terminal() || m.isHalted(r) || m.isEnding(r) {
		return
	}
	c := event.NodeCancelOf(x)
	m.coldState(r).cancel = &c
	m.liveState(r).endError = cancelledError(c.Words("it"))
	if m.isReleased(r) { // else startNode ends it
		m.agenda.push(task{do: doCancel, ref: r, reason: c.Words("it"), hard: true})
		m.cancelDetached(r, c.Words("it"))
	}
}

// cancelDetached ends what the groups at r and below it have detached, which the groups do not reach any more.
func (m *Machine) cancelDetached(r ref, reason string) {
	if !m.behaviour[ir.CancelsReachDetached] {
		return
	}
	for _, p := range m.strays {
		if m.isWithin(p, r) {
			m.detached -= m.dropUnmade(m.liveState(p))
			m.agenda.push(task{do: doCancelChildren, ref: p, reason: reason, hard: true})
		}
	}
}

// isReleased reports whether the group around a node has opened, or finally has come to the node.
func (m *Machine) isReleased(r ref) bool {
	if p := m.parent(r); p.node != plan.None {
		return m.state(p).open
	}
	last := m.graph.Finally
	return len(last) == 0 || r.node < last[0] || m.state(r).fired
}

// isEnding reports whether a node ends as soon as its live attempts have ended, or a group around it does or does not need it any more.
func (m *Machine) isEnding(r ref) bool {
	for p := r; p.node != plan.None; p = m.parent(p) {
		if d := m.state(p).liveState; d != nil && (d.endError != nil || p != r && m.cancelsLosers(p)) {
			return true
		}
	}
	return false
}

// cancelsLosers reports whether the join of a group has cancelled what is left of the group. The members of a reused group have their ends
// from the earlier run.
func (m *Machine) cancelsLosers(p ref) bool {
	d := m.liveState(p)
	return m.behaviour[ir.EndingRepeatsNothing] && d.join != nil && d.join.decided && d.reusedEnd() == nil && m.loserPolicy(p) == ir.LosersCancel
}

// endEarly ends a node that was to end before its time: as failed, or as cancelled by a person.
func (m *Machine) endEarly(r ref) {
	d := m.liveState(r)
	if d.personalCancel() == nil {
		m.failNode(r, d.endError)
		return
	}
	m.finishNode(r, event.Cancelled, d.endError.Message)
}

// personalCancel returns the cancel of the node by a person; nil if nobody has cancelled it.
func (d *liveState) personalCancel() *event.NodeCancel {
	if d == nil || d.cold == nil {
		return nil
	}
	return d.cold.cancel
}

// findByPath returns the node with a path, if the node exists now.
func (m *Machine) findByPath(path string) (r ref, found bool) {
	r = ref{m.root, plan.None}
	for rest := path; rest != ""; rest = strings.TrimPrefix(rest, "/") {
		end := strings.IndexAny(rest, "/[")
		if end < 0 {
			end = len(rest)
		}
		number := m.graph.Number(rest[:end])
		if number == plan.None || m.graph.Nodes[number].Region != r.frame.region {
			return ref{}, false
		}
		r, rest = ref{r.frame, number}, rest[end:]
		if m.isCollector(r) && strings.HasPrefix(rest, "[") {
			r, rest = m.findInstance(r, rest)
		}
		if r.frame != nil && m.isRepeater(r) && strings.HasPrefix(rest, "/i") {
			r, rest = m.findIteration(r, rest)
		}
		if r.frame == nil {
			return ref{}, false
		}
	}
	return r, r.node != plan.None && m.path(r) == path
}

// findInstance returns the instance with the key at the start of rest, and the part of rest after the key.
func (m *Machine) findInstance(r ref, rest string) (ref, string) {
	if d := m.state(r).liveState; d != nil {
		for _, f := range d.frames {
			if key := "[" + quoteKey(f.key) + "]"; strings.HasPrefix(rest, key) {
				return ref{f, r.node}, rest[len(key):]
			}
		}
	}
	return ref{}, ""
}

// findIteration returns the present iteration if its number is at the start of rest, and the part of rest after the number.
func (m *Machine) findIteration(r ref, rest string) (ref, string) {
	if d := m.state(r).liveState; d != nil && d.loop != nil && d.loop.frame != nil {
		name := "/i" + strconv.Itoa(d.loop.frame.iteration)
		if after := strings.TrimPrefix(rest, name); after != rest && (after == "" || after[0] == '/') {
			return ref{d.loop.frame, r.node}, after
		}
	}
	return ref{}, ""
}
