package machine

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
)

// tellHandoff sends the message that the store began together with the work, also where the node has ended meanwhile.
func (m *Machine) tellHandoff(a *attempt, f *event.AttemptFinished) {
	h, is := m.node(a.ref).Action.(*ir.Handoff)
	if !is || a.gate != work || f.Outcome != event.OK || len(h.Notify) == 0 {
		return
	}
	o, _ := f.Output.(map[string]value.Value)
	id, _ := o["id"].(string)
	d := a.request.Store.Dispatch.Item.Handoff
	m.sendNotice(a.ref, &compose.Notice{Message: d.Message(id), To: h.Notify, About: string(event.MessageHandoff), Now: d.At})
}
