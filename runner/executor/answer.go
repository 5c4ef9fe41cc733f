package executor

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of an answer, in bytes.
const (
	// MaxMessage is how long a message is at most: agents write some themselves, and names can be of any length.
	MaxMessage = 4 << 10
	// MaxTag is how long a tag of what an agent learned is at most.
	MaxTag = 64
)

// Answer starts an answer to an attempt: identity copied, nothing else.
func Answer(a event.Attempt) event.AttemptFinished {
	return event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Compensate: a.Compensate}
}

// Fail makes an answer one that failed, or was lost if that is the error's reason. It cuts the error's message to [MaxMessage].
func Fail(ans *event.AttemptFinished, err *event.Error) {
	err.Message = Clip(err.Message, MaxMessage)
	ans.Outcome, ans.Error = event.Failed, err
	if err.Reason == event.ReasonLost {
		ans.Outcome = event.Lost
	}
}

// FellSilent is the error of an attempt of which nothing was heard for longer than its agent's heartbeat.
func FellSilent(beat time.Duration) *event.Error {
	return &event.Error{Kind: event.Transient, Reason: event.ReasonLost, ExitCode: -1, Message: fmt.Sprintf("no output or heartbeat for %s", beat)}
}

// WasCancelled is the error of an attempt that nobody wants any more: fatal, so that nobody tries again.
func WasCancelled() *event.Error {
	return &event.Error{Kind: event.Fatal, Reason: event.ReasonCancelled, Message: "cancelled", ExitCode: -1}
}

// TooLarge is the error of an attempt that gave more than [limits.MaxOutput].
func TooLarge(what string, total int64) *event.Error {
	return &event.Error{Kind: event.Fatal, Reason: event.ReasonOutputTooLarge, ExitCode: -1,
		Message: fmt.Sprintf("%s has %d bytes; an output may have %d (1 MiB)", what, total, limits.MaxOutput)}
}
