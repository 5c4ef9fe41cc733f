// Package work carries out the attempts of runs on Temporal: each is an activity, and each activity is carried out once. A worker that stops
// gives its attempts back. The server takes a worker that is silent for lost, and the run hears of it.
//
// Enter at [Worker.Attempt].
package work

import (
	"cmp"
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
	// Place names the store of the worker, and Worktrees is the folder in it that has worktrees, absolute; "": the worker makes none.
	Place, Worktrees string
	// PlaceOf, if set, returns the Place of the worker that has the worktree of a run; "" if none has.
	PlaceOf func(ctx context.Context, run string) (string, error)
	// Base is the part of the worker's environment that each attempt gets.
	Base map[string]string
	// Began, if set, hears of each attempt, and the function that it returns hears how the attempt ended. The answer is nil if it was given
	// back.
	Began func(*event.Attempt) (ended func(*event.AttemptFinished))
	// Secret, if set, carries out attempts of runs that have secrets.
	Secret executor.Executor
	// Keep, if set, keeps the long parts of answers of a run; see event.Shorten.
	Keep func(run string, p *event.Parts) (*event.Artifact, error)
	// KeepLog, if set, brings the log of a stream to where readers find it, and returns its name there. ctx ends when the worker stops.
	KeepLog func(ctx context.Context, log string) (kept string, err error)
	// Large says that payloads lie beside the server where they are large.
	Large bool
	// Shared is asked for what runs share; nil: the runs share nothing.
	Shared Asker
	// Clock is the time of runs.
	Clock wire.Clock
	// Silent leaves out the heartbeats, for tests.
	Silent bool
	// Heartbeat lets the server hear of the activity with a token, and reports whether nobody wants the attempt any more. nil: the SDK does, which takes an
	// activity for cancelled once the server has not answered for a second.
	Heartbeat func(ctx context.Context, token []byte) (over bool)
	// Runs, if set, lets attempts be detached from runs whose histories are long. LookEvery is how often it is asked; 0 means [LookEvery].
	Runs      Runs
	LookEvery time.Duration

	halts halts
	away  aways
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
	if a.Worktree != nil && a.Worktree.Remove && w.PlaceOf != nil { // the run of a loop may not know where the one before has made it
		if place, err := w.PlaceOf(ctx, a.Worktree.Run); err == nil && place != "" && place != w.Place {
			return wire.Encode(wire.Answer{Place: place})
		}
	}
	f, queued, detached := w.carryOut(ctx, &t, secrets)
	answer, err := w.report(a, f, queued)
	if detached != nil {
		w.away.land(detached, answer, err)
		return nil, activity.ErrResultPending // it was completed before
	}
	return answer, err
}

// report returns the answer of an attempt in the form of the wire.
func (w *Worker) report(a *event.Attempt, f *event.AttemptFinished, queued bool) ([]byte, error) {
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
	place := ""
	if a.Kind == event.WorktreeAttempt {
		place = w.Place
	}
	answer, err := wire.Encode(wire.Answer{Finished: f, Place: place})
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

// carryOut returns the answer of an attempt; nil: the worker stops, and gives the attempt back, or the attempt is queued. detached is set if the activity
// has ended meanwhile.
func (w *Worker) carryOut(ctx context.Context, t *wire.Task, secrets bool) (answer *event.AttemptFinished, queued bool, detached *away) {
	a := &t.Attempt
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return nil, false, nil
	default:
	}
	began := w.now()
	dir, err := w.place(a.Kind, a.Dir)
	if err != nil {
		f := failed(a, event.ReasonStart, err.Error())
		f.StartedAt = began
		return &f, false, nil
	}
	a.Dir, a.Base = dir, w.Base
	inner, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	ended := func(*event.AttemptFinished) {}
	if w.Began != nil {
		ended = w.Began(a)
	}
	done, watched := make(chan struct{}), make(chan struct{})
	watch := time.AfterFunc(unwatched, func() {
		defer close(watched)
		detached = w.watch(ctx, end, done, func() *away { return w.detach(ctx, t, end) })
	})
	f, queued := w.admitAndExecute(inner, t, secrets)
	givenBack := queued || errors.Is(context.Cause(inner), executor.Stopping)
	if !givenBack {
		w.keepLogs(ctx, activity.GetWorkerStopChannel(ctx), &f)
	}
	if close(done); !watch.Stop() {
		<-watched
	}
	if givenBack {
		ended(nil)
		return nil, queued, detached
	}
	if f.StartedAt == 0 {
		f.StartedAt = began
	}
	ended(&f)
	return &f, false, detached
}

// keepLogs brings the logs of an attempt to where readers find them. Logs that cannot be brought there stay with the worker, and the attempt says why.
func (w *Worker) keepLogs(ctx context.Context, stop <-chan struct{}, f *event.AttemptFinished) {
	if w.KeepLog == nil || f.StdoutLog == "" && f.StderrLog == "" {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	for _, log := range []*string{&f.StdoutLog, &f.StderrLog} {
		if *log == "" {
			continue
		}
		kept, err := w.KeepLog(ctx, *log)
		if err != nil && f.Warning == "" {
			f.Warning = fmt.Sprintf("the log %s stays with its worker: %v", *log, err)
		}
		*log = kept
	}
}

// unwatched is how long an attempt lasts before it is watched: a goroutine for each short one took a tenth of the CPU of a worker.
const unwatched = 10 * time.Millisecond

// watch lets the server hear of an attempt, and ends it when it is cancelled or the worker stops, until it is done. look is called now and then, while the
// server does not hear of the attempt. What it returns is the attempt, detached: the server is to hear nothing more of this activity.
func (w *Worker) watch(ctx context.Context, end context.CancelCauseFunc, done <-chan struct{}, look func() *away) (detached *away) {
	beat := time.NewTicker(Beat)
	defer beat.Stop()
	cancelled, stop := ctx.Done(), activity.GetWorkerStopChannel(ctx)
	heard, looked := make(chan bool, 1), make(chan *away, 1)
	beating, looking, lookedAt := false, false, time.Now()
	for {
		select {
		case <-done:
			if looking {
				detached = <-looked
			}
			return detached
		case <-beat.C:
			switch {
			case detached != nil:
				w.away.checkClaim(detached)
			case beating || looking:
			case w.Runs != nil && time.Since(lookedAt) >= cmp.Or(w.LookEvery, LookEvery):
				looking = true
				go func() { looked <- look() }()
			case w.Silent:
			case w.Heartbeat == nil:
				activity.RecordHeartbeat(ctx)
			default:
				beating = true
				go func() { heard <- w.beat(ctx) }()
			}
		case over := <-heard:
			if beating = false; over {
				end(executor.Cancelled)
			}
		case detached = <-looked:
			looking, lookedAt = false, time.Now()
		case <-cancelled:
			cancelled = nil
			end(executor.Cancelled)
		case <-stop:
			stop = nil
			end(executor.Stopping)
		}
	}
}

// beatTimeout is how long a worker waits for the answer to a heartbeat.
const beatTimeout = 5 * time.Second

// beat lets the server hear of an activity.
func (w *Worker) beat(ctx context.Context) (over bool) {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	return w.Heartbeat(ctx, activity.GetInfo(ctx).TaskToken)
}

// execute turns a panic of the executor into the end of this attempt: others go on.
func (w *Worker) execute(ctx context.Context, a event.Attempt, secrets bool) (f event.AttemptFinished) {
	defer func() {
		if p := recover(); p != nil {
			f = failed(&a, event.ReasonLost, fmt.Sprintf("a bug in flowrun: %v; what the attempt did is unknown", p))
		}
	}()
	if secrets && w.Secret != nil {
		return w.Secret.Execute(ctx, a)
	}
	return w.Executor.Execute(ctx, a)
}

// place returns the folder of an attempt: in a worktree of the worker, or in its workspace.
func (w *Worker) place(kind event.AttemptKind, dir string) (string, error) {
	dir = path.Clean(dir)
	switch {
	case w.Worktrees != "" && strings.HasPrefix(dir, w.Worktrees+"/"):
		return dir, nil
	case kind == event.RememberAttempt || kind == event.RecallAttempt: // they use no folder, and the worktree of their run may lie elsewhere
		return w.Workspace, nil
	}
	return Place(w.Workspace, dir)
}

// Place returns a folder of a run in the workspace of a worker, which is absolute.
func Place(workspace, dir string) (string, error) {
	if dir = path.Clean(dir); dir == "." {
		return workspace, nil
	}
	below, inside := strings.CutPrefix(dir, Root)
	if !inside || below != "" && below[0] != '/' {
		return "", fmt.Errorf("the folder %s is outside of the workspace: a run on several machines uses folders relative to the program's", strings.TrimPrefix(dir, Root))
	}
	return filepath.Join(workspace, filepath.FromSlash(below)), nil
}

func failed(a *event.Attempt, reason event.Reason, message string) event.AttemptFinished {
	f := engine.NeverStarted(*a)
	f.Error = &event.Error{Kind: event.Fatal, Reason: reason, Message: message, ExitCode: -1}
	return f
}
