package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/given"
)

// dueEvery is how often a follower looks for events that are to start runs.
const dueEvery = 100 * time.Millisecond

// follower starts the runs that events start in one program, and drives them, while a command lives. Its methods may be called for nil.
type follower struct {
	app     *app
	store   *store
	program string // the path
	held    map[string]value.Value
	runs    *runner.Supervisor
	cancel  context.CancelFunc
	over    sync.WaitGroup

	mu     sync.Mutex
	open   map[string]runner.Triggered // runs that have not ended
	ending bool                        // it stops when nothing is left
	left   chan struct{}               // closed when nothing is left
	err    error                       // of the store
}

// register registers what starts runs of a program by itself, and says what has changed.
func (a *app) register(s *store, p *program, first event.RunStarted, asJSON bool) error {
	if !runner.Registers(p.ir) {
		ctx := context.Background()
		if a.engine() != "" {
			inner, cancel := context.WithTimeout(ctx, 3*time.Second)
			defer cancel()
			ctx = inner
		}
		known, err := s.IsRegistered(ctx, p.path)
		if err != nil && a.engine() != "" {
			a.saySo("no worker answers, so the registration of this program does not change")
			return nil
		}
		if err != nil || !known {
			return err
		}
	}
	start, _ := newStart(p, "", first)
	c, err := s.Register(context.Background(), p.path, &start)
	if err != nil {
		return refusedRequest(err)
	}
	defer a.warnOfOutside(s, p, first)
	if !c.Any() {
		return nil
	}
	if asJSON {
		return ui.WriteJSON(a.out, struct {
			V       int    `json:"v"`
			Type    string `json:"type"`
			Program string `json:"program"`
			runner.Changes
		}{ui.EventVersion, "program.registered", p.path, c})
	}
	for _, part := range []struct {
		what string
		list []string
	}{{"added", c.Added}, {"changed", c.Changed}, {"removed", c.Removed}} {
		for _, words := range part.list {
			a.err.Printf("%s: %s\n", part.what, ui.Clean(words))
		}
	}
	return nil
}

// warnOfOutside says which webhooks of a program get no deliveries and which files no daemon watches, and what to do.
func (a *app) warnOfOutside(s *store, p *program, first event.RunStarted) {
	var names, files, untold []string
	for i := range p.ir.Ons {
		on := &p.ir.Ons[i]
		if on.Files != nil && !slices.Contains(files, on.Event) {
			files = append(files, on.Event)
		}
		if on.Hook == nil || slices.Contains(names, on.Event) {
			continue
		}
		names = append(names, on.Event)
		if ref := "var." + on.Hook.Secret; first.Secrets[ref].From == string(given.Told) && !slices.Contains(untold, ref) {
			untold = append(untold, ref)
		}
	}
	for _, ref := range untold {
		a.saySo(fmt.Sprintf("the daemon cannot read %s, which was given on the command line, so it takes no deliveries with this key. Give it in a file or in the environment of the daemon", ref))
	}
	if len(names)+len(files) == 0 || isServed(s.Dir()) {
		return
	}
	if len(files) > 0 {
		a.saySo(fmt.Sprintf("no daemon serves this store, so changes of the files of %s start no runs. Start a daemon with: flowrun serve", strings.Join(files, ", ")))
	}
	if len(names) > 0 {
		a.saySo(fmt.Sprintf("no daemon serves this store, so deliveries to %s are not received. Start a daemon with: flowrun serve", strings.Join(names, ", ")))
	}
}

// isServed reports whether a daemon serves the store in dir.
func isServed(dir string) bool {
	by, err := serve.Served(dir)
	return err == nil && by != nil
}

// needsDaemon is an error where no daemon serves the store in dir.
func needsDaemon(dir string) error {
	by, err := serve.Served(dir)
	if err == nil && by == nil {
		err = fmt.Errorf("no daemon serves the store %s, so no process would run it\nStart one with: flowrun serve", dir)
	}
	return err
}

// toldSecret is a secret of a run that no daemon can read, because it was given on the command line; "": there is none.
func toldSecret(first *event.RunStarted) string {
	for _, name := range slices.Sorted(maps.Keys(first.Secrets)) {
		if first.Secrets[name].From == string(given.Told) {
			return name
		}
	}
	return ""
}

// handOver starts a run and hands it to the daemon of the store.
func (a *app) handOver(s *store, p *program, workflow string, first event.RunStarted, held map[string]value.Value, asJSON bool) error {
	if name := toldSecret(&first); name != "" {
		return &args.Error{Message: fmt.Sprintf("the daemon cannot read %s, which was given on the command line", name), Hint: "Give it in a file or in the environment of the daemon."}
	}
	start, _ := newStart(p, workflow, first)
	run, err := s.Start(context.Background(), start, held)
	if err == nil {
		err = s.HandOver(context.Background(), run)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return ui.WriteJSON(a.out, map[string]any{"v": ui.EventVersion, "type": "run.detached", "run": run})
	}
	a.out.Printf("%s\n", run)
	return nil
}

// variablesOf are the sensitive values that are variables.
func variablesOf(held map[string]value.Value) map[string]value.Value {
	out := map[string]value.Value{}
	for name, v := range held { // any order: it fills a map
		if strings.HasPrefix(name, "var.") {
			out[name] = v
		}
	}
	return out
}

// follow begins to start and drive the runs that events start in a program. held are the sensitive variables; nil: they are looked
// for where the program was registered with them.
func (a *app) follow(s *store, program string, held map[string]value.Value) *follower {
	ctx, cancel := context.WithCancel(context.Background())
	f := &follower{app: a, store: s, program: program, held: held, cancel: cancel, open: map[string]runner.Triggered{}, left: make(chan struct{})}
	f.runs = runner.NewSupervisor(s, runner.SupervisorOptions{Ended: f.noteEnd})
	f.over.Go(func() {
		if err := f.runs.Run(ctx); err != nil && ctx.Err() == nil {
			f.fail(err)
		}
	})
	f.over.Go(func() { f.look(ctx) })
	return f
}

// followAgain is follow for the program of a run that goes on; nil if the program is not registered, or if the daemon of the store starts
// its runs.
func (a *app) followAgain(ctx context.Context, s *store, run string) *follower {
	b, err := s.SourceOf(ctx, run)
	if err != nil || b.Path == "" || isServed(s.Dir()) {
		return nil
	}
	list, err := s.Registered(ctx)
	if i := slices.IndexFunc(list, func(r runner.Registered) bool { return r.Path == b.Path }); err != nil || i < 0 || len(list[i].On)+len(list[i].Routines) == 0 {
		return nil
	}
	return a.follow(s, b.Path, nil)
}

// look starts the runs that are due, until ctx is done or nothing is left.
func (f *follower) look(ctx context.Context) {
	for {
		f.mu.Lock()
		ending, last := f.ending, f.ending && len(f.open) == 0
		f.mu.Unlock()
		started, more, err := f.store.StartDue(ctx, f.program, f.held)
		if err == nil && !ending {
			var timed []runner.Triggered
			timed, _, err = f.store.StartRoutines(ctx, f.program, f.held)
			started = append(started, timed...)
		}
		if err != nil && ctx.Err() == nil {
			f.fail(err)
			return
		}
		f.take(started)
		if last && len(started) == 0 && !more {
			close(f.left)
			return
		}
		if !more && !process.Pause(ctx, dueEvery) {
			return
		}
	}
}

// take drives runs that were started.
func (f *follower) take(started []runner.Triggered) {
	f.mu.Lock()
	for _, r := range started {
		f.open[r.Run] = r
	}
	f.mu.Unlock()
	for _, r := range started {
		f.app.err.Printf("run %s of %s: started by %s\n", r.Run, ui.Clean(r.Workflow), ui.Clean(r.By()))
		f.runs.Add(r.Run)
	}
}

func (f *follower) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
	f.cancel()
}

// noteEnd is told of the end of each run.
func (f *follower) noteEnd(run string, end event.End, err error) {
	f.mu.Lock()
	r, known := f.open[run]
	delete(f.open, run)
	f.mu.Unlock()
	a, flags := f.app, f.app.sceneOf(f.store, nil).Flags
	switch {
	case !known: // a called run
	case err == nil:
		a.err.Printf("run %s of %s: %s\n", run, ui.Clean(r.Workflow), ui.Clean(string(end.Status)))
		if end.Status == event.FailedS {
			a.err.Printf("  Details: flowrun runs show %s%s\n", run, flags)
		}
	case errors.Is(err, engine.ErrOwned), errors.Is(err, engine.ErrFenced): // another process drives it
	case errors.Is(err, context.Canceled):
		a.err.Printf("run %s of %s: stopped; finished steps are kept. Continue with:\n  flowrun resume %s%s\n", run, ui.Clean(r.Workflow), run, flags)
	default:
		a.err.Printf("run %s of %s: %s\n", run, ui.Clean(r.Workflow), ui.CleanLines(err.Error()))
	}
}

// finish waits until all that events have started has ended, unless a signal comes before. After a drive that was stopped it stops at once.
func (f *follower) finish(driven error, asksPeople bool) error {
	if f == nil {
		return driven
	}
	var stopped *ended
	if errors.As(driven, &stopped) && (stopped.code == exitInterrupted || stopped.code == exitTerminated) {
		f.stop()
		return driven
	}
	f.mu.Lock()
	f.ending = true
	f.mu.Unlock()
	ctx, release := process.UntilSignal(f.app.saySo)
	defer release()
	rests := time.NewTicker(time.Second)
	defer rests.Stop()
	for waiting := true; waiting; {
		select {
		case <-f.left:
			waiting = false
		case <-ctx.Done():
			waiting = false
		case <-rests.C:
			waiting = !(asksPeople && f.rests())
		}
		f.mu.Lock()
		waiting = waiting && f.err == nil
		f.mu.Unlock()
	}
	f.stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case driven != nil:
		return driven
	case ctx.Err() != nil:
		var stop *process.Interrupted
		if errors.As(context.Cause(ctx), &stop) {
			return &ended{process.SignalCode(stop.Signal)}
		}
	}
	return f.err
}

// rests reports whether all that is left waits for people.
func (f *follower) rests() bool {
	v, err := f.store.Ask(context.Background(), event.StoreRequest{Asks: true})
	if err != nil {
		return false
	}
	asking := map[string]bool{}
	list, _ := v.([]any)
	for _, e := range list {
		o, _ := e.(map[string]any)
		run, _ := o["run"].(string)
		asking[run] = true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for run := range f.open { // any order: all of them must wait
		if !asking[run] {
			return false
		}
	}
	return len(f.open) > 0
}

// stop stops what is driven.
func (f *follower) stop() {
	f.cancel()
	f.over.Wait()
}
