package engine

import "github.com/flowrun/flowrun/runner/event"

// Unwanted finds the starts among commands that a later one of them cancels, by ticket: what freed an attempt and what
// ended it came in one batch. A host answers such an attempt ([NeverStarted]) and starts nothing. nil if there is none.
func Unwanted(commands []event.Command) map[uint64]bool {
	var cancelled, unwanted map[uint64]bool
	for i := len(commands) - 1; i >= 0; i-- {
		switch c := commands[i]; {
		case c.Cancel != nil:
			cancelled = put(cancelled, c.Cancel.Ticket)
		case c.Start != nil && cancelled[c.Start.Ticket]:
			unwanted = put(unwanted, c.Start.Ticket)
		}
	}
	return unwanted
}

// NeverStarted answers an attempt that was cancelled before its turn came.
func NeverStarted(a event.Attempt) event.AttemptFinished {
	return event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Compensate: a.Compensate,
		Outcome: event.Failed, Error: beforeItStarted()}
}

// beforeItStarted is the error of an attempt or a child that never was.
func beforeItStarted() *event.Error {
	return &event.Error{Kind: event.Fatal, Reason: "cancelled", Message: "cancelled before it started", ExitCode: -1}
}

func put(set map[uint64]bool, ticket uint64) map[uint64]bool {
	if set == nil {
		set = map[uint64]bool{}
	}
	set[ticket] = true
	return set
}
