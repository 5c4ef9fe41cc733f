package executor

import "github.com/flowrun/flowrun/runner/event"

// Judge is an executor that also evaluates conditions that the machine leaves to the host, because they are about the end of an attempt.
// The condition holds all that it reads but secrets.
type Judge interface {
	Executor
	// Holds reports whether a condition of a run holds. An error: it cannot be evaluated. It is safe for concurrent use.
	Holds(run string, condition *event.Late) (bool, error)
}
