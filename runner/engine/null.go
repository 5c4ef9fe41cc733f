package engine

import "github.com/flowrun/flowrun/runner/event"

// AnswerNull answers an attempt at the task of an agent of type null: the output is what the agent was given. It is a pure function; now
// is the time at which the attempt starts and ends. It is the one definition of a null agent, for executors and for hosts.
//
// ok reports whether the attempt needs nothing else. It is false if the attempt is another one, if parts of it read secrets, and if it needs an
// admission or a memory: the answer then holds once an executor has seen to these.
//
// The answer is not masked. What an agent is given may hold a secret that no expression marks as one, so a host may take the
// answer only if its executor would mask nothing.
func AnswerNull(a *event.Attempt, now event.Time) (f event.AttemptFinished, ok bool) {
	f = event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Compensate: a.Compensate, StartedAt: now, Outcome: event.OK}
	if a.Agent == nil {
		return f, false
	}
	f.Output = a.Agent.With
	return f, a.Kind == event.NullAgentAttempt && len(a.Late) == 0 && a.Admission == nil && a.Agent.Memory == nil
}
