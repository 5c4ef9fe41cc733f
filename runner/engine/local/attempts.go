package local

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner/artifact"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// attempts are the live attempts of a run. Each has a goroutine, and its answer comes through a
// channel.
type attempts struct {
	executor executor.Executor
	now      func() event.Time
	files    *artifact.Run
	ctx      context.Context
	stopAll  context.CancelCauseFunc
	cancel   map[uint64]context.CancelCauseFunc // by ticket; nil of an attempt that endStored ends
	// endStored ends an attempt that asks for what runs share, if it waits.
	endStored func(ticket uint64)
	answers   chan *event.AttemptFinished
	together  chan []*event.AttemptFinished // answers of one transaction
	closed    chan struct{}                 // nobody listens to answers any more
	running   sync.WaitGroup
}

// maxAnswers is how many answers wait while a batch is being synced; more wait in their goroutines. Each drive has room for so many
// pointers.
const maxAnswers = 1024

func newAttempts(x executor.Executor, now func() event.Time, files *artifact.Run) *attempts {
	a := &attempts{executor: x, now: now, files: files, cancel: map[uint64]context.CancelCauseFunc{},
		answers: make(chan *event.AttemptFinished, maxAnswers), together: make(chan []*event.AttemptFinished, 1),
		closed: make(chan struct{})}
	a.ctx, a.stopAll = context.WithCancelCause(context.Background())
	return a
}

func (a *attempts) startAttempt(r event.Attempt) {
	ctx, cancel := context.WithCancelCause(a.ctx)
	a.cancel[r.Ticket] = cancel
	a.running.Add(1)
	go func() {
		defer a.running.Done()
		answer := a.executeAttempt(ctx, r)
		_ = event.Shorten(&answer, a.files.Put) // if it fails, the answer is whole, and the commit meets the same disk
		select {
		case a.answers <- &answer:
		case <-a.closed:
		}
	}()
}

// executeAttempt runs an attempt, and names this attempt in the answer.
func (a *attempts) executeAttempt(ctx context.Context, r event.Attempt) event.AttemptFinished {
	began := a.now()
	f := a.callExecutor(ctx, r)
	f.Ticket, f.Node, f.Attempt, f.Gate, f.Compensate = r.Ticket, r.Node, r.Attempt, r.Gate, r.Compensate
	if f.StartedAt == 0 {
		f.StartedAt = began
	}
	return f
}

// callExecutor turns a panic of the executor into the end of this attempt; other attempts of the process
// go on.
func (a *attempts) callExecutor(ctx context.Context, r event.Attempt) (f event.AttemptFinished) {
	defer func() {
		if p := recover(); p != nil {
			message := fmt.Sprintf("a bug in flowrun: %v; what the attempt did is unknown", p)
			f = event.AttemptFinished{Outcome: event.Failed,
				Error: &event.Error{Kind: event.Fatal, Reason: event.ReasonLost, Message: message, ExitCode: -1}}
		}
	}()
	return a.executor.Execute(ctx, r)
}

// forgetAttempt forgets an attempt that has answered.
func (a *attempts) forgetAttempt(ticket uint64) {
	if cancel := a.cancel[ticket]; cancel != nil {
		cancel(nil)
	}
	delete(a.cancel, ticket)
}

func (a *attempts) endAttempt(ticket uint64) {
	cancel, live := a.cancel[ticket]
	switch {
	case cancel != nil:
		cancel(executor.Cancelled)
	case live:
		a.endStored(ticket)
	}
}

// stopAndWait ends all live attempts, drops their answers, and reports whether all ended within the grace.
func (a *attempts) stopAndWait(grace time.Duration) bool {
	a.stopAll(executor.Stopping)
	close(a.closed)
	gone := make(chan struct{})
	go func() {
		a.running.Wait()
		close(gone)
	}()
	limit := time.NewTimer(grace)
	defer limit.Stop()
	select {
	case <-gone:
		return true
	case <-limit.C:
		return false
	}
}
