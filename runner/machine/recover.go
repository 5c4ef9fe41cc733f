package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// driverChanged repeats the commands of all live attempts with the same numbers and keys. It fails
// attempts whose drivers died too often in a row. The clocks continue from where they stopped.
func (m *Machine) driverChanged(d *event.DriverChanged) {
	if d.Since != 0 {
		m.shiftClocks(m.now.Sub(d.Since))
	}
	m.askAllAgain()
	poison := false
	if d.Lost {
		m.deaths++
		limit := d.DeathLimit
		if limit == 0 {
			limit = DefaultDeathLimit
		}
		poison = m.deaths >= limit
	}
	for _, a := range m.live.snapshot() {
		switch {
		case a.child != nil: // a run of its own; the new driver takes it over too
			m.addCommand(event.Command{StartChild: a.child})
			if a.cancelled {
				m.addCommand(event.Command{CancelChild: &event.CancelChild{Run: a.child.Run, Node: a.child.Node, Now: a.now}})
			}
		case a.cancelled:
			m.dropAttempt(a)
			m.endCancelled(a.ref)
		case poison && a.gate == undone:
			m.loseCompensation(a, m.poisonError())
		case poison:
			m.dropAttempt(a)
			m.failNode(a.ref, m.poisonError())
		case d.Lost && m.failsIfLost(a):
			m.dropAttempt(a)
			// An earlier event of this batch may have started the attempt: cancel that start.
			m.addCommand(event.Command{Cancel: &event.CancelAttempt{Ticket: a.request.Ticket, Node: a.request.Node, Reason: "its driver died"}})
			m.failAttempt(a.ref, lostError("its driver died"))
		default:
			m.addCommand(event.Command{Start: a.request})
		}
	}
}

func (m *Machine) poisonError() *event.Error {
	return &event.Error{Kind: event.Fatal, Reason: event.ReasonPoison, ExitCode: -1,
		Message: fmt.Sprintf("%d drivers in a row died while this attempt was in flight", m.deaths)}
}

// failsIfLost reports whether the file forbids repeating a lost attempt of the node.
func (m *Machine) failsIfLost(a *attempt) bool {
	return a.gate == work && m.node(a.ref).OnLost == ir.OnLostFail
}

func lostError(how string) *event.Error {
	return &event.Error{Kind: event.Transient, Reason: event.ReasonLost, ExitCode: -1, Message: how + "; nobody knows what the attempt did"}
}

// dropAttempt forgets a live attempt that will not be answered.
func (m *Machine) dropAttempt(a *attempt) {
	m.live.remove(a)
	m.state(a.ref).live = nil
	if a.gate != undone {
		m.returnSlots(a.ref, a.gate)
	}
}
