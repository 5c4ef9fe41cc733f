// Package acp carries out attempts of agents of type acp: programs that speak the Agent Client Protocol, version 1, on their standard
// input and output, as many coding agents do.
//
// The package is the client: it opens one session in the folder of the attempt, sends one prompt, reports what the agent says and does,
// answers the agent's questions for leave by the rules of the file, and reads and writes files for the agent where the file says so. It
// starts no process itself: [Programs] does, with all that holds for other attempts. Enter at [Executor.Execute]; session.go is the life of a
// session, permission.go answers for leave, files.go reads and writes.
//
// A session of an earlier try that broke off goes on if the agent says that it can resume or load sessions; otherwise there is a new one, and a
// warning says so.
//
// What always holds, whatever an agent does: a question that no rule allows is answered with no; a file outside of the folder of the attempt is
// neither read nor written, also behind a link; a cancelled attempt tells the agent so before it is ended; memory is bounded.
package acp

import (
	"context"
	"io"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Programs speaks with a program. *command.Executor does.
type Programs interface {
	Converse(ctx context.Context, a event.Attempt, speak executor.Speak) event.AttemptFinished
}

// Options says what an Executor works with. Programs is required.
type Options struct {
	Programs Programs
	executor.Around
}

// Executor carries out attempts. It is safe for concurrent use.
type Executor struct{ opt Options }

var _ executor.Executor = (*Executor)(nil)

// New makes an Executor.
func New(opt Options) *Executor { return &Executor{opt} }

// Execute lets an agent do one task.
func (x *Executor) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	return x.opt.Hold(ctx, a, func() event.AttemptFinished {
		return x.opt.Programs.Converse(ctx, a, func(ctx context.Context, p io.ReadWriteCloser, ans *event.AttemptFinished) *event.Error {
			s := &session{x: x, ctx: ctx, attempt: &a, wire: newWire(p), tools: map[string]*tool{}}
			failure := s.carryOut()
			ans.Output, ans.Partial, ans.Usage, ans.Warning, ans.Session = s.output, s.partial, s.usage, s.warning, s.left
			if s.text != "" || len(s.last) > 0 {
				ans.Stdout = s.transcript()
			}
			return failure
		})
	})
}
