package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// Routine is a registered routine.
type Routine struct {
	Name     string `json:"name"`
	Program  string `json:"program"`
	Workflow string `json:"workflow"`
	// Spec is the ir.Routine as JSON.
	Spec    string `json:"spec"`
	Since   string `json:"since"`
	Next    string `json:"next"`    // when its next run starts, in RFC 3339; "": never
	Waiting int    `json:"waiting"` // moments whose runs have not been made
	Paused  bool   `json:"paused"`
	// InFile tells that the program has paused it, not a person.
	InFile  bool `json:"paused_in_file"`
	Started int  `json:"started"`
	Missed  int  `json:"missed"`
	Last    *struct {
		ScheduledAt string `json:"scheduled_at"`
		At          string `json:"at"`
		Run         string `json:"run"`
		Why         string `json:"why"` // there is no run
	} `json:"last"`
}

// Routines lists the registered routines, in the order of their names.
func (s *Service) Routines(ctx context.Context) (list []Routine, err error) {
	err = s.ask(ctx, event.StoreRequest{Routine: &event.RoutineRequest{Operation: event.RoutineList}}, &list)
	return list, err
}

// NextRoutine is the moment at which a routine of a program starts a run, with "" of any program: the zero time if none does. Who starts
// runs by the clock calls StartRoutines then. A registration, a pause and a resume change it.
func (s *Service) NextRoutine(ctx context.Context, program string) (time.Time, error) {
	var text *string
	if err := s.ask(ctx, event.StoreRequest{Routine: &event.RoutineRequest{Operation: event.RoutineNext, Program: program}}, &text); err != nil || text == nil {
		return time.Time{}, err
	}
	at, err := strconv.ParseInt(*text, 10, 64)
	return event.Time(at).Go(), err
}

// StartRoutines starts the runs whose time has come, those of one program or with "" of all, up to a bound, and returns them, of each
// routine the oldest first. Starting a run twice is starting it once, so several processes may call StartRoutines, and one that is killed in
// between has lost nothing. Nobody drives the runs. held are the sensitive variables of the program, if the caller has them. more tells
// that other moments may be due.
func (s *Service) StartRoutines(ctx context.Context, program string, held map[string]value.Value) (started []Triggered, more bool, err error) {
	if !s.options.Remote { // there the host knows when, by its own clock
		next, err := s.NextRoutine(ctx, program)
		if err != nil || next.IsZero() || time.Until(next) > 0 {
			return nil, false, err
		}
	}
	var a event.DueRoutines
	if err := s.ask(ctx, event.StoreRequest{Routine: &event.RoutineRequest{Operation: event.RoutineDue, Program: program}}, &a); err != nil || len(a.Due) == 0 {
		return nil, false, err
	}
	of, err := s.startables(ctx, a.Programs)
	if err != nil {
		return nil, false, err
	}
	done, errs := make([]event.Occurred, len(a.Due)), make([]error, len(a.Due))
	start := func(i int) {
		d := &a.Due[i]
		done[i] = event.Occurred{Routine: d.Routine, ScheduledAt: d.ScheduledAt}
		begin, no := of[d.Program].scheduled(d)
		if no == nil {
			_, no = s.programs.Group(begin.Definition, begin.First)
		}
		switch {
		case no != nil:
			done[i].Why = no.Error()
		case held != nil:
			done[i].Run, errs[i] = s.Start(ctx, *begin, held)
		default:
			done[i].Run, errs[i] = s.hostStart(ctx, *begin)
		}
	}
	places := make(chan struct{}, maxStarting)
	var all sync.WaitGroup
	for i := 0; i < len(a.Due); { // the moments of a routine stand together, and their runs start one after the other
		from := i
		for i < len(a.Due) && a.Due[i].Routine == a.Due[from].Routine {
			i++
		}
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			for k := from; k < i; k++ {
				start(k)
			}
		})
	}
	all.Wait()
	for i, err := range errs {
		if errors.Is(err, engine.ErrRefused) {
			done[i].Run, done[i].Why, errs[i] = "", err.Error(), nil
		}
	}
	if err := errors.Join(errs...); err != nil { // those that have started are due again, and start no second time
		return nil, false, err
	}
	if err := s.ask(ctx, event.StoreRequest{Routine: &event.RoutineRequest{Operation: event.RoutineStarted, Done: done}}, nil); err != nil {
		return nil, false, err
	}
	for i := range done {
		if d := &a.Due[i]; done[i].Run != "" {
			started = append(started, Triggered{Run: done[i].Run, Workflow: d.Workflow, Program: d.Program, Routine: d.Routine, ScheduledAt: d.ScheduledAt})
		}
	}
	return started, len(a.Due) >= event.MaxDueMoments, nil
}

// scheduled is the run that a moment of a routine starts.
func (x *startable) scheduled(d *event.DueMoment) (*engine.Start, error) {
	switch {
	case x == nil:
		return nil, errors.New("the program is not registered any more")
	case x.why != "":
		return nil, errors.New(x.why)
	}
	start, err := x.byRoutine(d.Routine)
	if err != nil {
		return nil, err
	}
	start.Header.Run, start.First.Cause = engine.RunIDOf(d.Identity()...), d.Cause()
	return start, nil
}

// byRoutine is a run of a routine.
func (x *startable) byRoutine(name string) (*engine.Start, error) {
	r := x.program.Routine(name)
	if r == nil {
		return nil, fmt.Errorf("the program has no routine %q any more", name)
	}
	g, err := x.program.Graph(r.Workflow)
	if err != nil {
		return nil, err
	}
	first := x.first.Run(r.Workflow)
	if first.Inputs, err = compose.New(g, expr.NewEvaluator(ir.NewestRules(), x.program.Files), &first).Scheduled(r); err != nil {
		return nil, err
	}
	return x.start(first), nil
}

// RunRoutine starts a run of a registered routine now, and returns its id. Nobody drives it.
func (s *Service) RunRoutine(ctx context.Context, name string) (string, error) {
	list, err := s.Routines(ctx)
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(list, func(r Routine) bool { return r.Name == name })
	if at < 0 {
		return "", fmt.Errorf("there is no routine %q in this store", name)
	}
	var starts event.DueStarts
	if err := s.ask(ctx, event.StoreRequest{Routine: &event.RoutineRequest{Operation: event.RoutineStarts, Program: list[at].Program}}, &starts); err != nil {
		return "", err
	}
	of, err := s.startables(ctx, []event.DueStarts{starts})
	if err != nil {
		return "", err
	}
	x := of[list[at].Program]
	if x.why != "" {
		return "", errors.New(x.why)
	}
	start, err := x.byRoutine(name)
	if err != nil {
		return "", err
	}
	start.First.Cause = &event.Cause{Kind: event.CauseRoutine, Name: name}
	return s.hostStart(ctx, *start)
}
