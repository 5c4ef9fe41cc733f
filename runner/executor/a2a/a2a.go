// Package a2a carries out attempts of agents of type a2a: services that speak the Agent2Agent protocol over JSON-RPC, version 1.0 or 0.3.
//
// The package is the client: it reads the agent's card, sends one message, hears of the task by a stream if the card names streams, asks for
// it until it has ended, and turns its artifacts or the answer into an output. It opens no connection itself: [Web] does, with all that holds for other attempts. Enter at
// [Executor.Execute]; task.go is the life of a task, stream.go hears of it, words.go the two versions of the protocol.
//
// A task is given once: where a stream breaks off, the service is out of reach for a while, or flowrun was killed, the client takes up the task
// that is under way. If the service does not know the task any more, the next message begins a new one, and a warning says so.
//
// What always holds, whatever a service does: what the file says in headers goes to the origin of url and to no other, also if the card names
// another address; a cancelled attempt cancels the task, unless
// the driver stops and the next one will take the task up; memory is bounded.
package a2a

import (
	"context"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/http"
)

// Web speaks with a service. *http.Executor does.
type Web interface {
	Converse(ctx context.Context, a event.Attempt, speak http.Speak) event.AttemptFinished
}

// Options says what an Executor works with. Web is required.
type Options struct {
	Web Web
	executor.Around
}

// Executor carries out attempts. It is safe for concurrent use.
type Executor struct{ opt Options }

var _ executor.Executor = (*Executor)(nil)

// New makes an Executor.
func New(opt Options) *Executor { return &Executor{opt} }

// Execute gives a service one task.
func (x *Executor) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	return x.opt.Hold(ctx, a, func() event.AttemptFinished {
		return x.opt.Web.Converse(ctx, a, func(ctx context.Context, p *http.Peer, ans *event.AttemptFinished) *event.Error {
			t := &task{x: x, ctx: ctx, attempt: &a, peer: p}
			failure := t.carryOut()
			ans.Output, ans.Partial, ans.Stdout, ans.Warning = t.output, t.partial, t.said, t.warning
			if failure != nil && (failure.Kind == event.Transient || failure.Kind == event.RateLimited) && ctx.Err() == nil {
				ans.Session = t.open
			}
			return failure
		})
	})
}
