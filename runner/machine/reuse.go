package machine

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// A run that repeats an earlier run knows the ends of nodes there ([event.RunStarted.Reused]). A
// node with a reused end ends in the same way at its turn, without rule, condition, gate or
// attempt. A group or for_each with a reused end opens first, so that expressions can read its
// children; the children end before it. Nodes without a reused end run as in any run.

// takeReused ends a node with its reused end, if the earlier run has one. For a node that holds
// other nodes it only records the end.
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
		return false // the node had begun
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

// whyRepeated names the run that this run repeats.
func (m *Machine) whyRepeated() string {
	if m.run.RetryOf == "" {
		return ""
	}
	return "it repeats run " + m.run.RetryOf
}

// holdsNodes reports whether a node consists of nodes with results of their own: a group or a
// for_each, but not a repeat.
func (m *Machine) holdsNodes(r ref) bool {
	return m.isCollector(r) || !m.isRepeater(r) && m.node(r).Kind != ir.Step
}

// endReused ends a node with its end in the earlier run, at the earlier times.
func (m *Machine) endReused(r ref, k *event.Reused) {
	d := m.liveState(r)
	d.started, d.finished = k.StartedAt, k.FinishedAt
	if k.Error != nil {
		e := *k.Error
		d.err = &e
	}
	m.finishNode(r, k.Status, "reused from run "+m.run.RetryOf)
}

// reusedEnd returns the node's end in the earlier run; nil if the node runs in this run.
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

// missingFromReused reports whether the node's parent ended in the earlier run without this node.
func (m *Machine) missingFromReused(r ref) bool {
	if len(m.run.Reused) == 0 || m.reusedEnd(r) != nil {
		return false
	}
	p := m.parent(r)
	return p.node != plan.None && m.reusedEnd(p) != nil
}
