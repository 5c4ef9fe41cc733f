package app

import (
	"context"
	"path/filepath"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/follow"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/command"
	"github.com/flowrun/flowrun/runner/executor/http"
	"github.com/flowrun/flowrun/runner/executor/recall"
	"github.com/flowrun/flowrun/runner/executor/secret"
)

// executors are all that carry out attempts here. It is an executor that hands each attempt to the one that can, with what is
// secret, which it takes out of the answer, and with what the memory has on it.
type executors struct {
	command *command.Executor
	http    *http.Executor
	secret  *secret.Executor
	recall  *recall.Executor
	memory  *remembering
	learner *learner
	editor  *editor // nil where the program names none
	heard   *heard
	leave   func() // stops asking who follows
}

func (a *app) newExecutors(store string) *executors {
	h := new(heard)
	x := &executors{
		command: command.New(command.Options{LogDir: filepath.Join(store, logsDir), LogRel: logsDir, Environ: a.Environ, Live: h.hear,
			Guardian: guardianCommand(), Adopt: true}),
		http:  http.New(http.Options{Release: Release, Live: h.hear}),
		heard: h,
	}
	x.memory = &remembering{store: store, say: a.saySo, owed: owed{dir: filepath.Join(store, owedDir)}}
	x.learner = &learner{from: x.memory}
	x.memory.settled = x.learner.settled
	x.recall = recall.New(executor.Func(x.carryOut), x.memory.forAttempts)
	x.secret = secret.New(x.recall, a.Environ)
	x.leave = follow.Watch(store, x.command.Follow)
	return x
}

// Execute carries out one attempt.
func (x *executors) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	return x.secret.Execute(ctx, a)
}

// carryOut carries out an attempt of which nothing is missing.
func (x *executors) carryOut(ctx context.Context, a event.Attempt) event.AttemptFinished {
	if a.HTTP != nil {
		return x.http.Execute(ctx, a)
	}
	return x.command.Execute(ctx, a)
}

// hold gives the secrets of a run that is about to be driven, its program and what it begins with. The environment in which they
// may have come is not handed on.
func (x *executors) hold(secrets map[string]value.Value, p *ir.Program, first *event.RunStarted) {
	x.memory.settle(p, first.Dir)
	x.editor = newEditor(p, first, x)
	x.secret.Hold(secrets, expr.NewEvaluator(p.Files))
	for _, d := range p.Variables {
		if d.Sensitive {
			x.command.Withhold(envVar + d.Name)
		}
	}
}

// afterwards is what is done of the memory's work when the runs are over: all that ended is learned from, and then an editor words
// what it came to.
func (x *executors) afterwards() {
	x.learner.close()
	if x.editor == nil || x.learner.ended == "" {
		return
	}
	if m, err := x.memory.open(x.learner.ended); err == nil {
		x.editor.edit(m, x.learner.ended, x.memory.say, x.memory.warn)
	}
}

// Close gives back what they keep between attempts.
func (x *executors) Close() {
	x.leave()
	x.memory.close()
	x.command.Close()
	x.http.Close()
}
