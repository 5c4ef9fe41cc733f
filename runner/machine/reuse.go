package machine

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// A run that repeats another one is told how nodes of that one ended ([event.RunStarted.Reused]). A node of which that is known
// ends so at once, when its turn comes: nothing of it is asked or made again, be it a rule, a condition, a gate or an attempt. What
// holds other nodes is opened, so that these can be read; their ends come first, and then its own, which is known as well.
// Nodes of which nothing is known run as in any run.

// takeReused ends a node as it ended before, if that is known. Of what holds other nodes it only notes that.
func (m *Machine) takeReused(r ref) bool {
	if len(m.run.Reused) == 0 {
		return false
	}
	k := m.run.Reused[m.path(r)]
	if k == nil {
		return false
	}
	m.coldState(r).reused = k
	if m.holdsNodes(r) && (!k.Status.Bad() || k.StartedAt != 0) {
		return false // it had begun
	}
	d := m.liveState(r)
	if d.attempts, d.agent = k.Attempts, k.Agent; k.ExitCode != nil {
		d.exit = *k.ExitCode
	}
	d.streams = streams{k.Stdout, k.Stderr, k.StdoutLog, k.StderrLog}
	d.output = k.Output
	if k.Iterations > 0 && d.groupState != nil {
		d.loop = &repeatState{count: k.Iterations, winner: k.Winner}
	}
	m.endReused(r, k)
	return true
}

// whyRepeated says where a run comes from that repeats another one.
func (m *Machine) whyRepeated() string {
	if m.run.RetryOf == "" {
		return ""
	}
	return "it repeats run " + m.run.RetryOf
}

// holdsNodes tells that a node consists of others that have results of their own: a group or a for_each, but no repeat.
func (m *Machine) holdsNodes(r ref) bool {
	return m.isCollector(r) || !m.isRepeater(r) && m.node(r).Kind != ir.Step
}

// endReused ends a node as it ended before, at the times of then.
func (m *Machine) endReused(r ref, k *event.Reused) {
	d := m.liveState(r)
	d.started, d.finished = k.StartedAt, k.FinishedAt
	if k.Error != nil {
		e := *k.Error
		d.err = &e
	}
	m.finishNode(r, k.Status, "reused from run "+m.run.RetryOf)
}

// reusedEnd is how a node ends because it ended so before, or nil.
func (m *Machine) reusedEnd(r ref) *event.Reused {
	if d := m.state(r).liveState; d != nil {
		return d.reusedEnd()
	}
	return nil
}

func (d *liveState) reusedEnd() *event.Reused {
	if d.cold == nil {
		return nil
	}
	return d.cold.reused
}

// missingFromReused tells that what a node lies in ended before without it.
func (m *Machine) missingFromReused(r ref) bool {
	if len(m.run.Reused) == 0 || m.reusedEnd(r) != nil {
		return false
	}
	p := m.parent(r)
	return p.node != plan.None && m.reusedEnd(p) != nil
}
