package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// Changes are those of a registration, each in words.
type Changes struct {
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
}

// Any reports whether there is a change.
func (c *Changes) Any() bool { return len(c.Added)+len(c.Changed)+len(c.Removed) > 0 }

// StartsItself reports whether something in a program starts runs by itself.
func StartsItself(p *ir.Program) bool { return len(p.Ons)+len(p.Routines) > 0 }

// Registers reports whether a program has something that is registered: what starts runs by itself, or loops that a daemon keeps running.
func Registers(p *ir.Program) bool { return StartsItself(p) || len(p.Loops) > 0 }

// Register registers what starts runs of a program by itself, in place of all that was registered of it. start has the program and what
// its runs begin with: variables, their secrets, folder and environment; path is absolute and names the program. A program that has
// nothing of the kind is not registered any more.
func (s *Service) Register(ctx context.Context, path string, start *engine.Start) (c Changes, err error) {
	p, err := s.programs.Load(start.Header.Definition, start.Definition)
	if err != nil {
		return c, err
	}
	r := &event.RegisterRequest{Program: path, Release: start.Header.Release, First: event.Surroundings{Dir: start.First.Dir, Env: start.First.Env, Vars: start.First.Vars, Secrets: engine.Variables(start.First.Secrets), Queue: s.options.Queue}}
	if Registers(p.Program) {
		r.Definition, r.Source, r.Hash = string(start.Definition), string(start.Source), p.Hash
		for i := range p.Ons {
			spec, err := json.Marshal(&p.Ons[i])
			if err != nil {
				return c, err
			}
			r.Ons = append(r.Ons, event.Subscribed{Event: p.Ons[i].Event, Workflow: p.Ons[i].Workflow, Spec: string(spec)})
		}
		for i := range p.Routines {
			spec, err := json.Marshal(&p.Routines[i])
			if err != nil {
				return c, err
			}
			r.Routines = append(r.Routines, event.Scheduled{Name: p.Routines[i].Name, Spec: string(spec)})
		}
		for i := range p.Loops {
			spec, err := json.Marshal(&p.Loops[i])
			if err != nil {
				return c, err
			}
			r.Loops = append(r.Loops, event.KeptLoop{Name: p.Loops[i].Name, Spec: string(spec)})
		}
	}
	if err = s.ask(ctx, event.StoreRequest{Register: r}, &c); err != nil {
		return c, err
	}
	if slices.ContainsFunc(p.Ons, func(on ir.On) bool { return on.Files != nil }) {
		_, _ = s.WatchFiles().Look(ctx, path) // files that are there now are not news; a daemon says what it cannot read
	}
	return c, nil
}

// Unregister removes what is registered of a program. No run of it starts by itself from then on.
func (s *Service) Unregister(ctx context.Context, path string) (c Changes, err error) {
	err = s.ask(ctx, event.StoreRequest{Register: &event.RegisterRequest{Program: path}}, &c)
	return c, err
}

// Registered is a registered program.
type Registered struct {
	Path       string         `json:"path"`
	Definition string         `json:"definition"` // the hash
	At         string         `json:"at"`         // when it was registered with this definition, in RFC 3339
	Release    string         `json:"release"`
	On         []Subscription `json:"on"`
	Loops      []struct {
		Name  string `json:"name"`
		Since string `json:"since"`
	} `json:"loops"`
	Routines []struct {
		Name     string `json:"name"`
		Workflow string `json:"workflow"`
		Next     string `json:"next"` // "": none
		Paused   bool   `json:"paused"`
		Started  int    `json:"started"`
		Missed   int    `json:"missed"` // at least
	} `json:"routines"`
}

// Subscription is one of a registered program. Waiting counts the events that are still to start a run; Started, Skipped and Dead what
// became of others.
type Subscription struct {
	Event    string `json:"event"`
	Workflow string `json:"workflow"`
	Since    string `json:"since"`
	Waiting  int    `json:"waiting"`
	Started  int    `json:"started"`
	Skipped  int    `json:"skipped"`
	Dead     int    `json:"dead"`
	// Refused counts the deliveries to a webhook whose signatures did not hold.
	Refused int `json:"refused"`
	Last    *struct {
		Event string `json:"event"`
		Run   string `json:"run"`
		At    string `json:"at"`
	} `json:"last"`
}

// Registered lists the registered programs, in the order of their paths.
func (s *Service) Registered(ctx context.Context) (list []Registered, err error) {
	err = s.ask(ctx, event.StoreRequest{Programs: true}, &list)
	return list, err
}

// IsRegistered reports whether a program is registered, by its path.
func (s *Service) IsRegistered(ctx context.Context, path string) (bool, error) {
	list, err := s.Registered(ctx)
	for i := range list {
		if list[i].Path == path {
			return true, err
		}
	}
	return false, err
}

// ask carries out an operation, and reads its answer into a struct.
func (s *Service) ask(ctx context.Context, r event.StoreRequest, answer any) error {
	v, err := s.host.Ask(ctx, r)
	if err == nil && answer != nil {
		err = decodeAnswer(v, answer)
	}
	return err
}

func decodeAnswer(v value.Value, to any) error { return json.Unmarshal(value.Append(nil, v), to) }

// Triggered is a run that an event has started.
type Triggered struct {
	Run, Workflow string
	Program       string // the path
	Event, ID     string // the event's name and id
	Routine       string // in place of an event
	ScheduledAt   event.Time
}

// By says what started the run.
func (t *Triggered) By() string {
	if t.Routine != "" {
		return fmt.Sprintf("routine %s of %s", t.Routine, t.ScheduledAt)
	}
	return fmt.Sprintf("event %s (%s)", t.Event, t.ID)
}

// startable is a registered program from which runs start.
type startable struct {
	program    *Program
	definition []byte
	source     []byte
	sources    map[string][]byte // by workflow
	release    string
	first      event.Surroundings
	why        string // it cannot be loaded
}

// remoteDue is how many events are asked for at once where a message has a bound: each has its data.
const remoteDue = 20

// maxStarting is how many runs are made durable at once: they share commits.
const maxStarting = 32

// StartDue starts the runs that events are to start, those of one program or with "" of all, up to a bound, and returns them. Starting a
// run twice is starting it once, so several processes may call StartDue. Nobody drives the runs. held are the sensitive variables of the
// program, if the caller has them. more tells that other events may be due.
func (s *Service) StartDue(ctx context.Context, program string, held map[string]value.Value) (started []Triggered, more bool, err error) {
	var a event.DueAnswer
	most := event.MaxDueListed
	if s.options.Remote {
		most = remoteDue
	}
	if err := s.ask(ctx, event.StoreRequest{Due: &event.DueRequest{Program: program, Limit: most}}, &a); err != nil || len(a.Due) == 0 {
		s.handed.Store(a.Handed)
		return nil, false, err
	}
	s.handed.Store(a.Handed)
	of, err := s.startables(ctx, a.Programs)
	if err != nil {
		return nil, false, err
	}
	done := make([]event.Delivered, len(a.Due))
	runs := make([]*Triggered, len(a.Due))
	errs := make([]error, len(a.Due))
	places := make(chan struct{}, maxStarting)
	var all sync.WaitGroup
	for i := range a.Due {
		d := &a.Due[i]
		done[i].Due = d.Due
		x := of[d.Program]
		if x == nil || x.why != "" || d.Event == nil {
			done[i].Dead = "the program is not registered any more"
			if x != nil && x.why != "" {
				done[i].Dead = x.why
			}
			continue
		}
		start, no := x.begin(d.Subscription, d.Workflow, d.Event)
		if no != nil {
			done[i].Dead = no.Error()
			continue
		}
		if start == nil {
			continue
		}
		start.Header.Run = engine.RunIDOf(d.Identity()...)
		if _, no := s.programs.Group(start.Definition, start.First); no != nil {
			done[i].Dead = no.Error()
			continue
		}
		runs[i] = &Triggered{Workflow: d.Workflow, Program: d.Program, Event: d.Event.Name, ID: d.Event.ID}
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			if held != nil {
				done[i].Run, errs[i] = s.Start(ctx, *start, held)
			} else {
				done[i].Run, errs[i] = s.hostStart(ctx, *start)
			}
			runs[i].Run = done[i].Run
		})
	}
	all.Wait()
	for i, err := range errs {
		if errors.Is(err, engine.ErrRefused) {
			done[i].Dead, errs[i], runs[i] = err.Error(), nil, nil
		}
	}
	if err := errors.Join(errs...); err != nil { // those that have started are due again, and start no second time
		return nil, false, err
	}
	if _, err := s.host.Ask(ctx, event.StoreRequest{Started: &event.StartedRequest{Done: done}}); err != nil {
		return nil, false, err
	}
	for _, r := range runs {
		if r != nil {
			started = append(started, *r)
		}
	}
	return started, len(a.Due) >= most, nil
}

// Launch starts the runs that events and moments of routines are to start now, up to a bound, and with loops those of registered loops that are to
// run. Who calls it knows when there are some.
func (s *Service) Launch(ctx context.Context, loops bool) error {
	_, _, err := s.StartDue(ctx, "", nil)
	_, _, err2 := s.StartRoutines(ctx, "", nil)
	if loops {
		s.keeping.Lock()
		defer s.keeping.Unlock()
		if s.keeper == nil {
			s.keeper = s.NewLoopKeeper(false)
		}
		_, err3 := s.keeper.Keep(ctx)
		err2 = errors.Join(err2, err3)
	}
	return errors.Join(err, err2)
}

// HandOver hands a run to the daemon of the store.
func (s *Service) HandOver(ctx context.Context, run string) error {
	_, err := s.host.Ask(ctx, event.StoreRequest{Hand: run})
	return err
}

// TakeHanded returns the runs that were handed to the daemon, once, as far as the last StartDue has seen that there are some.
func (s *Service) TakeHanded(ctx context.Context) (runs []string, err error) {
	if !s.handed.Load() {
		return nil, nil
	}
	err = s.ask(ctx, event.StoreRequest{TakeHanded: true}, &runs)
	return runs, err
}

// startables are registered programs, by their paths.
func (s *Service) startables(ctx context.Context, programs []event.DueStarts) (map[string]*startable, error) {
	of := map[string]*startable{}
	for i := range programs {
		p := &programs[i]
		x := &startable{release: p.Release}
		if err := json.Unmarshal([]byte(p.First), &x.first); err != nil {
			return nil, err
		}
		if err := s.loadRegistered(ctx, p.Definition, x); err != nil {
			return nil, err
		}
		of[p.Path] = x
	}
	return of, nil
}

// loadRegistered loads a registered program. A program that this release cannot load is told as x.why.
func (s *Service) loadRegistered(ctx context.Context, hash string, x *startable) error {
	var texts struct{ Definition, Source string }
	if err := s.ask(ctx, event.StoreRequest{Definition: hash}, &texts); err != nil {
		return err
	}
	var err error
	x.definition, x.source = []byte(texts.Definition), []byte(texts.Source)
	if x.program, err = s.programs.Load(hash, x.definition); err != nil {
		x.why = fmt.Sprintf("the registered program cannot be loaded: %v", err)
	}
	return nil
}

// begin is the run that an event starts; nil if the condition of the subscription does not hold.
func (x *startable) begin(subscription, workflow string, e *event.DueEvent) (*engine.Start, error) {
	on := x.program.Subscription(subscription, workflow)
	if on == nil {
		return nil, fmt.Errorf("the program has no block  on %q  for workflow %q any more", subscription, workflow)
	}
	g, err := x.program.Graph(workflow)
	if err != nil {
		return nil, err
	}
	data, err := value.Decode(e.Data)
	if err != nil {
		return nil, err
	}
	first := x.first.Run(workflow)
	inputs, fits, err := compose.New(g, expr.NewEvaluator(ir.NewestRules(), x.program.Files), &first).Triggered(on, data)
	if err != nil || !fits {
		return nil, err
	}
	first.Inputs = inputs
	first.Cause = e.Cause()
	return x.start(first), nil
}

// start is a run of the program.
func (x *startable) start(first event.RunStarted) *engine.Start {
	return &engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: x.program.Hash, Workflow: first.Workflow, Release: x.release},
		First: first, Definition: x.definition, Source: x.sourceOf(first.Workflow), Queue: x.first.Queue}
}

// sourceOf is the source that is kept with a run of a workflow: the registered one names the nodes of all workflows.
func (x *startable) sourceOf(workflow string) []byte {
	if text := x.sources[workflow]; text != nil {
		return text
	}
	var s Source
	if json.Unmarshal(x.source, &s) != nil {
		return nil
	}
	where := s.Where
	s.Where = map[string]string{}
	for key, at := range where { // any order: it fills a map
		if of, node, ok := strings.Cut(key, "/"); ok && of == workflow {
			s.Where[node] = at
		}
	}
	if x.sources == nil {
		x.sources = map[string][]byte{}
	}
	x.sources[workflow] = s.Encode()
	return x.sources[workflow]
}
