package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/loop/source"
	"github.com/flowrun/flowrun/loop/worktree"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/benchmark"
	"github.com/flowrun/flowrun/runner/executor/notify"
	"github.com/flowrun/flowrun/runner/executor/recall"
	"github.com/flowrun/flowrun/runner/executor/secret"
	"github.com/flowrun/flowrun/runner/given"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/learning"
	"github.com/flowrun/flowrun/runner/trace"
)

// Host keeps the journals of runs, and drives their machines.
type Host interface {
	engine.Reader
	engine.Writer
	engine.Parker
	engine.LeftFinder
}

// Options are the surroundings of a service. The zero value is enough to look at runs.
type Options struct {
	// Store is the folder of the memories of programs that name no other folder.
	Store string
	// Environ is the environment of the process, in the form of os.Environ. A value of it that looks secret is masked where an attempt
	// gets it.
	Environ []string
	// Executors carry out attempts. The service adds those of memory steps and of messages.
	Executors executor.Registry
	// Begin, if set, hears of each attempt that begins, and the function that it returns hears that the attempt has ended.
	Begin func(*event.Attempt) (end func())
	// Say, if set, hears news for a person that do not change how a run ends. Any goroutine may call it.
	Say func(text string)
	// Remote says that the drivers of runs are other processes, on any machine: a drive follows a run, and the service holds no secrets and no
	// memories of it.
	Remote bool
	// Queue is the task queue of runs that start by themselves, where drivers are other processes.
	Queue string
	// Traced tells the programs and servers of attempts the id of their span, as TRACEPARENT and traceparent.
	Traced bool
}

func (o *Options) tell(text string) {
	if o.Say != nil {
		o.Say(text)
	}
}

// Service starts runs, drives them, and looks at them. It is the executor of its host: it adds secrets and
// memories to an attempt, and hands the attempt to the executors of the options. It has the methods of engine.Reader, too.
//
// It is safe for concurrent use. It is made by [New], gets its host by [Service.Attach], and must be closed.
type Service struct {
	engine.Reader
	host     Host
	askBy    func(context.Context, event.StoreRequest) (value.Value, error) // nil: the host is asked
	memoryBy func(run string) recall.Memory                                 // nil: that of the session of the run
	options  Options
	programs *Programs
	library  *learning.Library
	agents   executor.Executor // adds memories to the attempts of agents, before the executors
	environ  given.Environment // Options.Environ by name

	closing   sync.WaitGroup // sessions that are closed in the background
	finishing chan struct{}  // a token for each tree that has ended and is not finished yet

	keeping sync.Mutex
	keeper  *LoopKeeper // of [Service.Launch]

	handed atomic.Bool // a run was handed to the daemon
	marks  marks
	away   away
	served served

	mu       sync.Mutex
	trees    map[string]*tree         // by run
	progress map[string]*Progress     // by run
	traces   map[string]trace.TraceID // the trace of a run; of runs with attempts, maxTraces at most
	rests    *rests                   // nil: nobody asked
}

var (
	_ executor.Judge = (*Service)(nil)
	_ SupervisorHost = (*Service)(nil)
)

// DashboardURL is the variable of the environment that says where people reach the dashboard. Messages link there.
const DashboardURL = "FLOWRUN_URL"

// New makes a service without a host.
func New(o Options) *Service {
	s := &Service{options: o, programs: new(Programs), environ: given.Environment{}, finishing: make(chan struct{}, MaxFinishing), trees: map[string]*tree{}, progress: map[string]*Progress{}}
	for _, pair := range o.Environ {
		if name, text, ok := strings.Cut(pair, "="); ok {
			s.environ[name] = text
		}
	}
	if o.Executors != nil {
		o.Executors.Register(recall.NewSteps(s.memoryOf), event.RememberAttempt, event.RecallAttempt)
		o.Executors.Register(notify.New(o.Executors, s.Ask, notify.Options{URL: strings.TrimRight(s.environ[DashboardURL], "/")}), event.NotifyAttempt)
		o.Executors.Register(benchmark.New(o.Executors, s.Ask), event.BenchmarkAttempt)
		o.Executors.Register(source.New(o.Executors, s.Ask), event.SourceAttempt)
		o.Executors.Register(worktree.New(o.Executors, o.Store), event.WorktreeAttempt)
	}
	s.agents = recall.New(o.Executors, s.memoryOf)
	s.library = learning.New(o.Store, s.replayEnded)
	return s
}

// Attach gives the service its host. The host's factory, executor, group and watcher are [Service.Machine], the service itself,
// [Service.Group] and [Service.Observe].
func (s *Service) Attach(h Host) { s.Reader, s.host = h, h }

// Machine is the engine.Factory of the host.
func (s *Service) Machine(h journal.Header, definition []byte) (engine.Machine, error) {
	return s.programs.Machine(h, definition)
}

// Rules is the number of the newest rules that machines know here.
const Rules = ir.Behaviour

// Restore makes the machine of a run from its state.
func (s *Service) Restore(h journal.Header, definition, state []byte) (engine.Machine, error) {
	return s.programs.Restore(h, definition, state)
}

// WantsPast reports whether [Service.Observe] must see the whole past of a run that is driven again: to learn from its tasks, or to tell
// when it rests.
func (s *Service) WantsPast(h journal.Header, definition []byte) bool {
	s.mu.Lock()
	rests := s.rests != nil
	s.mu.Unlock()
	p, err := s.programs.Load(h.Definition, definition)
	return rests || err != nil || slices.ContainsFunc(p.Agents, func(a ir.Agent) bool { return a.Memory != nil })
}

// Group gives the group of a run that is about to start: the zero value where its workflow has none.
func (s *Service) Group(definition []byte, first event.RunStarted) (engine.Group, error) {
	return s.programs.Group(definition, first)
}

// Events gives the names of the events that a run waits for which is about to start.
func (s *Service) Events(definition []byte, first event.RunStarted) ([]string, error) {
	return s.programs.Events(definition, first)
}

// Load gives the program of a definition; see [Programs.Load].
func (s *Service) Load(hash string, definition []byte) (*Program, error) {
	return s.programs.Load(hash, definition)
}

// Start makes a run durable, and returns its id. secrets are the sensitive values by name, such as var.token; no journal
// has them. Start drives nothing.
func (s *Service) Start(ctx context.Context, start engine.Start, secrets map[string]value.Value) (run string, err error) {
	p, err := s.programs.Load(start.Header.Definition, start.Definition)
	if err != nil {
		return "", err
	}
	first := start.First
	if run, err = s.hostStart(ctx, start); err != nil {
		return "", err
	}
	if s.options.Remote {
		return run, nil
	}
	first.Run = run
	h := held{secrets: secrets}
	s.replaceTree(newTree(s.newSession(p, ir.RulesOf(start.Header.Behaviour), &first, h), h))
	return run, nil
}

// Resume prepares a run that another process began for its next drive here. renewed has the new marks of secrets that have another value
// from then on.
func (s *Service) Resume(first *event.RunStarted, p *Pinned, secrets map[string]value.Value, renewed map[string]event.Secret) {
	if s.options.Remote {
		return
	}
	h := held{secrets: secrets}
	s.replaceTree(newTree(s.newSession(p.Program, ir.RulesOf(p.Header.Behaviour), first, h), h))
	if len(renewed) > 0 {
		s.host.Renew(first.Run, renewed)
	}
}

// Drive drives a run to its end, or until ctx is done; see engine.Driver. A run that was neither started nor resumed here has no
// secrets: an attempt that needs one fails. The caller releases the run.
func (s *Service) Drive(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	if s.options.Remote {
		return s.host.Drive(ctx, run, func(events []event.Event, r *event.Reaction, replayed bool) {
			s.Observe(run, events, r, replayed)
			if w != nil {
				w(events, r, replayed)
			}
		})
	}
	t, err := s.enterTree(ctx, run, false)
	if err == nil { // if the run cannot be read, the host says so
		defer s.leaveDrive(t, run, false)
	}
	return s.host.Drive(ctx, run, w)
}

// DriveUntilParked is Drive that also returns when the run is parked; see engine.Parker. Of a parked run the service keeps only the
// secrets, in memory: a store never has them. A run that has ended, or that another process drives, is released.
//
// The secrets of a run that was neither started nor resumed here are looked for where the run got them. If one is not there any
// more, or has another value, the run is not driven, and the error is *NoSecrets.
func (s *Service) DriveUntilParked(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	t, err := s.enterTree(ctx, run, true)
	if err != nil {
		return event.End{}, err
	}
	end, err := s.host.DriveUntilParked(ctx, run, w)
	elsewhere := errors.Is(err, engine.ErrOwned) || errors.Is(err, engine.ErrFenced)
	if t.root == run && (err == nil || elsewhere) {
		s.endTree(t)
	}
	s.leaveDrive(t, run, true)
	return end, err
}

// Wakeable returns the runs that were parked here and that must be driven again; see engine.Parker.
func (s *Service) Wakeable(ctx context.Context, limit int) (runs []string, next event.Time, err error) {
	return s.host.Wakeable(ctx, limit)
}

// Watching is how many runs are driven here that wait for sources that they watch, and for nothing else.
func (s *Service) Watching() int {
	h, is := s.host.(interface{ Watching() int })
	if !is {
		return 0
	}
	return h.Watching()
}

// Woken holds a token when a parked run may be wakeable; see engine.Parker.
func (s *Service) Woken() <-chan struct{} { return s.host.Woken() }

// Left returns the runs that nobody drives; see engine.LeftFinder.
func (s *Service) Left(ctx context.Context) ([]engine.Info, error) { return s.host.Left(ctx) }

// Adopt parks the runs here that other processes had parked; see engine.LeftFinder.
func (s *Service) Adopt(ctx context.Context) (int, error) { return s.host.Adopt(ctx) }

// Alone reports whether no other process starts or drives runs of the store; see engine.LeftFinder.
func (s *Service) Alone() (bool, error) { return s.host.Alone() }

// Cancel asks for the end of a run, whoever drives it; see engine.Canceller.
func (s *Service) Cancel(ctx context.Context, run, reason string) error {
	return s.host.Cancel(ctx, run, reason)
}

// Signal sends a message to a run, whoever drives it; see engine.Signaller.
func (s *Service) Signal(ctx context.Context, run string, x event.External) error {
	return s.host.Signal(ctx, run, x)
}

// Externals are the kinds of messages beside cancels that the service sends to runs.
var Externals = []event.ExternalKind{event.ExternalSession}

// KeepSession keeps in which session of its agent an attempt works; see executor.Around. A service without a host keeps nothing.
func (s *Service) KeepSession(ctx context.Context, a event.Attempt, session string) error {
	if s.host == nil {
		return nil
	}
	return s.host.Signal(ctx, a.Run, event.SessionExternal(&a, session))
}

// Ask carries out an operation on what the runs of the store share; see engine.Sharer.
func (s *Service) Ask(ctx context.Context, r event.StoreRequest) (value.Value, error) {
	if s.askBy != nil {
		return s.askBy(ctx, r)
	}
	return s.host.Ask(ctx, r)
}

// AskBy has the executors of a service without a host ask for what runs share by a function.
func (s *Service) AskBy(ask func(context.Context, event.StoreRequest) (value.Value, error)) {
	s.askBy = ask
}

// Judge evaluates the conditions of breakers for runs without secrets.
func Judge() executor.Judge {
	x := secret.New(nil, nil)
	x.Hold(nil, expr.NewEvaluator(ir.NewestRules(), nil))
	return x
}

// Limits returns the state of the agents and quotas that bound attempts; see engine.Sharer.
func (s *Service) Limits(ctx context.Context) ([]event.Limit, error) { return s.host.Limits(ctx) }

// ChangeLimit closes a breaker, or stops or starts an agent; see engine.Sharer.
func (s *Service) ChangeLimit(ctx context.Context, c event.LimitChange) (bool, error) {
	return s.host.ChangeLimit(ctx, c)
}

// Progress gives the progress of the agents of a run. It is kept from the first call on, until the run is parked or released.
func (s *Service) Progress(run string) *Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.progress[run]
	if p == nil {
		p = new(Progress)
		s.progress[run] = p
	}
	return p
}

// Hear takes a text of an agent that works. It is for executors.
func (s *Service) Hear(a *event.Attempt, text string) {
	s.mu.Lock()
	p := s.progress[a.Run]
	s.mu.Unlock()
	if p != nil {
		p.addText(a, text)
	}
}

// Execute carries out an attempt with the secrets and the memory of its run.
func (s *Service) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	if x := s.sessionOf(a.Run); x != nil {
		return x.carryOut(ctx, a)
	}
	ans := executor.Answer(a)
	ans.StartedAt = event.At(time.Now())
	executor.Fail(&ans, &event.Error{Kind: event.Fatal, Reason: event.ReasonStart, ExitCode: -1, Message: fmt.Sprintf("this process does not know run %s", a.Run)})
	return ans
}

// ExecuteOpen carries out an attempt of a run that has no secrets, with its memory.
func (s *Service) ExecuteOpen(ctx context.Context, a event.Attempt) event.AttemptFinished {
	return s.agents.Execute(ctx, a)
}

// PassesOn implements executor.Passer. In a service that traces runs each attempt hears of its trace.
func (s *Service) PassesOn(a *event.Attempt) bool {
	x := s.sessionOf(a.Run)
	return x != nil && !s.options.Traced && x.secrets.PassesOn(a)
}

// Holds evaluates a condition with the secrets of its run; see executor.Judge.
func (s *Service) Holds(run string, condition *event.Late) (bool, error) {
	x := s.sessionOf(run)
	if x == nil {
		return false, fmt.Errorf("this process does not know run %s", run)
	}
	return x.secrets.Holds(run, condition)
}

// Observe sees each batch of a run of the host when the batch is durable, and before the host carries out its commands. A called run joins
// the tree of its caller. Observe never waits.
func (s *Service) Observe(run string, events []event.Event, r *event.Reaction, replayed bool) {
	for i := range events {
		if first := events[i].RunStarted; first != nil && first.Parent != "" {
			s.joinTree(run, first.Parent)
		}
	}
	s.mu.Lock()
	if s.rests != nil {
		s.rests.see(run, events, r, replayed)
	}
	s.mu.Unlock()
	x := s.sessionOf(run)
	if x == nil {
		return
	}
	x.memory.Watch(run, events, r)
	for i := range r.Commands {
		if r.Commands[i].End != nil {
			s.leaveTree(run)
		}
	}
}

// Top is the run that must be driven for a run to go on: the run itself, or the first of its callers. A caller that has ended
// drives nothing any more.
func (s *Service) Top(ctx context.Context, info engine.Info) string {
	for seen := map[string]bool{}; info.Parent != "" && !info.Status.Terminal() && !seen[info.Run]; {
		seen[info.Run] = true
		parent, err := s.Get(ctx, info.Parent)
		if err != nil || parent.Status.Terminal() {
			break
		}
		info = parent
	}
	return info.Run
}

// Origin is the first of the callers of a run: the run itself, if no run called it.
func (s *Service) Origin(ctx context.Context, run string) string {
	seen := map[string]bool{}
	for {
		info, err := s.Get(ctx, run)
		if seen[run] = true; err != nil || info.Parent == "" || seen[info.Parent] {
			return run
		}
		run = info.Parent
	}
}
