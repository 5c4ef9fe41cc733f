// Package executor is the contract of whoever carries out attempts: one call, one attempt, one answer. It holds what all of
// them share: how large an answer can be, how texts are cut, what is masked, and what to do while descriptors are scarce.
//
// An executor knows nothing of machines, engines, journals or memory. Everything that it needs stands in the
// event.Attempt that it is given. Implementations are the packages below this one: command and http carry out, secret stands
// before them. Enter at [Executor]; an implementation begins with [Answer] and fails with [Fail].
package executor

import (
	"context"
	"errors"

	"github.com/flowrun/flowrun/runner/event"
)

// Causes of a cancelled context (context.Cause). Cancelled is the machine's wish: the attempt ends and is reported.
// Stopping is the host going away: the attempt ends as fast as it can and its answer is thrown away.
var (
	Cancelled = errors.New("cancelled")
	Stopping  = errors.New("the driver is stopping")
)

// Executor carries out attempts. Execute blocks until the attempt and all that it started are gone, within the
// attempt's timeout plus a bounded grace; it never returns a half-filled answer and never panics on what a child does.
// Ticket, Node, Attempt and Gate of the answer repeat the request's. It is safe for concurrent use.
type Executor interface {
	Execute(ctx context.Context, a event.Attempt) event.AttemptFinished
}

// Passer is an Executor before others. PassesOn reports whether Execute would give the next executor this attempt unchanged, and would
// return the next executor's answer unchanged. A host can then answer an attempt that needs no executor, as that of a null agent.
type Passer interface {
	PassesOn(a *event.Attempt) bool
}

// Func makes an Executor of a function.
type Func func(ctx context.Context, a event.Attempt) event.AttemptFinished

// Execute calls f.
func (f Func) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished { return f(ctx, a) }
