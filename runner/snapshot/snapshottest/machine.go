package snapshottest

import (
	"bytes"
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// Machine is a machine that is written as bytes after events, and goes on as the machine that is read
// from them. It panics if that is not the same machine.
type Machine struct {
	*machine.Machine
	Restored int // so often

	graph *plan.Graph
	eval  ir.Evaluator
	rules ir.Rules
	when  func() bool
}

// NewMachine makes a machine that is restored after the events for which when returns true.
func NewMachine(g *plan.Graph, eval ir.Evaluator, rules ir.Rules, when func() bool) *Machine {
	return &Machine{Machine: machine.New(g, eval, rules), graph: g, eval: eval, rules: rules, when: when}
}

// computed are the fields of a machine that a snapshot leaves out.
var computed = map[string]bool{
	"Machine.composer": true,                            // made again from the start of the run
	"Machine.agenda":   true,                            // empty after an event
	"Machine.out":      true,                            // nil after an event
	"Machine.eval":     true, "Machine.behaviour": true, // given again
	"Machine.failedSeen": true, "Machine.instanceSeen": true, // computed again when an expression reads them
}

// Advance implements engine.Machine.
func (m *Machine) Advance(budget int, out *event.Reaction) bool {
	if m.Machine.Advance(budget, out) {
		return true
	}
	if !m.when() {
		return false
	}
	state, err := m.AppendState(nil, 0)
	if err != nil {
		panic(err)
	}
	other, err := machine.Restore(m.graph, m.eval, m.rules, state)
	if err != nil {
		panic(err)
	}
	if err := Same(m.Machine, other, computed); err != nil {
		panic(err)
	}
	if again, err := other.AppendState(nil, 0); err != nil || !bytes.Equal(state, again) {
		panic(fmt.Sprintf("a machine of %d bytes is restored as one of %d (%v)", len(state), len(again), err))
	}
	m.Machine = other
	m.Restored++
	return false
}
