package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
)

// A task for a person is an attempt that nothing carries out: the host is asked to tell people, and a decision answers it. The attempt
// holds no slot. A new driver need not be asked again.

// askTask asks people to do the task of an attempt. The strategies of pools count the task until its end.
func (m *Machine) askTask(r ref, request *event.Attempt) {
	if len(request.Late) > 0 {
		m.startParents(r)
		m.failNode(r, compose.EvaluationError(request.Late[0].What, fmt.Errorf("a task for a person cannot hold sensitive values")))
		return
	}
	m.noteCompensation(r)
	if l := m.agentLimiter(slotRequest{r, work}); l != nil {
		m.slots.Take(l)
	}
	a := &attempt{ref: r, gate: work, request: request, since: m.now, person: true}
	m.liveState(r).live = a
	m.live.add(a)
	m.countStart(a)
	q := &event.Ask{Kind: event.AskTask, Words: []event.Word{event.WordDone, event.WordFail}, Prompt: request.Agent.Task, Agent: request.Agent.Name,
		Output: compose.OutputType(m.node(r), m.agentOf(r))}
	show := map[string]any{}
	if request.Agent.With != nil {
		show["with"] = request.Agent.With
	}
	if request.Agent.Feedback != "" {
		show["feedback"] = request.Agent.Feedback
	}
	if request.Agent.Handoff != nil {
		show["handoff"] = request.Agent.Handoff.Value()
	}
	if len(show) > 0 {
		q.Show = show
	}
	if request.Timeout > 0 {
		q.Until = m.now.Add(request.Timeout)
	}
	m.openAsk(r, q)
}

// settleTask takes the answer of a person as the answer of the attempt.
func (m *Machine) settleTask(r ref, a *asking, word event.Word, by []string) {
	d := a.votes[len(a.votes)-1]
	m.endAsk(r, word, by, "")
	if word == event.WordDone {
		m.answerTask(r, event.AttemptFinished{Outcome: event.OK, Output: d.Output})
		return
	}
	message := d.Comment
	if message == "" {
		message = fmt.Sprintf("%s could not do it", d.By)
	}
	m.answerTask(r, event.AttemptFinished{Outcome: event.Failed,
		Error: &event.Error{Kind: event.Recoverable, Reason: event.ReasonAgent, Message: message, ExitCode: -1}})
}

// expireTask ends a task that nobody has done in time.
func (m *Machine) expireTask(r ref, a *asking) {
	why := m.reason(notDone, a.Until.Sub(a.Since))
	m.endAsk(r, "", nil, "expired: "+why)
	m.answerTask(r, event.AttemptFinished{Outcome: event.Failed,
		Error: &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, Message: why, ExitCode: -1}})
}

// answerTask answers the attempt of a node that waited for a person.
func (m *Machine) answerTask(r ref, f event.AttemptFinished) {
	a := m.liveState(r).live
	f.Ticket, f.Node, f.Attempt = a.request.Ticket, a.request.Node, a.request.Attempt
	m.attemptFinished(&f)
}
