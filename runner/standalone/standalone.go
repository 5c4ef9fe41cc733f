// Package standalone opens a store of runs in this process: a run service with the SQLite host, and with the executors that carry out
// attempts as child processes and HTTP requests of this process. It is the one place outside of tests that joins them: commands import neither
// a host nor the machine.
//
// It also keeps the table of live attempts that other processes look at, and hears which runs other processes follow.
//
// Of a store on this disk it tells what no journal has: which attempts are under way and what they wrote so far ([Store.Unanswered]);
// and it removes runs with all their files ([Store.Prune]).
//
// The package knows no command line and no screen. Enter at [Open] and [Read].
package standalone

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/a2a"
	"github.com/flowrun/flowrun/runner/executor/acp"
	"github.com/flowrun/flowrun/runner/executor/chat"
	"github.com/flowrun/flowrun/runner/executor/command"
	"github.com/flowrun/flowrun/runner/executor/http"
	"github.com/flowrun/flowrun/runner/executor/mcp"
	"github.com/flowrun/flowrun/runner/follow"
	"github.com/flowrun/flowrun/runner/live"
	"github.com/flowrun/flowrun/runner/logs"
	"github.com/flowrun/flowrun/runner/trace/otlp"
)

// Options say how a process drives runs. The zero value drives runs, and tells nobody anything.
type Options struct {
	// Release is told to servers that attempts ask over HTTP.
	Release string
	// Environ is the environment of the process, in the form of os.Environ.
	Environ []string
	// Guardian is the command that ends what attempts have started, should this process be killed; see command.Options.
	Guardian []string
	// Grace is the time between TERM and KILL of an attempt, [MostGrace] at most; 0 is the default.
	Grace time.Duration
	// AnyRoom goes on where the system gives the process too few descriptors to carry out attempts.
	AnyRoom bool
	// TakeOver, DeathLimit and At are those of the host; see local.Options.
	TakeOver   bool
	DeathLimit int
	At         func(engine.Point)
	// Say, if set, hears news for a person that do not change how a run ends. Any goroutine may call it.
	Say func(text string)
	// Waiting, if set, hears the group and the run before, when a run waits for its turn.
	Waiting func(run string, t engine.Turn)
	// Leftover, if set, hears how many processes of the driver before were ended, before a run goes on.
	Leftover func(run string, processes int)
	// Traces says where the spans of the runs go that end here; nil: nowhere.
	Traces *otlp.Config
}

// MostGrace is the longest grace, and the default.
const MostGrace = command.DefaultGrace

// Store is an open store. It must be closed.
type Store struct {
	*runner.Service
	engine.Keeper
	carry   *carriers      // nil where the store was opened for reading
	traces  *otlp.Exporter // nil: traces are off
	address string         // of the server that keeps the runs; "": they are on this disk
	kept    OpenLog        // nil: logs are below Dir
}

// Logs are the log files of attempts.
func (s *Store) Logs() logs.Folder { return logs.Folder(s.Dir()) }

// Follow asks the driver of a run to write the output of attempts to their logs at once, until the function that Follow returns is
// called.
func (s *Store) Follow(run string) (stop func(), err error) {
	if !s.SeesLogs() {
		return nil, errors.New("it stays with the worker until then, because workers and this process share no folder")
	}
	return follow.Mark(s.Dir(), run)
}

// Open opens the store in a folder for driving runs, and makes it where there is none.
func Open(dir string, o Options) (*Store, error) {
	room, err := executor.MakeRoom()
	if err != nil && !o.AnyRoom {
		return nil, err
	}
	s, x, _ := newService(dir, dir, room, o)
	var traces *otlp.Exporter
	marks := otlp.NewMarks(dir)
	if o.Traces != nil {
		traces = otlp.New(o.Traces, s.Spans, x.say)
		traces.Taken = marks.Done
	}
	e, err := local.Open(dir, local.Options{Factory: s.Machine, Restore: s.Restore, Rules: runner.Rules, WantsPast: s.WantsPast, Externals: runner.Externals, Executor: s, Group: s.Group, Events: s.Events, TakeOver: o.TakeOver, DeathLimit: o.DeathLimit,
		Waiting: o.Waiting, Leftover: x.endLeftovers, At: o.At,
		Watch: func(run string, events []event.Event, r *event.Reaction, replayed bool) {
			x.observeBatch(run, events, r)
			s.Observe(run, events, r, replayed)
			if traces == nil || replayed {
				return
			}
			if ends := hasEnd(r); ends || begins(events) {
				marks.Begin(run)
				if ends {
					traces.Add(run)
				}
			}
		}})
	if err != nil {
		if traces != nil {
			traces.Close()
		}
		x.close()
		return nil, err
	}
	s.Attach(e)
	store := &Store{Service: s, Keeper: e, carry: x, traces: traces}
	if traces != nil {
		store.sendLeft(marks)
	}
	return store, nil
}

// begins reports whether a driver begins with a run.
func begins(events []event.Event) bool {
	return slices.ContainsFunc(events, func(e event.Event) bool { return e.RunStarted != nil || e.DriverChanged != nil })
}

// sendLeft sends the traces of runs whose driver died, or gave up, before the collector had them.
func (s *Store) sendLeft(marks *otlp.Marks) {
	for _, run := range marks.Left() {
		switch info, err := s.Get(context.Background(), run); {
		case errors.Is(err, engine.ErrNoRun):
			marks.Done(run)
		case err == nil && info.Status.Terminal():
			s.traces.Add(run)
		}
	}
}

// hasEnd reports whether a run ends.
func hasEnd(r *event.Reaction) bool {
	return slices.ContainsFunc(r.Commands, func(c event.Command) bool { return c.End != nil })
}

// TraceFigures returns what was sent to a collector since the store was opened.
func (s *Store) TraceFigures() otlp.Figures {
	if s.traces == nil {
		return otlp.Figures{}
	}
	return s.traces.Figures()
}

// Read opens the store in a folder for looking. The error is engine.ErrNoStore where there is none. Methods that write return
// engine.ErrReadOnly.
func Read(dir string) (*Store, error) {
	s := runner.New(runner.Options{Store: dir})
	e, err := local.Open(dir, local.Options{Factory: s.Machine, Restore: s.Restore, Rules: runner.Rules, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	s.Attach(e)
	return &Store{Service: s, Keeper: e}, nil
}

// Carry gives a service that carries out attempts of this process without a host. close ends it.
func Carry(dir string, o Options) (s *runner.Service, close func()) {
	s, x, _ := newService(dir, dir, nil, o)
	return s, x.close
}

// Guardian carries out the command of Options.Guardian, which gets a token as its last word: it ends the processes of attempts when the
// process that started it dies.
func Guardian(token string) { command.Guardian(token) }

// Close releases all runs, and closes the store, then the executors.
func (s *Store) Close() error {
	if s.traces != nil { // it reads journals
		s.traces.Close()
	}
	err := s.Service.Close()
	if s.carry != nil {
		s.carry.close()
	}
	return err
}

// carriers are the executors of this process, and the table of their attempts.
type carriers struct {
	command  *command.Executor
	http     *http.Executor
	live     *live.Table
	leave    func() // stops asking who follows
	leftover func(run string, processes int)
	say      func(text string)
}

// newService makes a service without a host, and gives the executors that it uses. store has memories and worktrees, and dir the rest.
func newService(dir, store string, room *executor.Room, o Options) (*runner.Service, *carriers, executor.Registry) {
	x := &carriers{live: live.New(dir), leftover: o.Leftover, say: func(text string) {
		if o.Say != nil {
			o.Say(text)
		}
	}}
	registry := executor.Registry{}
	s := runner.New(runner.Options{Store: store, Environ: o.Environ, Executors: registry, Say: o.Say, Begin: x.live.Begin, Traced: o.Traces != nil})
	var once sync.Once
	wait := func(why error) {
		once.Do(func() {
			x.say(fmt.Sprintf("a step waits until others have ended: %v", why))
		})
	}
	hear := func(a event.Attempt, _, text string) {
		s.Hear(&a, text)
		x.live.Hear(&a, executor.Clip(text, runner.MaxProgressText))
	}
	x.command = command.New(command.Options{LogDir: filepath.Join(dir, logs.Dir), LogRel: logs.Dir, Environ: o.Environ, Live: hear,
		Began: x.live.Process, Guardian: o.Guardian, Adopt: true, Grace: o.Grace, Room: room, Wait: wait,
		Session: s.KeepSession})
	x.http = http.New(http.Options{Release: o.Release, Live: hear, Room: room, Wait: wait})
	registry.Register(executor.Func(answerNull), event.NullAgentAttempt)
	registry.Register(x.command, event.RunAttempt, event.ExecAgentAttempt, event.ShellAgentAttempt)
	registry.Register(x.http, event.HTTPAttempt, event.HTTPAgentAttempt)
	around := executor.Around{Release: o.Release, Live: hear, Room: room, Wait: wait, Session: s.KeepSession}
	tools := mcp.New(mcp.Options{Programs: x.command, Web: x.http, Around: around})
	registry.Register(tools, event.MCPAgentAttempt)
	registry.Register(chat.New(x.http, tools, o.Environ), event.ChatAgentAttempt)
	registry.Register(acp.New(acp.Options{Programs: x.command, Around: around}), event.ACPAgentAttempt)
	registry.Register(a2a.New(a2a.Options{Web: x.http, Around: around}), event.A2AAgentAttempt)
	x.leave = follow.Watch(dir, func(runs map[string]bool) {
		x.command.Follow(runs)
		x.live.Save()
	})
	return s, x, registry
}

// observeBatch sees each durable batch of a run.
func (x *carriers) observeBatch(run string, events []event.Event, r *event.Reaction) {
	x.command.Settle(run, events)
	for i := range r.Commands {
		if r.Commands[i].End != nil {
			x.command.Ended(run)
			x.live.Forget(run)
		}
	}
}

// endLeftovers ends the processes that a run's driver before left running.
func (x *carriers) endLeftovers(run string) {
	x.live.Discard(run)
	if n := x.command.Clear(run); n > 0 && x.leftover != nil {
		x.leftover(run, n)
	}
}

func (x *carriers) close() {
	x.leave()
	x.command.Close()
	x.http.Close()
}

// answerNull carries out an attempt at the task of an agent of type null.
func answerNull(_ context.Context, a event.Attempt) event.AttemptFinished {
	f, _ := engine.AnswerNull(&a, event.At(time.Now()))
	return f
}
