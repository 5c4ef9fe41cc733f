package executor

import (
	"fmt"

	"github.com/flowrun/flowrun/runner/event"
)

// Exit codes with a meaning of their own.
const (
	// exitTransient is the exit code of a failure that passes: EX_TEMPFAIL of sysexits.h.
	exitTransient = 75
	// exitNotFound is what a shell ends with where it finds no program for a command, as POSIX has it; env, xargs and timeout
	// end so, too.
	exitNotFound = 127
)

// ExitError is the error of a program that ended with an exit code; nil for 0.
func ExitError(code int) *event.Error {
	e := &event.Error{Kind: event.Recoverable, Reason: event.ReasonExit, ExitCode: code, Message: fmt.Sprintf("exit code %d", code)}
	switch code {
	case 0:
		return nil
	case exitTransient:
		e.Kind = event.Transient
	case exitNotFound:
		e.Kind, e.Reason, e.Message = event.Blocking, event.ReasonNotFound, "exit code 127: a command was not found"
	}
	return e
}

// StatusKind is the kind of error that a status of HTTP is.
func StatusKind(status int) event.ErrorKind {
	switch {
	case status == 429:
		return event.RateLimited
	case status == 408 || status >= 500:
		return event.Transient
	case status == 401 || status == 403 || status == 404:
		return event.Blocking
	}
	return event.Recoverable
}
