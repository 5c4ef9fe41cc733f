package app

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/follow"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/live"
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
	memory  *remembering
	learner *learner
	editor  *editor // nil where the program names none
	heard   *heard
	live    *live.Table
	leave   func() // stops asking who follows
}

func (a *app) newExecutors(store string, room *executor.Room) *executors {
	var once sync.Once
	wait := func(why error) {
		once.Do(func() { a.saySo(fmt.Sprintf("a step waits until others have ended: %v", why)) })
	}
	x := &executors{heard: new(heard), live: live.New(store)}
	x.command = command.New(command.Options{LogDir: filepath.Join(store, logsDir), LogRel: logsDir, Environ: a.Environ, Live: x.hear,
		Began: x.live.Process, Guardian: guardianCommand(), Adopt: true, Room: room, Wait: wait})
	x.http = http.New(http.Options{Release: Release, Live: x.hear, Room: room, Wait: wait})
	x.memory = &remembering{store: store, say: a.saySo, owed: owed{dir: filepath.Join(store, owedDir)}}
	x.learner = &learner{from: x.memory}
	x.memory.settled = x.learner.settled
	x.secret = secret.New(recall.New(x.registry(), x.memory.forAttempts), a.Environ)
	x.leave = follow.Watch(store, func(runs map[string]bool) {
		x.command.Follow(runs)
		x.live.Save()
	})
	return x
}

// hear takes what an agent says while it works.
func (x *executors) hear(a event.Attempt, kind, text string) {
	x.heard.hear(a, kind, text)
	x.live.Hear(&a, executor.Clip(text, maxSaying))
}

// Execute carries out one attempt.
func (x *executors) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	if a.Kind != event.NullAgentAttempt {
		defer x.live.Begin(&a)()
	}
	return x.secret.Execute(ctx, a)
}

// registry says which executor carries out which kinds of attempts, once nothing is missing in them.
func (x *executors) registry() executor.Registry {
	r := executor.Registry{}
	r.Register(executor.Null, event.NullAgentAttempt)
	r.Register(x.command, event.RunAttempt, event.ExecAgentAttempt, event.ShellAgentAttempt)
	r.Register(x.http, event.HTTPAttempt, event.HTTPAgentAttempt)
	r.Register(recall.NewSteps(x.memory.forAttempts), event.RememberAttempt, event.RecallAttempt)
	return r
}

// hold gives the secrets of a run that is about to be driven, its program and what it begins with. The environment in which they
// may have come is not handed on.
func (x *executors) hold(secrets map[string]value.Value, p *ir.Program, first *event.RunStarted) {
	x.memory.settle(p, first.Dir)
	x.editor = newEditor(p, first, x)
	x.secret.Hold(secrets, expr.NewEvaluator(p.Files))
	x.secret.Foresee(p, first.Vars)
	for _, d := range p.Variables {
		if d.Sensitive {
			x.command.Withhold(envVar + d.Name)
		}
	}
}

// durable hears what every run that is driven here has come to.
func (x *executors) durable(run string, events []event.Event, r *event.Reaction, replayed bool) {
	x.command.Settle(run, events)
	for i := range r.Commands {
		if r.Commands[i].End != nil {
			x.command.Ended(run)
			x.live.Forget(run)
		}
	}
	x.learner.watch(run, events, r, replayed)
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
