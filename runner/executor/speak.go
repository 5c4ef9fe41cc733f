package executor

import (
	"context"
	"io"

	"github.com/flowrun/flowrun/runner/event"
)

// Speak speaks with the program of an attempt while the program runs. What it reads is the standard output of the program without secrets,
// and io.EOF once the program has ended; what it writes is the program's standard input, until Close. ctx ends when the attempt must end:
// its cause is [Cancelled], [Stopping] or context.DeadlineExceeded. Speak may then say goodbye, and must return soon. It puts Output, and what
// else it knows, into the answer; the error is that of the attempt, nil if the attempt succeeded. ExitCode of the error is set by the caller.
type Speak func(ctx context.Context, program io.ReadWriteCloser, ans *event.AttemptFinished) *event.Error
