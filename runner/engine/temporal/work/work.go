// Package work carries out the attempts of runs on Temporal: each is an activity, and each activity is carried out once. A worker that stops
// gives its attempts back. The server takes a worker that is silent for lost, and the run hears of it.
//
// Enter at [Worker.Attempt].
package work

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Root stands for the workspace of whatever worker carries an attempt out: it is the folder of the program in the first event of a run.
const Root = "/flowrun-workspace"

// Beat is how often a worker is heard of. Its answers bring the cancels.
const Beat = time.Second

// Worker carries out attempts.
type Worker struct {
	Executor executor.Executor
	// Workspace is the folder for [Root], absolute.
	Workspace string
	// Base is the part of the worker's environment that each attempt gets.
	Base map[string]string
	// Began, if set, hears of each attempt, and the function that it returns hears how the attempt ended. The answer is nil if it was given
	// back.
	Began func(*event.Attempt) (ended func(*event.AttemptFinished))
	// Secret, if set, carries out attempts of runs that have secrets.
	Secret executor.Executor
	// Keep, if set, keeps the long parts of answers of a run; see event.Shorten.
	Keep func(run string, p *event.Parts) (*event.Artifact, error)
	// Large says that payloads lie beside the server where they are large.
	Large bool
	// Shared is asked for what runs share; nil: the runs share nothing.
	Shared Asker
	// Clock is the time of runs.
	Clock wire.Clock
	// Silent leaves out the heartbeats, for tests.
	Silent bool

	halts halts
}

// Asker asks what runs share.
type Asker interface {
	// Ask carries requests out, in order, and tries again for as long as ctx is not done.
	Ask(ctx context.Context, requests ...wire.Request) ([]wire.Reply, error)
	// Look carries out a request that changes nothing. found is false if nothing is shared yet.
	Look(ctx context.Context, r wire.Request) (reply wire.Reply, found bool, err error)
}

// Attempt is the activity of an attempt. secrets says that its run has some.
func (w *Worker) Attempt(ctx context.Context, task []byte, secrets bool) ([]byte, error) {
	var t wire.Task
	if err := wire.Decode(task, &t); err != nil {
		return nil, err
	}
	a := &t.Attempt
	f, queued := w.carryOut(ctx, &t, secrets)
	if f == nil {
		return wire.Encode(wire.Answer{Queued: queued})
	}
	most := wire.MaxAnswer
	if w.Large {
		most = wire.MaxLarge
	}
	var unkept error
	if w.Keep != nil {
		unkept = event.Shorten(f, func(p *event.Parts) (*event.Artifact, error) { return w.Keep(a.Run, p) }) // if it fails, the answer is whole
	}
	answer, err := wire.Encode(wire.Answer{Finished: f})
	if err == nil && len(answer) <= most {
		return answer, nil
	}
	what := fmt.Sprintf("the answer of the attempt has %d bytes, compressed, and %d can be reported", len(answer), most)
	if unkept != nil {
		what += "; the shared folder does not take it: " + unkept.Error()
	}
	if err != nil {
		what = "the answer of the attempt cannot be reported: " + err.Error()
	}
	short := failed(a, event.ReasonLimit, what)
	short.StartedAt, short.ExitCode, short.Usage = f.StartedAt, f.ExitCode, f.Usage
	return wire.Encode(wire.Answer{Finished: &short})
}

// carryOut returns the answer of an attempt; nil: the worker stops, and gives the attempt back, or the attempt is queued.
func (w *Worker) carryOut(ctx context.Context, t *wire.Task, secrets bool) (answer *event.AttemptFinished, queued bool) {
	a := &t.Attempt
	stop := activity.GetWorkerStopChannel(ctx)
	select {
	case <-stop:
		return nil, false
	default:
	}
	began := w.now()
	dir, err := w.place(a.Dir)
	if err != nil {
		f := failed(a, event.ReasonStart, err.Error())
		f.StartedAt = began
		return &f, false
	}
	a.Dir, a.Base = dir, w.Base
	inner, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	ended := func(*event.AttemptFinished) {}
	if w.Began != nil {
		ended = w.Began(a)
	}
	type result struct {
		event.AttemptFinished
		queued bool
	}
	done := make(chan result, 1)
	go func() {
		f, queued := w.admitAndExecute(inner, t, secrets)
		done <- result{f, queued}
	}()
	beat := time.NewTicker(Beat)
	defer beat.Stop()
	cancelled := ctx.Done()
	for {
		select {
		case r := <-done:
			f := r.AttemptFinished
			if r.queued || errors.Is(context.Cause(inner), executor.Stopping) {
				ended(nil)
				return nil, r.queued
			}
			if f.StartedAt == 0 {
				f.StartedAt = began
			}
			ended(&f)
			return &f, false
		case <-beat.C:
			if !w.Silent {
				activity.RecordHeartbeat(ctx)
			}
		case <-cancelled:
			cancelled = nil
			end(executor.Cancelled)
		case <-stop:
			stop = nil
			end(executor.Stopping)
		}
	}
}

// execute turns a panic of the executor into the end of this attempt: others go on.
func (w *Worker) execute(ctx context.Context, a event.Attempt, secrets bool) (f event.AttemptFinished) {
	defer func() {
		if p := recover(); p != nil {
			f = failed(&a, event.ReasonLost, fmt.Sprintf("a defect in flowrun: %v; what the attempt did is unknown", p))
		}
	}()
	if secrets && w.Secret != nil {
		return w.Secret.Execute(ctx, a)
	}
	return w.Executor.Execute(ctx, a)
}

// place returns the folder of an attempt in the workspace of the worker.
func (w *Worker) place(dir string) (string, error) {
	if dir == "" {
		return w.Workspace, nil
	}
	dir = path.Clean(dir)
	below, inside := strings.CutPrefix(dir, Root)
	if !inside || below != "" && below[0] != '/' {
		return "", fmt.Errorf("the folder %s lies outside of the workspace: a run on several machines uses folders relative to the program's", strings.TrimPrefix(dir, Root))
	}
	return filepath.Join(w.Workspace, filepath.FromSlash(below)), nil
}

func failed(a *event.Attempt, reason event.Reason, message string) event.AttemptFinished {
	f := engine.NeverStarted(*a)
	f.Error = &event.Error{Kind: event.Fatal, Reason: reason, Message: message, ExitCode: -1}
	return f
}
