package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/runner/event"
)

// deliver hands a node's fresh output to its declared type and then to its gates.
func (m *Machine) deliver(r ref) {
	if m.collector(r) { // types and gates are the instances' matter
		m.finish(r, event.Succeeded, "")
		return
	}
	if err := m.conform(r); err != nil {
		m.failed(r, err)
		return
	}
	m.detail(r).rejected = nil
	m.judge(r, 0)
}

// judge asks a node's gates in order, from the one numbered on. All of them are asked, whatever the first says, so that a
// person sees every verdict; a gate that runs a program is an attempt of its own, and judging goes on when it ends.
func (m *Machine) judge(r ref, from int) {
	n, d := m.node(r), m.detail(r)
	for i := from; i < len(n.Gates); i++ {
		if m.stopping != nil {
			m.finish(r, event.Cancelled, m.stopping.reason)
			return
		}
		if n.Gates[i].Run != nil {
			m.enqueue(r, i)
			return
		}
		m.check(r, i)
	}
	if d.rejected != nil {
		m.failed(r, d.rejected)
		return
	}
	m.finish(r, event.Succeeded, "")
}

// check asks a gate that is a condition. A condition that cannot be computed has not passed.
func (m *Machine) check(r ref, gate int) {
	sc := m.scope(r)
	sc.judging = true
	passed, err := m.holds(m.node(r).Gates[gate].Check, sc)
	message := ""
	switch {
	case err != nil:
		message = "it cannot be evaluated: " + err.Error()
	case !passed:
		message = "its check is false: " + m.node(r).Gates[gate].Check.Text
	}
	m.verdict(r, gate, passed && err == nil, message)
}

// gateFinished takes the answer of a gate that ran a program: it passes with exit code 0 and nothing else.
func (m *Machine) gateFinished(a *attempt, f *event.AttemptFinished) {
	message := ""
	if f.Outcome != event.OK {
		e := failure(f)
		message = e.Message
		if text := Bound(f.Stderr+f.Stdout, 2<<10); text != "" {
			message += "\n" + text
		}
	}
	m.verdict(a.ref, a.gate, f.Outcome == event.OK, message)
	m.judge(a.ref, a.gate+1)
}

// verdict records what a gate found. The gate's own message, where it has one, says it better than we can.
func (m *Machine) verdict(r ref, gate int, passed bool, message string) {
	g, d := m.node(r).Gates[gate], m.detail(r)
	v := &event.Verdict{Gate: g.Name, Passed: passed}
	if !passed {
		v.Message = message
		if g.Message != nil {
			sc := m.scope(r)
			sc.judging = true
			if text, err := m.text(g.Message, sc); err == nil {
				v.Message = text
			}
		}
		if v.Warning = g.OnFail == "warn"; !v.Warning && d.rejected == nil {
			d.rejected = &event.Error{Kind: event.Recoverable, Reason: "gate", Gate: g.Name, ExitCode: -1,
				Message: fmt.Sprintf("gate %q did not pass: %s", g.Name, v.Message)}
		}
	}
	m.show(event.Transition{Node: d.path, Attempt: d.attempts, Gate: v, Name: m.node(r).Name, Kind: string(m.node(r).Kind)})
}
