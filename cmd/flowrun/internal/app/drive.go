package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Bounds of the screen of a run that another process drives: how often it looks, and at how many
// attempts.
const (
	glanceEvery = time.Second
	maxGlance   = 64
)

// Repaint is the interval of updates of the live tree. A stream without a tree is updated as often,
// and prints rarely.
const Repaint = 100 * time.Millisecond

// show prints the progress of a driven run.
type show struct {
	mu   sync.Mutex // watcher and ticker come from two goroutines
	run  *view.Run
	p    ui.Progress
	said *runner.Progress
	done chan struct{}

	glanced time.Time // see showLive
}

// newShow picks the form: JSON lines on stdout, a tree on a terminal, lines elsewhere.
func (a *app) newShow(r *view.Run, said *runner.Progress, scene ui.Scene, asJSON bool) *show {
	r.Forget()
	s := &show{run: r, said: said, done: make(chan struct{})}
	switch {
	case asJSON:
		s.p = ui.NewEvents(a.out)
	case a.err.Live:
		s.p = ui.NewTree(a.err, scene)
	default:
		s.p = ui.NewLines(a.err, scene)
	}
	go a.tickScreen(s)
	return s
}

// watch is called as the engine.Watcher.
func (s *show) watch(events []event.Event, r *event.Reaction, replayed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hear(time.Now()) // before it is over
	s.p.Update(s.run, s.run.Apply(events, r), replayed)
}

// tickScreen updates the screen. A panic of the screen must not end the run.
func (a *app) tickScreen(s *show) {
	defer func() {
		if p := recover(); p != nil {
			a.err.Printf("flowrun: the progress display failed: %v\n", p)
		}
	}()
	ticks := time.NewTicker(Repaint)
	defer ticks.Stop()
	for {
		select {
		case <-s.done:
			return
		case now := <-ticks.C:
			s.tick(now)
		}
	}
}

func (s *show) tick(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hear(now)
	s.p.Tick(now)
}

// hear shows the new output of agents.
func (s *show) hear(now time.Time) {
	for _, word := range s.said.Take(now) {
		s.p.Hear(ui.Saying(word))
	}
}

// showLive shows the facts that no journal holds about a run that another process drives: whether a
// process drives the run, and the output of its attempts.
func (s *show) showLive(of *store, p *runner.Past, info engine.Info) {
	if driven := info.Driver != 0; driven == s.run.Driven && time.Since(s.glanced) < glanceEvery {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.glanced = time.Now()
	begun := of.UnderWay(p, info)
	of.Stand(p, info, begun)
	for _, b := range begun[:min(len(begun), maxGlance)] {
		if b.Interrupted == "" {
			s.p.Work(b)
		}
	}
}

func (s *show) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.p.Say(text)
}

func (s *show) close() {
	close(s.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.p.Close(time.Now())
}

// interrupted is the cause of a drive that a signal stopped.
type interrupted struct{ signal os.Signal }

func (i *interrupted) Error() string { return "stopped by " + i.signal.String() }

// untilSignal returns a context that the first signal cancels. A second signal ends the process at
// once: children die with it if the system supports that, and the run stays resumable.
func untilSignal(say func(string)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := stopSignals()
	go func() {
		first, open := <-signals
		if !open {
			return
		}
		say("flowrun: stopping (once more to stop at once)")
		cancel(&interrupted{first})
		defer exitAfter(stopLimit, first)()
		if second, open := <-signals; open {
			os.Exit(signalCode(second))
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}

// Limits of the duration of a stop. If the disk, or another process that holds the store's lock,
// keeps this process from ending, this process still handles a signal; the run stays resumable.
const (
	stopLimit = 2 * engine.DefaultStopGrace // for attempts, and for the writes that record their ends
	lookLimit = time.Second                 // where nothing has to be put in order
)

// exitAfter ends the process with a signal's exit code, unless the returned function is called
// before.
func exitAfter(limit time.Duration, sig os.Signal) func() {
	t := time.AfterFunc(limit, func() { os.Exit(signalCode(sig)) })
	return func() { t.Stop() }
}

// stopSignals returns a channel for the signals that ask a process to end. The channel holds two at
// most.
func stopSignals() chan os.Signal {
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // nohup and shells that start things in the background mean it
			signal.Notify(signals, s)
		}
	}
	return signals
}

// driveRun drives a run to its end, shows it, prints its outputs, and returns the verdict as an
// error (see exit.go).
func (a *app) driveRun(s *store, run string, r *view.Run, scene ui.Scene, asJSON bool) error {
	screen := a.newShow(r, s.Progress(run), scene, asJSON)
	ctx, release := untilSignal(screen.say)
	defer release()
	end, err := s.Drive(ctx, run, screen.watch)
	screen.close()
	var stop *interrupted
	switch {
	case errors.As(err, &stop):
		return a.sayStopped(run, stop.signal, scene, asJSON)
	case errors.Is(err, engine.ErrFenced):
		return fmt.Errorf("run %s goes on elsewhere: %w", run, err)
	case errors.Is(err, engine.ErrFull):
		return fmt.Errorf("driving run %s: %w\nNothing that finished is lost. Make room, then go on with:\n  flowrun resume %s%s", run, err, run, scene.Flags)
	case errors.Is(err, engine.ErrOwned):
		return err
	case err != nil:
		return fmt.Errorf("driving run %s: %w", run, err)
	}
	return a.printEnd(s, run, end, scene, asJSON)
}

// sayStopped tells the user how to resume a run that a signal stopped.
func (a *app) sayStopped(run string, sig os.Signal, scene ui.Scene, asJSON bool) error {
	code := signalCode(sig)
	if asJSON {
		_ = ui.WriteJSON(a.out, map[string]any{"v": ui.EventVersion, "type": "run.interrupted", "run": run, "exit_code": code})
	} else {
		a.err.Printf("flowrun: stopped; nothing that finished is lost. Go on with:\n  flowrun resume %s%s\n", run, scene.Flags)
	}
	return &ended{code}
}

// printEnd prints the outputs of a run and turns its end into an exit code.
func (a *app) printEnd(s *store, run string, end event.End, scene ui.Scene, asJSON bool) error {
	if !asJSON {
		ui.Outputs(a.out, knownOutputs(end))
	}
	code := exitNo
	switch {
	case end.Status == event.Succeeded, end.Status == event.Skipped:
		return nil
	case end.Limit:
		code = exitLimit
	}
	if !asJSON {
		a.err.Printf("All of it: flowrun runs show %s%s\n", run, scene.Flags)
		origin := s.Origin(context.Background(), run)
		a.err.Printf("To retry the steps that did not succeed: flowrun retry %s%s\n", origin, scene.Flags)
		if c := a.changed(s, origin); c.differs() {
			a.err.Printf("%s: retry uses the definition of then.%s\n", c.what, c.advice())
		}
	}
	return &ended{code}
}

// knownOutputs leaves out the outputs that a failed run could not compute.
func knownOutputs(end event.End) map[string]value.Value {
	if end.Status == event.Succeeded {
		return end.Outputs
	}
	known := map[string]value.Value{}
	for name, v := range end.Outputs {
		if v != nil {
			known[name] = v
		}
	}
	return known
}
