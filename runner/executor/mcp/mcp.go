// Package mcp carries out attempts that call tools of servers of the Model Context Protocol: agents of type mcp, and the tools of agents of
// other types.
//
// A server is a program that is spoken to on its standard input and output, or a service that speaks streamable HTTP. The package speaks
// through the official SDK. It starts no program and opens no connection itself: [Programs] and [Web] do, with all that holds for other
// attempts (process groups, bounds, environment, secrets, time). It knows no machine, engine or journal: everything stands in the attempt.
//
// Enter at [Executor.Execute], which calls the one tool of an agent of type mcp. An agent of another type that offers tools to its model
// uses [Executor.With]: it connects to several servers, each described by an attempt as for an agent of type mcp, calls a function with the
// sessions, and ends the servers when that returns:
//
//	failure := x.With(ctx, servers, hear, func(ctx context.Context, sessions []*mcp.Session) *event.Error {
//		tools, failure := sessions[0].Tools(ctx, []string{"read_file"}) // nil: all
//		…
//		text, refused, failure := sessions[0].Ask(ctx, "read_file", map[string]any{"path": "README.md"})
//		if failure == nil { … text goes back to the model; refused says that it is an error }
//		…
//	})
//
// What always holds, whatever a server does: a tool whose description is pinned is called only while the server describes it in the same
// words; memory is bounded, as the packages below bound it; a cancelled attempt tells the server so before it is ended.
package mcp

import (
	"context"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/http"
)

// Programs speaks with a program. *command.Executor does.
type Programs interface {
	Converse(ctx context.Context, a event.Attempt, speak executor.Speak) event.AttemptFinished
}

// Web speaks with a service. *http.Executor does.
type Web interface {
	Converse(ctx context.Context, a event.Attempt, speak http.Speak) event.AttemptFinished
}

// Options says what an Executor works with. Programs and Web are required.
type Options struct {
	Programs Programs
	Web      Web
	executor.Around
}

// Executor carries out attempts. It is safe for concurrent use.
type Executor struct{ opt Options }

var _ executor.Executor = (*Executor)(nil)

// New makes an Executor.
func New(opt Options) *Executor { return &Executor{opt} }

// Execute calls the tool of an agent of type mcp.
func (x *Executor) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	return x.opt.Hold(ctx, a, func() event.AttemptFinished {
		return x.open(ctx, a, func(ctx context.Context, s *Session, ans *event.AttemptFinished) *event.Error {
			return s.carryOut(ctx, ans)
		})
	})
}

// With connects to servers and calls use with their sessions, in the order of the attempts. Each attempt says how its server is started, or
// where it is: Argv with Env and Dir, or HTTP. The error is that of use; or why a server could not be had, where use was not called. All
// servers have ended when With returns. alive, if not nil, is called whenever a server reports something. ctx must carry the masks of the
// attempt that needs the tools (see [executor.WithMask]).
func (x *Executor) With(ctx context.Context, servers []event.Attempt, alive func(), use func(ctx context.Context, sessions []*Session) *event.Error) *event.Error {
	return x.with(ctx, servers, nil, alive, use)
}

func (x *Executor) with(ctx context.Context, servers []event.Attempt, have []*Session, alive func(), use func(context.Context, []*Session) *event.Error) *event.Error {
	if len(servers) == 0 {
		return use(ctx, have)
	}
	used := false
	var failure *event.Error
	ans := x.open(ctx, servers[0], func(ctx context.Context, s *Session, _ *event.AttemptFinished) *event.Error {
		used, s.alive = true, alive
		failure = x.with(ctx, servers[1:], append(have, s), alive, use)
		return failure
	})
	if !used || failure == nil {
		return ans.Error
	}
	return failure
}

// open connects to the server of an attempt, and calls use.
func (x *Executor) open(ctx context.Context, a event.Attempt, use func(context.Context, *Session, *event.AttemptFinished) *event.Error) event.AttemptFinished {
	if a.HTTP != nil {
		return x.opt.Web.Converse(ctx, a, func(ctx context.Context, p *http.Peer, ans *event.AttemptFinished) *event.Error {
			s := &Session{x: x, attempt: &a, peer: p, told: told{now: make(chan struct{})}}
			client := *p.Client
			client.Transport = trips{client.Transport, &s.told}
			return s.begin(ctx, &sdk.StreamableClientTransport{Endpoint: a.HTTP.URL, HTTPClient: &client, MaxRetries: -1,
				DisableStandaloneSSE: true, MaxEventSize: maxMessage}, func(ctx context.Context) *event.Error { return use(ctx, s, ans) })
		})
	}
	return x.opt.Programs.Converse(ctx, a, func(ctx context.Context, p io.ReadWriteCloser, ans *event.AttemptFinished) *event.Error {
		s := &Session{x: x, attempt: &a, told: told{now: make(chan struct{})}}
		s.wire = &wire{ReadWriteCloser: p, told: &s.told, report: func(line string) { s.report(ctx, "log", line) }}
		return s.begin(ctx, &sdk.IOTransport{Reader: s.wire, Writer: s.wire, MaxLineLength: maxMessage + 1}, func(ctx context.Context) *event.Error { return use(ctx, s, ans) })
	})
}
