package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// A breaker belongs to all runs of the store, and changes when the end of an attempt is durable: the machine cannot see the change in the
// end itself. So it asks the store after each end that a breaker with notify has counted, and the run tells people of the changes that no
// run has told of. The run does not end before the answer.

// askBreakers asks which breakers of an attempt that has ended have opened or closed.
func (m *Machine) askBreakers(a *attempt, f *event.AttemptFinished) {
	if f.Outcome == event.Refused || a.request.Admission == nil {
		return
	}
	var r event.BreakersRequest
	for i := range a.request.Admission.Needs {
		if n := &a.request.Admission.Needs[i]; n.Breaker != nil && n.Breaker.Tell {
			r.Of = append(r.Of, event.BreakerOf{Kind: n.Kind, Name: n.Name})
		}
	}
	if r.Of == nil {
		return
	}
	m.tickets++
	m.addNotice(&notice{ref: ref{node: plan.None}, request: m.composer.Breakers(&r, m.tickets)})
}

// tellBreakers sends the messages about changes that the store has given to this run.
func (m *Machine) tellBreakers(f *event.AttemptFinished) {
	list, _ := f.Output.([]any)
	for _, v := range list {
		o, _ := v.(map[string]any)
		kind, _ := o["kind"].(string)
		name, _ := o["name"].(string)
		state, _ := o["state"].(string)
		number, _ := o["number"].(float64)
		of := fmt.Sprintf("%s %q", kind, name)
		text := event.Message{Kind: event.MessageBreaker, Level: "info", Title: "circuit breaker closed: " + of, Text: fmt.Sprintf("The circuit breaker of %s has closed.", of),
			Data: map[string]any{"kind": kind, "name": name, "state": state, "error": o["error"]}}
		if state == "open" {
			text.Level, text.Title, text.Text = "error", "circuit breaker open: "+of, fmt.Sprintf("The circuit breaker of %s has opened.", of)
			if e, _ := o["error"].(map[string]any); e != nil {
				errorKind, _ := e["kind"].(string)
				reason, _ := e["reason"].(string)
				text.Error = &event.MessageError{Kind: event.ErrorKind(errorKind), Reason: event.Reason(reason)}
				text.Error.Message, _ = e["message"].(string)
				text.Text += " The last error: " + text.Error.Message
			}
		}
		m.sendNumbered(ref{node: plan.None}, m.breakerChannels(event.NeedKind(kind), name), fmt.Sprintf("%s %s %s", kind, name, state), int(number), text)
	}
}

// breakerChannels are the channels that are told of the breaker of an agent or a quota.
func (m *Machine) breakerChannels(kind event.NeedKind, name string) []string {
	if kind == event.NeedQuota {
		if q := m.graph.Program.Quota(name); q != nil && q.Breaker != nil {
			return q.Breaker.Notify
		}
		return nil
	}
	if g := m.graph.Program.Agent(name); g != nil && g.Breaker != nil {
		return g.Breaker.Notify
	}
	return nil
}
