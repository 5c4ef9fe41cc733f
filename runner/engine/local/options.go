package local

import (
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

// Options say how a store is opened. The zero value opens it for everything but starting and driving runs, which need
// Factory, and driving, which needs Executor too.
type Options struct {
	Factory  engine.Factory
	Executor executor.Executor
	// Externals are the kinds of message that the machines of Factory know besides cancel. Signal refuses the others.
	Externals []event.ExternalKind
	// Group returns the group of a run that is about to start, from its definition and first event. nil: no run has a group.
	Group func(definition []byte, first event.RunStarted) (engine.Group, error)
	// Events returns the names of the events that a run waits for which is about to start, from its definition and first event. nil: no
	// run waits for events.
	Events func(definition []byte, first event.RunStarted) ([]string, error)
	// Waiting, if set, is called by Drive with the turn that a run waits for, and again when another run is ahead of it.
	Waiting func(run string, t engine.Turn)
	// Leftover, if set, is called for each run that was driven before, after this process owns the
	// run and before an attempt of it starts again. It ends the processes that the earlier driver's
	// attempts have left running.
	Leftover func(run string)
	// Watch, if set, receives the events and reactions of every run that is driven here, called
	// runs included, like the Watcher of its drive, but before any consequence is carried out.
	// Calls about one run come one at a time.
	Watch func(run string, events []event.Event, r *event.Reaction, replayed bool)
	// Restore, if set, makes the machine of a run from its state, for runs that begin from a snapshot: see snapshot.go. nil: no snapshots
	// are written or read.
	Restore func(h journal.Header, definition, state []byte) (engine.Machine, error)
	// Rules is the number of the newest rules that the machines know. A snapshot of a release with others is passed over.
	Rules int
	// WantsPast reports whether Watch has to see the whole past of a run when it is driven again. A run that begins from a snapshot
	// shows its first event, and what came after the snapshot. nil: the past of no run is wanted.
	WantsPast func(h journal.Header, definition []byte) bool
	// KeepEvery is how many events lie between two snapshots. 0 means [KeepEvery] at least, and more if a snapshot is large.
	KeepEvery uint64
	// Figures looks at the machine, for runs that read its figures. It is called by one goroutine of each drive. nil means this machine.
	Figures func() Figures
	// ReadOnly opens a store that is there already, takes no lock, and refuses to write.
	ReadOnly bool
	// TakeOver lets Drive take a run from a living process, which is then refused its next append.
	TakeOver bool
	// DeathLimit is handed on in driver_changed events; 0 means the machine's default.
	DeathLimit int
	// StopGrace is how long Drive waits for live attempts when its context is done. 0 means [engine.DefaultStopGrace].
	StopGrace time.Duration
	// Clock is the machine's time. nil means the wall clock.
	Clock Clock
	// At, if set, is called at each engine.Point, by any goroutine: for tests that kill the process there.
	At func(engine.Point)

	disk *disk // nil: the real one
}

// Clock gives the time of events, and wakes Drive for a timer. Checks of the inbox and the mark's
// sync always use real time.
type Clock interface {
	Now() time.Time
	// After returns a channel that receives once d has passed, and a function that gives the wait up.
	After(d time.Duration) (<-chan time.Time, func())
}

type wall struct{}

func (wall) Now() time.Time { return time.Now() }

func (wall) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

func (e *Engine) now() event.Time { return event.At(e.options.Clock.Now()) }

// reportPoint calls the listener of points, if there is one.
func (o *Options) reportPoint(p engine.Point) {
	if o.At != nil {
		o.At(p)
	}
}
