// Package serve is the daemon of a store: it drives the runs that nobody drives, starts the runs that events start, keeps the registered loops
// running, and answers over HTTP.
//
// The daemon is thin: what it does can be done by commands, too, only not by itself. A [runner.Supervisor] drives the runs, the store says
// which events and routines are to start runs ([runner.Service.StartDue], [runner.Service.StartRoutines]), and the HTTP server (http.go, api.go) carries out the same requests as the
// commands. All state is in the store, so the daemon can be killed at any moment: the next one goes on.
//
// One daemon serves a store ([Lock]). The package opens no store and knows no flags. Enter at [New].
package serve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/standalone"
)

const (
	// dueEvery is how often the daemon looks for events that are to start runs, and for runs that were handed over.
	dueEvery = 50 * time.Millisecond
	// loopsEvery is how often the daemon looks whether the registered loops run.
	loopsEvery = time.Second
	// lettersEvery is how often the daemon looks for new dead letters.
	lettersEvery = time.Second
	// leftEvery is how often the daemon looks for runs that nobody drives. Where a look takes long, because many runs wait, the daemon looks
	// less often, so that looks take a twentieth of the time at most.
	leftEvery = time.Second
	// youngFor is how long a run that was never driven is left to the process that made it.
	youngFor = 10 * time.Second
	// takenAtOnce is how many runs that nobody drives the daemon takes over in each dueEvery, those that are due first. Taking a run over costs
	// some milliseconds of CPU, and runs that are woken meanwhile, and requests, should not wait for a thousand of them.
	takenAtOnce = 16
	// tryAgain is how long a run is left alone that could not be driven.
	tryAgain = time.Minute
	// DefaultMaxDriven is how many runs the daemon drives at once: those with something in flight. More wait until one of them has ended, and
	// runs that are woken wait, too. A driven run takes some 50 KiB of memory.
	DefaultMaxDriven = 4000
	// DefaultGrace is how long running work has to end when the daemon stops, before it is stopped as by Ctrl-C. A stop then takes less than
	// 10 s, which is how long many supervisors of processes wait before they kill, unless an attempt ignores TERM.
	DefaultGrace = 8 * time.Second
)

// Options are those of a daemon. Store must be set.
type Options struct {
	Store *standalone.Store
	// Say hears what the daemon does, a line each. Any goroutine calls it. nil: nobody hears it.
	Say func(string)
	// Grace is how long running work has to end when the daemon stops; 0 means DefaultGrace.
	Grace time.Duration
	// Release is noted in runs that the daemon makes.
	Release string
	// MaxDriven is the limit of runs that are driven at once; 0 means DefaultMaxDriven.
	MaxDriven int
	// Dir is the folder of what is the daemon's own, such as its token; "" means that of the store.
	Dir string
}

// Daemon serves one store. Where a Temporal server keeps the runs, it answers over HTTP alone: workers drive them. It does nothing before
// [Daemon.Run] or [Daemon.Once].
type Daemon struct {
	options Options
	store   *standalone.Store
	runs    *runner.Supervisor

	mu      sync.Mutex
	refused map[string]refusedDrive // of runs that could not be driven: when last, and why
	// routines is when to look for routines next, and left are runs that are to be taken over. The loop of Run or Once alone uses them.
	routines time.Time
	loops    *runner.LoopKeeper
	unkept   map[string]string // by loop: why it could not be started last
	left     []string
	// lastLetter is the number of the newest dead letter that was said, or that was there when the daemon began.
	// lastAgain is the number of those that were given up again, by then.
	lastLetter, lastAgain uint64
	lettersKnown          bool
	ended                 atomic.Bool // a run has ended since the last look at the loops

	young  time.Duration // see youngFor
	begun  time.Time
	ready  bool // what was left has been looked at once
	stops  bool
	server *Server
}

// refusedDrive is a drive that could not begin, or broke off.
type refusedDrive struct {
	at  time.Time
	why error
}

// New returns a daemon.
func New(o Options) *Daemon {
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if o.Dir == "" {
		o.Dir = o.Store.Dir()
	}
	if o.MaxDriven == 0 {
		o.MaxDriven = DefaultMaxDriven
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	d := &Daemon{options: o, store: o.Store, refused: map[string]refusedDrive{}, unkept: map[string]string{}, young: youngFor, begun: time.Now()}
	d.runs = runner.NewSupervisor(o.Store, runner.SupervisorOptions{MaxDriven: o.MaxDriven, Ended: d.noteEnd})
	return d
}

// Ready reports whether the daemon drives what was left when it began, and does not stop.
func (d *Daemon) Ready() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ready && !d.stops
}

// Run serves until ctx is done: then it takes no new work, gives running work its grace, and stops the rest. The error is that of the store,
// nil after a stop.
func (d *Daemon) Run(ctx context.Context) error {
	if d.store.Address() != "" {
		d.mu.Lock()
		d.ready = true
		d.mu.Unlock()
		<-ctx.Done()
		return nil
	}
	drives, stop := context.WithCancel(context.Background())
	defer stop()
	over := make(chan error, 1)
	go func() { over <- d.runs.Run(drives) }()
	looks, looked := context.WithCancel(ctx)
	var looking sync.WaitGroup
	looking.Go(func() { d.watchFiles(looks) })
	err := d.work(ctx, over)
	looked()
	looking.Wait()
	if err == nil {
		err = d.drain(over)
	}
	stop()
	if ended := <-over; err == nil && !errors.Is(ended, context.Canceled) {
		err = ended
	}
	return err
}

// work takes in work until ctx is done.
func (d *Daemon) work(ctx context.Context, over chan error) error {
	var next, loops, letters time.Time
	d.loops = d.store.NewLoopKeeper(false)
	for ctx.Err() == nil {
		if began := time.Now(); !began.Before(next) {
			if _, err := d.adoptLeft(ctx); err != nil {
				return unlessDone(ctx, err)
			}
			next = time.Now().Add(max(leftEvery, 20*time.Since(began)))
			d.mu.Lock()
			d.ready = true
			d.mu.Unlock()
		}
		if now := time.Now(); !now.Before(loops) || d.ended.Swap(false) {
			if err := d.keepLoops(ctx); err != nil {
				return unlessDone(ctx, err)
			}
			loops = time.Now().Add(loopsEvery)
		}
		if now := time.Now(); !now.Before(letters) {
			if err := d.sayLetters(ctx); err != nil {
				return unlessDone(ctx, err)
			}
			letters = now.Add(lettersEvery)
		}
		more, err := d.startDue(ctx)
		if err != nil {
			return unlessDone(ctx, err)
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
		case err := <-over:
			over <- err
			return err
		case <-time.After(dueEvery):
		}
	}
	return nil
}

// drive drives a run that the daemon has started. On a server, workers drive it.
func (d *Daemon) drive(run string) {
	if d.store.Address() == "" {
		d.runs.Add(run)
	}
}

func unlessDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// drain lets running work end.
func (d *Daemon) drain(over chan error) error {
	d.mu.Lock()
	d.stops = true
	d.mu.Unlock()
	for _, run := range d.runs.Drain() { // so that the next daemon drives them at once
		if err := d.store.HandOver(context.Background(), run); err != nil {
			return err
		}
	}
	for until := time.Now().Add(d.options.Grace); time.Now().Before(until) && d.runs.Driven() > 0; {
		select {
		case err := <-over:
			over <- err
			return err
		case <-time.After(dueEvery):
		}
	}
	return nil
}

// adoptLeft has the runs driven that nobody drives, and takes over those that only wait. A run that was just made is left to the process that
// made it, while another process lives that may have; waits is how long that is at most.
func (d *Daemon) adoptLeft(ctx context.Context) (waits time.Duration, err error) {
	if _, err := d.store.Adopt(ctx); err != nil {
		return 0, err
	}
	alone, err := d.store.Alone() // before the look: whoever starts a run from here on lives
	if err != nil {
		return 0, err
	}
	left, err := d.store.Left(ctx)
	d.left = nil
	now := time.Now()
	for i := range left {
		info := &left[i]
		if settled := info.Created.Go().Add(d.young); info.Status == event.Pending && !alone && now.Before(settled) {
			waits = max(waits, min(d.young, settled.Sub(now)))
			continue
		}
		d.mu.Lock()
		last, refused := d.refused[info.Run]
		d.mu.Unlock()
		if !refused || now.Sub(last.at) > tryAgain {
			d.left = append(d.left, info.Run)
		}
	}
	return waits, err
}

// keepLoops drives the registered loops.
func (d *Daemon) keepLoops(ctx context.Context) error {
	started, err := d.loops.Keep(ctx)
	for _, l := range started {
		if l.Run == "" {
			if d.unkept[l.Name] != l.Why {
				d.options.Say(fmt.Sprintf("loop %s is not started: %s", l.Name, l.Why))
			}
			d.unkept[l.Name] = l.Why
			continue
		}
		delete(d.unkept, l.Name)
		if l.Begun {
			d.options.Say(fmt.Sprintf("run %s of loop %s: started", l.Run, l.Name))
		}
		d.runs.Add(l.Run)
	}
	return err
}

// startDue starts the runs that events are to start, and takes over those that were handed to the daemon, and some of those that are left.
func (d *Daemon) startDue(ctx context.Context) (more bool, err error) {
	n := min(len(d.left), takenAtOnce)
	d.runs.Add(d.left[:n]...)
	d.left = d.left[n:]
	started, more, err := d.store.StartDue(ctx, "", nil)
	if err == nil {
		var timed []runner.Triggered
		timed, err = d.startRoutines(ctx)
		started = append(started, timed...)
	}
	for _, r := range started {
		d.options.Say(fmt.Sprintf("run %s of %s: started by %s", r.Run, r.Workflow, r.By()))
		d.runs.Add(r.Run)
	}
	if err != nil {
		return false, err
	}
	handed, err := d.store.TakeHanded(ctx)
	d.runs.Add(handed...)
	return more || len(started) > 0, err
}

// startRoutines starts the runs whose time has come. Of routines that are registered meanwhile it hears within a second.
func (d *Daemon) startRoutines(ctx context.Context) (started []runner.Triggered, err error) {
	now := time.Now()
	if now.Before(d.routines) {
		return nil, nil
	}
	if started, _, err = d.store.StartRoutines(ctx, "", nil); err != nil {
		return started, err
	}
	next, err := d.store.NextRoutine(ctx, "")
	if d.routines = now.Add(time.Second); !next.IsZero() && next.Before(d.routines) {
		d.routines = next
	}
	return started, err
}

// noteEnd is told of the end of each drive that is not a parking.
func (d *Daemon) noteEnd(run string, end event.End, err error) {
	switch {
	case err == nil:
		d.ended.Store(true) // it may be one of a loop, and another one is to follow
		d.mu.Lock()
		delete(d.refused, run)
		d.mu.Unlock()
		d.options.Say(fmt.Sprintf("run %s: %s", run, end.Status))
	case errors.Is(err, engine.ErrOwned), errors.Is(err, engine.ErrFenced), errors.Is(err, context.Canceled), errors.Is(err, engine.ErrClosed):
	default:
		d.mu.Lock()
		d.refused[run] = refusedDrive{time.Now(), err}
		d.mu.Unlock()
		d.options.Say(fmt.Sprintf("run %s is not driven: %v", run, err))
	}
}

// Once does what is due and returns: it starts the runs of events, has each registered loop go round once, and drives all runs that nobody drives until each has ended or waits for
// something that comes later. When ctx is done it stops as Run does.
func (d *Daemon) Once(ctx context.Context) error {
	drives, stop := context.WithCancel(context.Background())
	defer stop()
	over := make(chan error, 1)
	go func() { over <- d.runs.Run(drives) }()
	err := d.onceWork(ctx, over)
	if err == nil && ctx.Err() != nil {
		err = d.drain(over)
	}
	stop()
	if ended := <-over; err == nil && !errors.Is(ended, context.Canceled) {
		err = ended
	}
	return err
}

func (d *Daemon) onceWork(ctx context.Context, over chan error) error {
	if err := d.sayLetters(ctx); err != nil {
		return unlessDone(ctx, err)
	}
	d.lookOnce(ctx)
	d.loops = d.store.NewLoopKeeper(true)
	if err := d.keepLoops(ctx); err != nil {
		return unlessDone(ctx, err)
	}
	waits, err := d.adoptLeft(ctx)
	if err != nil {
		return unlessDone(ctx, err)
	}
	for began, again := time.Now(), time.Now().Add(waits); ctx.Err() == nil; {
		if now := time.Now(); waits > 0 && now.After(again) { // for runs that were just made
			if waits, err = d.adoptLeft(ctx); err != nil {
				return unlessDone(ctx, err)
			}
			if again = now.Add(waits); now.Sub(began) > 2*d.young { // others are made all the time, or the clock was set back
				waits = 0
			}
		}
		idle := d.runs.Idle() // before the look: what a run publishes is there when the run has ended
		more, err := d.startDue(ctx)
		if err != nil {
			return unlessDone(ctx, err)
		}
		if !more && idle && waits == 0 && len(d.left) == 0 {
			due, next, err := d.store.Wakeable(ctx, 1)
			if err != nil {
				return unlessDone(ctx, err)
			}
			if len(due) == 0 && (next == 0 || next > event.At(time.Now())) && d.runs.Idle() {
				return d.sayLetters(ctx)
			}
		}
		select {
		case <-ctx.Done():
		case err := <-over:
			over <- err
			return err
		case <-time.After(dueEvery):
		}
	}
	return nil
}
