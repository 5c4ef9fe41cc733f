package runner

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

const (
	// DefaultMaxDriven is how many runs a supervisor drives at once.
	DefaultMaxDriven = 1000
	// wakeEvery is how often a supervisor asks its host for parked runs that got a message or their turn from another process. A timer that
	// is due is not left until then, and the host tells what comes from this process.
	wakeEvery = 50 * time.Millisecond
	// ownStart is how long a run that was just made is left to the process that made it.
	ownStart = 10 * time.Second
)

// SupervisorOptions say how a supervisor works. The zero value is useful.
type SupervisorOptions struct {
	// MaxDriven is the limit of runs that are driven at once; more wait, in the order in which they came. 0 means DefaultMaxDriven.
	MaxDriven int
	// Watch, if set, returns the watcher of a run's next drive. It may return nil.
	Watch func(run string) engine.Watcher
	// Adopt, if set, is called once for each run that no process drives when Run begins, and reports whether the supervisor drives the
	// run. Such a run was stopped, or its process died. A run that was made in the last 10 s and never driven is asked about after that
	// time: the process that made it may be about to drive it. If Adopt is nil, the supervisor drives only runs that it got by Add.
	Adopt func(engine.Info) bool
	// Ended, if set, is called once for each run whose last drive here has ended, with the run's end or the error of that drive. When the
	// supervisor stops, the error is the cause of the stop for each run that is driven then; runs that are parked then get no call. If
	// another process has taken a run, there is a call only if the run was added and was not parked here since. A called run that was
	// parked and woken counts as a run of its own. Calls come from many goroutines.
	Ended func(run string, end event.End, err error)
}

// SupervisorHost drives the runs of a supervisor.
type SupervisorHost interface {
	engine.Parker
	engine.LeftFinder
	// Watching is how many of the driven runs wait for sources that they watch, and for nothing else.
	Watching() int
}

// Supervisor drives many runs in one process. It parks the runs of which nothing is in flight, and drives them again when their due has
// come, when they get a message, or when it is their turn. A parked run takes no memory here. It is safe for concurrent use.
type Supervisor struct {
	host    SupervisorHost
	options SupervisorOptions
	changed chan struct{} // holds a token when ready or driven has changed
	drives  sync.WaitGroup

	mu     sync.Mutex
	ready  []string        // runs that wait for a place
	known  map[string]bool // runs that are ready or driven: whether somebody added them
	left   map[string]bool // runs whose drive has ended since the host was asked which runs to drive: its answer may be older
	driven int
	drains bool
}

// NewSupervisor returns a supervisor for the runs of a host. It does nothing before Run.
func NewSupervisor(host SupervisorHost, o SupervisorOptions) *Supervisor {
	if o.MaxDriven <= 0 {
		o.MaxDriven = DefaultMaxDriven
	}
	return &Supervisor{host: host, options: o, changed: make(chan struct{}, 1), known: map[string]bool{}, left: map[string]bool{}}
}

// Add hands runs over to the supervisor and returns at once. A run that it has already is left alone.
func (s *Supervisor) Add(runs ...string) {
	s.addReady(true, runs...)
	s.noteChange()
}

// addReady makes runs ready, unless they are ready or driven. added says whether somebody added them.
func (s *Supervisor) addReady(added bool, runs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, run := range runs {
		if _, known := s.known[run]; !known {
			s.ready = append(s.ready, run)
		}
		s.known[run] = s.known[run] || added
	}
}

// beginLook begins to ask the host which runs must be driven.
func (s *Supervisor) beginLook() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.left)
}

// addFound makes runs ready that the host named since the look began. A run whose drive ended in the meantime is left: the host may have
// named it for the time before that drive, and drives end with a look of their own.
func (s *Supervisor) addFound(runs ...string) {
	s.mu.Lock()
	runs = slices.DeleteFunc(runs, func(run string) bool { return s.left[run] })
	s.mu.Unlock()
	s.addReady(false, runs...)
}

// Drain has the supervisor begin no drive any more, and returns the runs that waited for one. What is driven goes on.
func (s *Supervisor) Drain() (waited []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drains = true
	return slices.Clone(s.ready)
}

// Driven is how many runs are driven now. Parked runs do not count, and neither do loops that only watch their sources.
func (s *Supervisor) Driven() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.driven-s.host.Watching())
}

// Idle reports whether no run is driven, or waits for a place.
func (s *Supervisor) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ready) == 0 && s.driven <= s.host.Watching()
}

func (s *Supervisor) noteChange() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Run drives runs until ctx is done, and then waits until all of them have stopped. It returns ctx's cause, or the error of a
// host that can no longer say which runs must be driven.
func (s *Supervisor) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer s.drives.Wait()
	defer stop(nil)
	look := event.At(time.Now()) // for runs that nobody drives; 0: no more
	var young map[string]bool    // the runs that the next look is for; nil: all
	for {
		next, err := event.Time(0), error(nil)
		if look != 0 && look <= event.At(time.Now()) {
			young, look, err = s.adoptLeft(ctx, young)
		}
		s.startReady(ctx)
		if err == nil {
			next, err = s.wakeParked(ctx)
		}
		if err == nil {
			err = s.rest(ctx, next)
		}
		if err != nil {
			stop(err)
			return err
		}
	}
}

// adoptLeft makes the runs ready that nobody drives and that the supervisor is to drive. Of all runs, or of those in only if that is not
// nil, young are those that were just made, and again is the time to look at them; 0 if there are none.
func (s *Supervisor) adoptLeft(ctx context.Context, only map[string]bool) (young map[string]bool, again event.Time, err error) {
	if s.options.Adopt == nil {
		return nil, 0, nil
	}
	s.beginLook()
	left, err := s.host.Left(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	young = map[string]bool{}
	for i := range left {
		settled := left[i].Created.Add(ownStart)
		switch {
		case only != nil && !only[left[i].Run]:
		case left[i].Status == event.Pending && settled > event.At(time.Now()):
			young[left[i].Run], again = true, max(again, settled)
		case s.options.Adopt(left[i]):
			s.addFound(left[i].Run)
		}
	}
	return young, again, err
}

// startReady starts the drives for which there is a place.
func (s *Supervisor) startReady(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.ready) > 0 && s.driven < s.options.MaxDriven && !s.drains {
		run := s.ready[0]
		s.ready = s.ready[1:]
		s.driven++
		s.drives.Go(func() { s.drive(ctx, run) })
	}
	if len(s.ready) == 0 {
		s.ready = nil // its memory
	}
}

// drive drives a run until it has ended or is parked.
func (s *Supervisor) drive(ctx context.Context, run string) {
	var w engine.Watcher
	if s.options.Watch != nil {
		w = s.options.Watch(run)
	}
	end, err := s.host.DriveUntilParked(ctx, run, w)
	s.mu.Lock()
	s.driven--
	added := s.known[run]
	delete(s.known, run)
	s.left[run] = true
	s.mu.Unlock()
	elsewhere := errors.Is(err, engine.ErrOwned) && !added
	if !errors.Is(err, engine.ErrParked) && !elsewhere && s.options.Ended != nil {
		s.options.Ended(run, end, err)
	}
	s.noteChange()
}

// wakeParked adds the parked runs that must be driven, as many as there are places. next is the time at which the first of the others is due.
func (s *Supervisor) wakeParked(ctx context.Context) (next event.Time, err error) {
	s.mu.Lock()
	free := s.options.MaxDriven - s.driven - len(s.ready)
	drains := s.drains
	s.mu.Unlock()
	if free <= 0 || drains {
		return 0, nil
	}
	s.beginLook()
	runs, next, err := s.host.Wakeable(ctx, free)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	s.addFound(runs...)
	s.startReady(ctx)
	return next, err
}

// rest waits until it is worth looking again.
func (s *Supervisor) rest(ctx context.Context, next event.Time) error {
	wait := wakeEvery
	if next != 0 {
		wait = min(wait, max(next.Sub(event.At(time.Now())), time.Millisecond))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.changed:
	case <-s.host.Woken():
	}
	// Many drives end at once, or many runs wake: one look is enough for those of the next moment.
	select {
	case <-timer.C:
	case <-time.After(time.Millisecond):
	case <-ctx.Done():
	}
	return nil
}
