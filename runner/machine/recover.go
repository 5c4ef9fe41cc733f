package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/runner/event"
)

// driverChanged asks again for everything that was in flight, with the same numbers and keys, or gives attempts up whose
// drivers died over them too often.
func (m *Machine) driverChanged(d *event.DriverChanged) {
	poison := false
	if d.Lost {
		m.deaths++
		limit := d.DeathLimit
		if limit == 0 {
			limit = DefaultDeathLimit
		}
		poison = m.deaths >= limit
	}
	for a := m.live.first; a != nil; {
		next := a.next
		switch {
		case a.cancelled:
			m.drop(a)
			m.finish(a.ref, event.Cancelled, m.whyCancelled(a.ref))
		case poison:
			m.drop(a)
			m.fail(a.ref, &event.Error{Kind: event.Fatal, Reason: "poison", ExitCode: -1,
				Message: fmt.Sprintf("%d drivers in a row died while this attempt was in flight", m.deaths)})
		default:
			m.command(event.Command{Start: a.request})
		}
		a = next
	}
}

// drop forgets a live attempt: nobody will answer.
func (m *Machine) drop(a *attempt) {
	m.live.remove(a)
	m.state(a.ref).live = nil
	m.giveBack(a.ref, a.gate)
}
