package engine

import "github.com/flowrun/flowrun/runner/event"

// Unwanted finds the starts that a later command of the same batch cancels, by ticket. A host answers such an attempt ([NeverStarted]) and starts nothing. nil if there is none.
func Unwanted(commands []event.Command) map[uint64]bool {
	var cancelled, unwanted map[uint64]bool
	for i := len(commands) - 1; i >= 0; i-- {
		switch c := commands[i]; {
		case c.Cancel != nil:
			cancelled = addToSet(cancelled, c.Cancel.Ticket)
		case c.Start != nil && cancelled[c.Start.Ticket]:
			unwanted = addToSet(unwanted, c.Start.Ticket)
		}
	}
	return unwanted
}

// NeverStarted answers an attempt that was cancelled before its turn came.
func NeverStarted(a event.Attempt) event.AttemptFinished {
	return event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Compensate: a.Compensate,
		Outcome: event.Failed, Error: beforeItStarted()}
}

// LostAlone answers an attempt that was lost without its driver: with the worker that carried it out, or on the way there. why says how, and
// stands in the error of the node if the attempt is not repeated.
func LostAlone(a event.Attempt, why string) event.AttemptFinished {
	session := ""
	if a.Agent != nil {
		session = a.Agent.Session
	}
	return event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Compensate: a.Compensate, Session: session,
		Outcome: event.Lost, Error: &event.Error{Kind: event.Transient, Reason: event.ReasonLost, Message: why, ExitCode: -1}}
}

// beforeItStarted is the error of an attempt or a child that never was.
func beforeItStarted() *event.Error {
	return &event.Error{Kind: event.Fatal, Reason: event.ReasonCancelled, Message: "cancelled before it started", ExitCode: -1}
}

// Once leaves out what commands ask for a second time: the start of an attempt or of a child. At a driver_changed the machine asks
// for what was refused, and then for all that is in flight, which that is by then. The commands themselves stay as they are.
func Once(commands []event.Command) []event.Command {
	if startsOnce(commands) {
		return commands
	}
	tickets, children := map[uint64]bool(nil), map[string]bool(nil)
	var rest []event.Command
	for i, c := range commands {
		again := false
		switch {
		case c.Start != nil:
			again = tickets[c.Start.Ticket]
			tickets = addToSet(tickets, c.Start.Ticket)
		case c.StartChild != nil:
			again = children[c.StartChild.Run]
			children = addToSet(children, c.StartChild.Run)
		}
		switch {
		case again && rest == nil:
			rest = append([]event.Command(nil), commands[:i]...)
		case !again && rest != nil:
			rest = append(rest, c)
		}
	}
	if rest == nil {
		return commands
	}
	return rest
}

// startsOnce reports whether commands start attempts in the order of their tickets and no child, so
// that no start repeats.
func startsOnce(commands []event.Command) bool {
	last := uint64(0)
	for i := range commands {
		if c := &commands[i]; c.StartChild != nil || c.Start != nil && c.Start.Ticket <= last {
			return false
		} else if c.Start != nil {
			last = c.Start.Ticket
		}
	}
	return true
}

func addToSet[K comparable](set map[K]bool, key K) map[K]bool {
	if set == nil {
		set = map[K]bool{}
	}
	set[key] = true
	return set
}
