package app

import (
	"context"
	"path/filepath"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/command"
	"github.com/flowrun/flowrun/runner/executor/http"
)

// executors are all that carry out attempts here. It is an executor that hands each attempt to the one that can.
type executors struct {
	command *command.Executor
	http    *http.Executor
}

func (a *app) newExecutors(store string) *executors {
	return &executors{
		command: command.New(command.Options{LogDir: filepath.Join(store, logsDir), LogRel: logsDir, Environ: a.Environ}),
		http:    http.New(http.Options{Release: Release}),
	}
}

// Execute carries out one attempt.
func (x *executors) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	if a.HTTP != nil {
		return x.http.Execute(ctx, a)
	}
	return x.command.Execute(ctx, a)
}

// Close gives back what they keep between attempts.
func (x *executors) Close() {
	x.command.Close()
	x.http.Close()
}
