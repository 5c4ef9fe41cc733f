package engine

import "github.com/flowrun/flowrun/runner/event"

// Unwanted finds the starts among commands that a later one of them cancels, by ticket: what freed an attempt and what
// ended it came in one batch. A host answers such an attempt as cancelled and starts nothing. nil if there is none.
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

func put(set map[uint64]bool, ticket uint64) map[uint64]bool {
	if set == nil {
		set = map[uint64]bool{}
	}
	set[ticket] = true
	return set
}
