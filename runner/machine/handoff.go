package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// tellHandoff tells channels of work that was handed over, also where the node has ended meanwhile: the work is there.
func (m *Machine) tellHandoff(a *attempt, f *event.AttemptFinished) {
	h, is := m.node(a.ref).Action.(*ir.Handoff)
	if !is || a.gate != work || f.Outcome != event.OK {
		return
	}
	o, _ := f.Output.(map[string]value.Value)
	d := a.request.Store.Dispatch.Item.Handoff
	about := d.Ticket
	if about == "" {
		about = fmt.Sprint(o["id"])
	}
	m.sendMessage(a.ref, h.Notify, "handoff", event.Message{Kind: event.MessageHandoff, Level: "info",
		Title: fmt.Sprintf("%s is handed over to %s", about, d.To), Text: d.Next, Data: map[string]value.Value{"id": o["id"], "handoff": d.Value()}})
}
