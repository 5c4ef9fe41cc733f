package machine

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
)

// deliverOutput converts a node's new output to its declared type and then runs the node's gates.
func (m *Machine) deliverOutput(r ref) {
	k := m.reusedEnd(r)
	if k == nil && m.isCollector(r) { // instances have the types and gates
		m.finishNode(r, event.Succeeded, "")
		return
	}
	if !m.isCollector(r) {
		output, err := compose.ConvertOutput(m.liveState(r).output, compose.OutputType(m.node(r), m.agentOf(r)))
		if err != nil {
			m.failAttempt(r, err)
			return
		}
		m.liveState(r).output = output
	}
	if k != nil {
		m.endReused(r, k)
		return
	}
	if x := m.liveState(r).cold; x != nil {
		x.rejected, x.said, x.refused = nil, "", false
	}
	m.runGates(r, 0)
}

// runGates runs a node's gates in order, starting at number from. All gates run, even after one
// has failed, so that a person sees every verdict. A gate that runs a program is an attempt of its
// own; runGates continues after its end.
func (m *Machine) runGates(r ref, from int) {
	n, d := m.node(r), m.liveState(r)
	for i := from; i < len(n.Gates); i++ {
		if m.isHalted(r) {
			m.finishNode(r, event.Cancelled, m.whyStopped())
			return
		}
		if n.Gates[i].Run != nil {
			m.queueForSlots(r, i)
			return
		}
		m.checkGate(r, i)
	}
	if d.cold != nil && d.cold.rejected != nil {
		m.failAttempt(r, d.cold.rejected)
		return
	}
	m.finishNode(r, event.Succeeded, "")
}

// checkGate evaluates a gate that is a condition or a schema. A gate that cannot be evaluated does
// not pass.
func (m *Machine) checkGate(r ref, gate int) {
	g, sc := m.node(r).Gates[gate], m.newScope(r)
	sc.Mode = compose.InGate
	if g.Schema != nil {
		schema, err := m.composer.Value(g.Schema, sc)
		if err == nil {
			err = m.composer.Conforms(schema, m.liveState(r).output)
		}
		message := ""
		if err != nil {
			message = "the output does not fit its schema: " + err.Error()
		}
		m.recordVerdict(r, gate, err == nil, message)
		return
	}
	passed, err := m.composer.Condition(g.Check, sc)
	message := ""
	switch {
	case err != nil:
		message = "it cannot be evaluated: " + err.Error()
	case !passed:
		message = "its check is false: " + m.composer.ExplainCondition(g.Check, sc)
	}
	m.recordVerdict(r, gate, passed && err == nil, message)
}

// gateFinished records the answer of a gate that ran a program. Only exit code 0 passes.
func (m *Machine) gateFinished(a *attempt, f *event.AttemptFinished) {
	message := ""
	if f.Outcome != event.OK {
		e := failureError(f)
		message = e.Message
		for _, text := range []string{f.Stderr, f.Stdout} {
			if text = strings.TrimRight(text, "\n"); text != "" {
				message += "\n" + text
			}
		}
	}
	m.recordVerdict(a.ref, a.gate, f.Outcome == event.OK, message)
	m.runGates(a.ref, a.gate+1)
}

// maxSaid limits the message of one gate in bytes.
const maxSaid = 2 << 10

// recordVerdict records the verdict of a gate. If the file sets a message, that message comes
// first, followed by the gate's own words.
func (m *Machine) recordVerdict(r ref, gate int, passed bool, said string) {
	g, d := m.node(r).Gates[gate], m.liveState(r)
	v := &event.Verdict{Gate: gateName(g), Passed: passed}
	if !passed {
		v.Message = compose.Bound(said, maxSaid)
		if g.Message != nil {
			sc := m.newScope(r)
			sc.Mode = compose.InGate
			if text, err := m.composer.Text(g.Message, sc); err == nil && text != "" {
				v.Message, v.Said = text, v.Message
			}
		}
		if v.Warning = g.OnFail == ir.OnFailWarn; !v.Warning {
			m.rejectAttempt(r, g, v.Words())
		}
	}
	m.showTransition(event.Transition{Node: d.path, Attempt: d.attempts, Gate: v, Name: m.node(r).Name, Kind: string(m.node(r).Kind)})
}

// wasRejected reports whether err is the rejection of an attempt by its gates.
func (d *liveState) wasRejected(err *event.Error) bool {
	return d.cold != nil && d.cold.rejected == err
}

// gateName returns a gate's name as written. The full name of a gate inside a step begins with the
// workflow and the step.
func gateName(g *ir.Gate) string { return g.Name[strings.LastIndexByte(g.Name, '/')+1:] }

// rejectAttempt records that a gate did not pass. A final rejection replaces one that asks for
// better work, and the first final one fails the attempt. The feedback holds the messages of all
// failed gates.
func (m *Machine) rejectAttempt(r ref, g *ir.Gate, message string) {
	x := m.coldState(r)
	if x.said != "" {
		x.said += "\n"
	}
	// Lines that a program printed are indented, so that none of them passes for the word of
	// another gate.
	x.said = compose.Bound(x.said+fmt.Sprintf("gate %q: %s", gateName(g), strings.ReplaceAll(message, "\n", "\n  ")), MaxStream)
	if final := g.OnFail != ir.OnFailRetry; x.rejected == nil || final && !x.refused {
		x.refused = final
		x.rejected = &event.Error{Kind: event.Recoverable, Reason: event.ReasonGate, Gate: gateName(g), ExitCode: -1,
			Message: fmt.Sprintf("gate %q did not pass: %s", gateName(g), message)}
	}
}
