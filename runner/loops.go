package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/loop"
	machine "github.com/flowrun/flowrun/loop/machine"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/secret"
	"github.com/flowrun/flowrun/runner/given"
)

// LoopBoard asks the sources of a loop as the next round of its run would, and returns what is known of items and agents. start is a run of
// the loop that is not started, and secrets are its sensitive values.
func (s *Service) LoopBoard(ctx context.Context, start engine.Start, secrets map[string]value.Value) (*loop.Board, error) {
	p, err := s.programs.Load(start.Header.Definition, start.Definition)
	if err != nil {
		return nil, err
	}
	l := p.Loop(start.Header.Workflow)
	if l == nil {
		return nil, fmt.Errorf("the program has no loop %q", start.Header.Workflow)
	}
	g, err := p.Graph(l.Name)
	if err != nil {
		return nil, err
	}
	k := &machine.Known{Now: event.At(time.Now()), Busy: map[string]int{}}
	control, err := s.Ask(ctx, event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopRead, Loop: l.Name}})
	if err == nil {
		k.Control, err = event.LoopControlOf(control)
	}
	if err != nil {
		return nil, err
	}
	claims, err := s.Ask(ctx, event.StoreRequest{Claims: true})
	if err != nil {
		return nil, err
	}
	list, _ := claims.([]any)
	for _, row := range list {
		if c, err := event.ClaimOf(row); err == nil && c.Loop == l.Name && c.State == event.ClaimHeld {
			k.Busy[c.Agent]++
		}
	}
	if k.Shut, err = s.shutNeeds(ctx, k.Now); err != nil {
		return nil, err
	}
	asks := secret.New(s.agents, s.options.Environ)
	asks.Hold(secrets, expr.NewEvaluator(ir.NewestRules(), p.Files))
	k.Ask = func(a *event.Attempt) event.AttemptFinished {
		if a.Store == nil {
			return asks.Execute(ctx, *a)
		}
		f := executor.Answer(*a)
		v, err := s.Ask(ctx, *a.Store)
		if f.Outcome, f.Output = event.OK, v; err != nil {
			executor.Fail(&f, &event.Error{Kind: event.Blocking, Reason: event.ReasonStore, Message: err.Error(), ExitCode: -1})
		}
		return f
	}
	return machine.Preview(g, l, expr.NewEvaluator(ir.NewestRules(), p.Files), &start.First, k)
}

// shutNeeds says of the agents and quotas that let nothing start why, in the words of a claim that they refuse.
func (s *Service) shutNeeds(ctx context.Context, now event.Time) (map[string]string, error) {
	limits, err := s.Limits(ctx)
	shut := map[string]string{}
	for i := range limits {
		l := &limits[i]
		key := string(l.Kind) + " " + l.Name
		switch {
		case l.Next <= now:
		case l.Health == event.BreakerOpen:
			shut[key] = fmt.Sprintf("the breaker of %s is open", key)
		case l.Spending != nil && l.Spending.Most.Reached(l.Spent):
			shut[key] = fmt.Sprintf("what %s may spend is spent", key)
		}
	}
	return shut, err
}

// LoopBoardHere is LoopBoard for a loop of another process: it works in a folder of this machine with an environment, and finds secrets here.
func (s *Service) LoopBoardHere(ctx context.Context, start engine.Start, dir string, env map[string]string) (*loop.Board, error) {
	p, err := s.programs.Load(start.Header.Definition, start.Definition)
	if err != nil {
		return nil, err
	}
	start.First.Dir, start.First.Env = dir, env
	secrets, _, problems := given.Search{First: &start.First, Program: p.Program, Same: s.marks.same, LookupEnv: s.lookupEnv}.Find()
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return s.LoopBoard(ctx, start, secrets)
}

// Loop is a loop of a store: one that is registered or has run.
type Loop struct {
	event.LoopKnown
	// Run is its newest run; nil: it has never run, or the run was removed.
	Run *engine.Info
}

// Live reports whether the newest run of the loop has not ended.
func (l *Loop) Live() bool { return l.Run != nil && !l.Run.Status.Terminal() }

// Loops lists the loops of a store, in the order of their names.
func (s *Service) Loops(ctx context.Context) (list []Loop, err error) {
	list, _, err = s.loops(ctx)
	return list, err
}

func (s *Service) loops(ctx context.Context) (list []Loop, programs []event.DueStarts, err error) {
	var a event.LoopsAnswer
	if err := s.ask(ctx, event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopList}}, &a); err != nil {
		return nil, nil, err
	}
	for _, k := range a.Loops {
		l := Loop{LoopKnown: k}
		if l.Run, err = s.loopRun(ctx, k.Name, k.Number); err != nil {
			return nil, nil, err
		}
		list = append(list, l)
	}
	return list, a.Programs, nil
}

// loopRun is a run of a loop; nil: there is none with the number.
func (s *Service) loopRun(ctx context.Context, name string, number uint64) (*engine.Info, error) {
	if number == 0 {
		return nil, nil
	}
	info, err := s.Get(ctx, event.LoopRun(name, number))
	if errors.Is(err, engine.ErrNoRun) {
		return nil, nil
	}
	return &info, err
}

// StartLoop starts a run of the loop that start names, if none is live, and returns the newest one: begun tells that it is new. It goes on
// with what the run before has left. Starting twice is starting once, so several processes may call StartLoop.
func (s *Service) StartLoop(ctx context.Context, start engine.Start, held map[string]value.Value) (info engine.Info, begun bool, err error) {
	name := start.Header.Workflow
	for ended := uint64(0); ; {
		var number uint64
		if err := s.ask(ctx, event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopSession, Loop: name, Ended: ended}}, &number); err != nil {
			return info, false, err
		}
		newest, err := s.loopRun(ctx, name, number)
		switch {
		case err != nil:
			return info, false, err
		case newest == nil:
			first := event.LoopStart{}
			if start.First.Loop != nil {
				first = *start.First.Loop
			}
			left, err := s.loopLeft(ctx, name, number-1)
			if err != nil {
				return info, false, err
			}
			first.Number, first.Carry = number, left.Next.Carry
			start.Header.Run, start.First.Loop = event.LoopRun(name, number), &first
			if held != nil {
				_, err = s.Start(ctx, start, held)
			} else {
				_, err = s.hostStart(ctx, start)
			}
			if err == nil {
				info, err = s.Get(ctx, start.Header.Run)
			}
			return info, true, err
		case !newest.Status.Terminal():
			return *newest, false, nil
		}
		ended = number
	}
}

// loopLeft is what a run of a loop has left for the next one.
func (s *Service) loopLeft(ctx context.Context, name string, number uint64) (left event.LoopLeft, err error) {
	info, err := s.loopRun(ctx, name, number)
	if err != nil || info == nil {
		return left, err
	}
	p, err := s.History(ctx, info.Run)
	if err != nil || p.End() == nil || p.End().Loop == nil {
		return left, err
	}
	return *p.End().Loop, nil
}

// LoopLook is what the journal of a loop's newest run says of the loop.
type LoopLook struct {
	Figures []machine.TargetStanding // over the last 24 hours, with their targets; nil: the loop has no target
	// Standing is how the loop stood at the moment At of its last event; nil: the run has ended, or nobody asked for it.
	Standing *machine.Standing
	At       event.Time
}

// LookAtLoop reads the journal of the newest run of a loop, if it is needed. now is the end of the time of the figures, and standing asks for
// how the loop stands. It asks no source.
func (s *Service) LookAtLoop(ctx context.Context, l *Loop, now event.Time, standing bool) (look LoopLook, err error) {
	if l.Run == nil || l.Run.Turn != nil {
		return look, nil
	}
	p, err := s.Past(ctx, l.Run.Run)
	if err != nil {
		return look, err
	}
	m, is := p.machine.(*machine.Machine)
	spec := p.Program.Loop(l.Name)
	if !is || spec == nil || spec.Target == nil && !(standing && l.Live()) {
		return look, nil
	}
	if err := p.Replay(ctx, nil); err != nil {
		return look, err
	}
	if p.End() != nil { // nothing is counted behind the end
		now = p.Last()
	} else if standing {
		stands := m.Standing()
		look.Standing, look.At = &stands, p.Last()
	}
	if spec.Target != nil {
		look.Figures = m.Figures(max(now, p.Last()))
	}
	return look, nil
}

// LoopGoesOn reports whether the newest run of a loop has ended only to let the next one begin.
func (s *Service) LoopGoesOn(ctx context.Context, name string) (bool, error) {
	var number uint64
	if err := s.ask(ctx, event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopSession, Loop: name}}, &number); err != nil {
		return false, err
	}
	left, err := s.loopLeft(ctx, name, number)
	return left.GoesOn, err
}

// LoopStarted is a run of a registered loop that is to be driven.
type LoopStarted struct {
	Name, Run string
	Begun     bool   // it is new
	Why       string // it could not be started, in words; Run is ""
}

// LoopKeeper keeps the registered loops of a store running. It starts a run of each registered loop that has none and is to have one. A run
// that has ended by itself is followed by another one; after one that has failed or was cancelled, somebody has to ask that the loop goes on,
// or to register another definition. A run whose program has changed takes nothing more, and the next one begins with the program as it is
// then. It is not safe for concurrent use. Make it with [Service.NewLoopKeeper].
type LoopKeeper struct {
	service *Service
	once    bool
	done    map[string]bool // loops that have gone round
	begun   map[string]bool // runs that were started here
	told    map[string]bool // runs that were told to end
}

// NewLoopKeeper returns a keeper. once has each loop go round once.
func (s *Service) NewLoopKeeper(once bool) *LoopKeeper {
	return &LoopKeeper{s, once, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

// Keep does what is to be done now, and returns the runs of loops that are to be driven.
func (k *LoopKeeper) Keep(ctx context.Context) (out []LoopStarted, err error) {
	list, programs, err := k.service.loops(ctx)
	if err != nil {
		return nil, err
	}
	var of map[string]*startable
	for i := range list {
		l := &list[i]
		switch {
		case l.Live():
			if err := k.adapt(ctx, l); err != nil {
				return out, err
			}
		case l.Program == "", l.Stopped, k.done[l.Name], l.rests():
		default:
			if of == nil {
				if of, err = k.service.startables(ctx, programs); err != nil {
					return out, err
				}
			}
			started, err := k.start(ctx, l, of[l.Program])
			if err != nil {
				return out, err
			}
			out = append(out, started)
		}
		k.done[l.Name] = k.once
	}
	return out, nil
}

// rests reports whether somebody has to ask that the loop goes on.
func (l *Loop) rests() bool {
	return l.Run != nil && l.Run.Status != event.Succeeded && l.Run.Definition == l.Definition && l.Resumed <= l.Run.Ended
}

func (k *LoopKeeper) start(ctx context.Context, l *Loop, x *startable) (LoopStarted, error) {
	started := LoopStarted{Name: l.Name, Why: x.why}
	if x.why != "" {
		return started, nil
	}
	first := x.first.Run(l.Name)
	first.Loop = &event.LoopStart{Once: k.once}
	info, begun, err := k.service.StartLoop(ctx, *x.start(first), nil)
	started.Run, started.Begun = info.Run, begun
	k.begun[info.Run] = true
	return started, err
}

// adapt tells a live run what it is to do otherwise.
func (k *LoopKeeper) adapt(ctx context.Context, l *Loop) error {
	r := &event.LoopRequest{Operation: event.LoopEnd, Loop: l.Name, Ended: l.Number}
	switch {
	case k.told[l.Run.Run]:
		return nil
	case l.Program != "" && l.Run.Definition != l.Definition:
		r.Why = "the program has changed"
	case l.Program == "" && k.begun[l.Run.Run]:
		r.Why = "the loop is not registered any more"
	case k.once && l.Run.Driver == 0:
		r = &event.LoopRequest{Operation: event.LoopBegin, Loop: l.Name, Once: true}
	default:
		return nil
	}
	k.told[l.Run.Run] = true
	return k.service.ask(ctx, event.StoreRequest{Loop: r}, nil)
}
