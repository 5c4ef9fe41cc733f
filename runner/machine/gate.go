package machine

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// deliverOutput hands a node's fresh output to its declared type and then to its gates.
func (m *Machine) deliverOutput(r ref) {
	k := m.reusedEnd(r)
	if k == nil && m.isCollector(r) { // types and gates are the instances' matter
		m.finishNode(r, event.Succeeded, "")
		return
	}
	if !m.isCollector(r) {
		if err := m.convertOutput(r); err != nil {
			m.failAttempt(r, err)
			return
		}
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

// runGates asks a node's gates in order, from the one numbered on. All of them are asked, whatever the first says, so that a
// person sees every verdict; a gate that runs a program is an attempt of its own, and judging goes on when it ends.
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

// checkGate asks a gate that is a condition or a schema. One that cannot be computed has not passed.
func (m *Machine) checkGate(r ref, gate int) {
	g, sc := m.node(r).Gates[gate], m.newScope(r)
	sc.mode = gates
	if g.Schema != nil {
		schema, err := m.eval.Eval(g.Schema, sc)
		if err == nil {
			err = m.eval.Conforms(schema, m.liveState(r).output)
		}
		message := ""
		if err != nil {
			message = "the output does not fit its schema: " + err.Error()
		}
		m.recordVerdict(r, gate, err == nil, message)
		return
	}
	passed, err := m.evalCondition(g.Check, sc)
	message := ""
	switch {
	case err != nil:
		message = "it cannot be evaluated: " + err.Error()
	case !passed:
		message = "its check is false: " + m.explainCondition(g.Check, sc)
	}
	m.recordVerdict(r, gate, passed && err == nil, message)
}

// gateFinished takes the answer of a gate that ran a program: it passes with exit code 0 and nothing else.
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

// maxSaid bounds what one gate says of a result, in bytes.
const maxSaid = 2 << 10

// recordVerdict records what a gate found. Where the file has a message for it, that stands first, and below it what the gate said.
func (m *Machine) recordVerdict(r ref, gate int, passed bool, said string) {
	g, d := m.node(r).Gates[gate], m.liveState(r)
	v := &event.Verdict{Gate: gateName(g), Passed: passed}
	if !passed {
		v.Message = Bound(said, maxSaid)
		if g.Message != nil {
			sc := m.newScope(r)
			sc.mode = gates
			if text, err := m.evalText(g.Message, sc); err == nil && text != "" {
				v.Message, v.Said = text, v.Message
			}
		}
		if v.Warning = g.OnFail == ir.OnFailWarn; !v.Warning {
			m.rejectAttempt(r, g, v.Words())
		}
	}
	m.showTransition(event.Transition{Node: d.path, Attempt: d.attempts, Gate: v, Name: m.node(r).Name, Kind: string(m.node(r).Kind)})
}

// wasRejected tells that an attempt failed of what gates said.
func (d *liveState) wasRejected(err *event.Error) bool {
	return d.cold != nil && d.cold.rejected == err
}

// gateName is a gate's name as it is written. The name of one inside a step leads with the workflow and the step.
func gateName(g *ir.Gate) string { return g.Name[strings.LastIndexByte(g.Name, '/')+1:] }

// rejectAttempt notes that a gate said no. The first that says it for good outweighs those that ask for better work, and is what
// the attempt fails of; all that say no are heard in the feedback.
func (m *Machine) rejectAttempt(r ref, g *ir.Gate, message string) {
	x := m.coldState(r)
	if x.said != "" {
		x.said += "\n"
	}
	// Lines that a program printed are indented, so that none of them passes for the word of another gate.
	x.said = Bound(x.said+fmt.Sprintf("gate %q: %s", gateName(g), strings.ReplaceAll(message, "\n", "\n  ")), MaxStream)
	if final := g.OnFail != ir.OnFailRetry; x.rejected == nil || final && !x.refused {
		x.refused = final
		x.rejected = &event.Error{Kind: event.Recoverable, Reason: event.ReasonGate, Gate: gateName(g), ExitCode: -1,
			Message: fmt.Sprintf("gate %q did not pass: %s", gateName(g), message)}
	}
}
