package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/recall"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/learning"
)

// Host keeps the journals of runs, and drives their machines.
type Host interface {
	engine.Reader
	engine.Writer
}

// Options are the surroundings of a service. The zero value is enough to look at runs.
type Options struct {
	// Store is the folder of the memories of programs that name no other folder.
	Store string
	// Environ is the environment of the process, in the form of os.Environ. A value of it that looks secret is masked where an attempt
	// gets it.
	Environ []string
	// Executors carry out attempts. The service adds those of memory steps.
	Executors executor.Registry
	// Begin, if set, hears of each attempt that begins, and the function that it returns hears that the attempt has ended.
	Begin func(*event.Attempt) (end func())
	// Say, if set, hears news for a person that do not change how a run ends. Any goroutine may call it.
	Say func(text string)
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
	options  Options
	programs *Programs
	library  *learning.Library
	agents   executor.Executor // adds memories to the attempts of agents, before the executors

	mu       sync.Mutex
	sessions map[string]*Session  // by run
	progress map[string]*Progress // by run
}

var _ executor.Executor = (*Service)(nil)

// New makes a service without a host.
func New(o Options) *Service {
	s := &Service{options: o, programs: new(Programs), sessions: map[string]*Session{}, progress: map[string]*Progress{}}
	if o.Executors != nil {
		o.Executors.Register(recall.NewSteps(s.memoryOf), event.RememberAttempt, event.RecallAttempt)
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

// Group gives the group of a run that is about to start: the zero value where its workflow has none.
func (s *Service) Group(definition []byte, first event.RunStarted) (engine.Group, error) {
	return s.programs.Group(definition, first)
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
	if run, err = s.host.Start(ctx, start); err != nil {
		return "", err
	}
	first.Run = run
	s.joinTree(run, s.newSession(p, ir.RulesOf(start.Header.Behaviour), &first, secrets))
	return run, nil
}

// Resume prepares a run that another process began for its next drive here. renewed has the new marks of secrets that have another value
// from then on.
func (s *Service) Resume(first *event.RunStarted, p *Pinned, secrets map[string]value.Value, renewed map[string]event.Secret) {
	s.joinTree(first.Run, s.newSession(p.Program, ir.RulesOf(p.Header.Behaviour), first, secrets))
	if len(renewed) > 0 {
		s.host.Renew(first.Run, renewed)
	}
}

// Drive drives a run to its end, or until ctx is done; see engine.Driver. A run that was neither started nor resumed here has no
// secrets: an attempt that needs one fails.
func (s *Service) Drive(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	if s.sessionOf(run) == nil {
		if p, err := s.Pinned(ctx, run); err == nil { // if the run cannot be read, the host says so
			if first, err := p.First(); err == nil {
				s.Resume(first, p, nil, nil)
			}
		}
	}
	return s.host.Drive(ctx, run, w)
}

// Cancel asks for the end of a run, whoever drives it; see engine.Canceller.
func (s *Service) Cancel(ctx context.Context, run, reason string) error {
	return s.host.Cancel(ctx, run, reason)
}

// Signal sends a message to a run, whoever drives it; see engine.Signaller.
func (s *Service) Signal(ctx context.Context, run string, x event.External) error {
	return s.host.Signal(ctx, run, x)
}

// Progress gives the progress of the agents of a run. It is kept from the first call on, until the run is released.
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

// sessionOf gives the session of a run that is driven here; nil if there is none.
func (s *Service) sessionOf(run string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[run]
}

// joinTree makes a run part of a tree. A session that the run had before is finished.
func (s *Service) joinTree(run string, x *Session) {
	s.mu.Lock()
	before := s.sessions[run]
	s.sessions[run], x.runs[run] = x, true
	s.mu.Unlock()
	if before != nil && before != x {
		s.dropSession(before)
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

var errNoSession = errors.New("this process does not drive the run")

// memoryOf gives executors the memory of a run.
func (s *Service) memoryOf(run string) (recall.Memory, error) {
	x := s.sessionOf(run)
	if x == nil {
		return nil, errNoSession
	}
	return x.memory.Memory(run)
}

// Observe sees each batch of a run of the host when the batch is durable, and before the host carries out its commands. A called run joins
// the session of its caller. Observe never waits.
func (s *Service) Observe(run string, events []event.Event, r *event.Reaction, _ bool) {
	for i := range events {
		if first := events[i].RunStarted; first != nil && first.Parent != "" {
			if caller := s.sessionOf(first.Parent); caller != nil {
				s.joinTree(run, caller)
			}
		}
	}
	x := s.sessionOf(run)
	if x == nil {
		return
	}
	x.memory.Watch(run, events, r)
	for i := range r.Commands {
		if r.Commands[i].End != nil {
			s.leaveTree(run, x)
		}
	}
}

// leaveTree takes a run that has ended out of the tree of its caller.
func (s *Service) leaveTree(run string, x *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(x.runs) > 1 && x.root != run {
		delete(x.runs, run)
		delete(s.sessions, run)
	}
}

// Release ends the session of a run and of the runs that it called: the memory learns from all ended tasks, and the service forgets the
// secrets. No run of the tree may be driven here any more. Release waits for the memory.
func (s *Service) Release(run string) {
	if x := s.sessionOf(run); x != nil {
		s.dropSession(x)
	}
}

// dropSession forgets a session, and finishes it.
func (s *Service) dropSession(x *Session) {
	s.mu.Lock()
	for run := range x.runs { // any order: each is removed
		if s.sessions[run] == x {
			delete(s.sessions, run)
		}
		delete(s.progress, run)
	}
	clear(x.runs)
	s.mu.Unlock()
	x.finishTree()
}

// Close releases all runs, and closes the host.
func (s *Service) Close() error {
	for {
		s.mu.Lock()
		var x *Session
		for _, any := range s.sessions { // any order: all of them go
			x = any
			break
		}
		s.mu.Unlock()
		if x == nil {
			break
		}
		s.dropSession(x)
	}
	return s.Reader.Close()
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
