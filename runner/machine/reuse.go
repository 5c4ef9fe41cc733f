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

// reuse ends a node as it ended before, if that is known. Of what holds other nodes it only notes that.
func (m *Machine) reuse(r ref) bool {
	if len(m.run.Reused) == 0 {
		return false
	}
	k := m.run.Reused[m.path(r)]
	if k == nil {
		return false
	}
	m.rare(r).kept = k
	if m.holder(r) && (!k.Status.Bad() || k.StartedAt != 0) {
		return false // it had begun
	}
	d := m.detail(r)
	if d.attempts, d.agent = k.Attempts, k.Agent; k.ExitCode != nil {
		d.exit = *k.ExitCode
	}
	d.streams = streams{k.Stdout, k.Stderr, k.StdoutLog, k.StderrLog}
	d.output = k.Output
	if k.Iterations > 0 && d.body != nil {
		d.loop = &looping{count: k.Iterations, winner: k.Winner}
	}
	m.keep(r, k)
	return true
}

// whyAtAll says where a run comes from that repeats another one.
func (m *Machine) whyAtAll() string {
	if m.run.RetryOf == "" {
		return ""
	}
	return "it repeats run " + m.run.RetryOf
}

// holder tells that a node consists of others that have results of their own: a group or a for_each, but no repeat.
func (m *Machine) holder(r ref) bool {
	return m.collector(r) || !m.repeater(r) && m.node(r).Kind != ir.Step
}

// keep ends a node as it ended before, at the times of then.
func (m *Machine) keep(r ref, k *event.Reused) {
	d := m.detail(r)
	d.started, d.finished = k.StartedAt, k.FinishedAt
	if k.Error != nil {
		e := *k.Error
		d.err = &e
	}
	m.finish(r, k.Status, "reused from run "+m.run.RetryOf)
}

// kept is how a node ends because it ended so before, or nil.
func (m *Machine) kept(r ref) *event.Reused {
	if d := m.state(r).detail; d != nil {
		return d.kept()
	}
	return nil
}

func (d *detail) kept() *event.Reused {
	if d.rare == nil {
		return nil
	}
	return d.rare.kept
}

// passedBy tells that what a node lies in ended before without it.
func (m *Machine) passedBy(r ref) bool {
	if len(m.run.Reused) == 0 || m.kept(r) != nil {
		return false
	}
	p := m.parent(r)
	return p.node != plan.None && m.kept(p) != nil
}
