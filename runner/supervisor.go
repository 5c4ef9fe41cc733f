package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

const (
	// DefaultMaxDriven is how many runs a supervisor drives at once.
	DefaultMaxDriven = 1000
	// wakeEvery is how often a supervisor asks its host for parked runs that got a message or their turn. A timer that is due is
	// not left until then.
	wakeEvery = 50 * time.Millisecond
)

// SupervisorOptions say how a supervisor works. The zero value is useful.
type SupervisorOptions struct {
	// MaxDriven is the limit of runs that are driven at once; more wait, in the order in which they came. 0 means DefaultMaxDriven.
	MaxDriven int
	// Watch, if set, returns the watcher of a run's next drive. It may return nil.
	Watch func(run string) engine.Watcher
	// Ended, if set, is called once for each run that the supervisor does not drive any more, with the run's end or the error of its
	// drive. When the supervisor stops, that error is the cause of the stop. Calls come from many goroutines.
	Ended func(run string, end event.End, err error)
}

// Supervisor drives many runs in one process. It parks the runs of which nothing is in flight, and drives them again when their due has
// come, when they get a message, or when it is their turn. A parked run takes no memory here. It is safe for concurrent use.
type Supervisor struct {
	host    engine.Parker
	options SupervisorOptions
	changed chan struct{} // holds a token when ready or driven has changed
	drives  sync.WaitGroup

	mu     sync.Mutex
	ready  []string        // runs that wait for a place
	known  map[string]bool // runs that are ready or driven
	driven int
}

// NewSupervisor returns a supervisor for the runs of a host. It does nothing before Run.
func NewSupervisor(host engine.Parker, o SupervisorOptions) *Supervisor {
	if o.MaxDriven <= 0 {
		o.MaxDriven = DefaultMaxDriven
	}
	return &Supervisor{host: host, options: o, changed: make(chan struct{}, 1), known: map[string]bool{}}
}

// Add hands runs over to the supervisor and returns at once. A run that it has already is left alone.
func (s *Supervisor) Add(runs ...string) {
	s.mu.Lock()
	for _, run := range runs {
		if !s.known[run] {
			s.known[run] = true
			s.ready = append(s.ready, run)
		}
	}
	s.mu.Unlock()
	s.noteChange()
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
	for {
		s.startReady(ctx)
		next, err := s.wakeParked(ctx)
		if err == nil {
			err = s.rest(ctx, next)
		}
		if err != nil {
			stop(err)
			return err
		}
	}
}

// startReady starts the drives for which there is a place.
func (s *Supervisor) startReady(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.ready) > 0 && s.driven < s.options.MaxDriven {
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
	delete(s.known, run)
	s.mu.Unlock()
	if !errors.Is(err, engine.ErrParked) && s.options.Ended != nil {
		s.options.Ended(run, end, err)
	}
	s.noteChange()
}

// wakeParked adds the parked runs that must be driven, as many as there are places. next is the time at which the first of the others is due.
func (s *Supervisor) wakeParked(ctx context.Context) (next event.Time, err error) {
	s.mu.Lock()
	free := s.options.MaxDriven - s.driven - len(s.ready)
	s.mu.Unlock()
	if free <= 0 {
		return 0, nil
	}
	runs, next, err := s.host.Wakeable(ctx, free)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if len(runs) > 0 {
		s.Add(runs...)
		s.startReady(ctx)
	}
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
	}
	// Many drives end at once: one look is enough for those of the next moment.
	select {
	case <-timer.C:
	case <-time.After(time.Millisecond):
	case <-ctx.Done():
	}
	return nil
}
