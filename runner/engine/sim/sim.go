// Package sim is the host for tests: virtual time, and faults from a seed.
//
// It drives the same machines through the same engine.Fold as every host and keeps the same journal bytes, in memory.
// Nothing in it waits: the clock jumps to whatever comes next. A [World] plays the part of executors. [Faults] says how
// often things go wrong: the driver dies before or after a commit or between two commands, the clock jumps, answers come
// twice, late, together, or not at all. Everything is drawn from one seed, so a run that went wrong goes wrong again.
//
// Runs of a group take turns, and DriveUntilParked parks runs, as on the local host. One goroutine drives all runs, so
// whoever wants many of them drives each until it is parked, asks Wakeable, and lets time pass if it names none, or adds them and asks
// DriveAll, which drives all of them as one process without parking.
//
// A simulation is single-threaded: neither Store nor Engine is safe for concurrent use. It knows no particular machine.
package sim

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// ErrCrashed is what Drive returns when the simulated driver died. Drive again to take the run over.
var ErrCrashed = errors.New("sim: the driver died")

// ErrStuck is what Drive returns when a run has not ended and waits for nothing, or for its turn: nothing else happens while Drive waits.
var ErrStuck = errors.New("sim: the run waits for nothing that could come")

// MaxEvents bounds a run, so that one that never ends is found.
const MaxEvents = 1_000_000

// MaxSilent is how often the same work falls silent: a machine may take more of it for a failure, which a fault must not make.
const MaxSilent = 2

// Epoch is the virtual time at which a simulation begins.
var Epoch = event.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

// World carries attempts out. It is told of every start and says how and after how long the attempt ends. It must not
// keep its own randomness: r is drawn from the simulation's seed.
type World interface {
	Attempt(a event.Attempt, r *rand.Rand) (event.AttemptFinished, time.Duration)
}

// Stopper is a World that says how long an attempt takes to end that was cancelled. Another world's take up to 5 seconds, by chance.
type Stopper interface {
	World
	Stopped(a event.Attempt) time.Duration
}

// Judge is a World that evaluates the conditions of breakers. In another world none can be evaluated.
type Judge interface {
	World
	Holds(run string, condition *event.Late) (bool, error)
}

// Moment is something that happens in a drive from outside, at a time. Do can send messages to runs, and look at them. An error ends the
// drive.
type Moment struct {
	At event.Time // see Store.After
	Do func() error
}

// Faults are probabilities per opportunity, from 0 to 1. The zero value is a world without faults.
type Faults struct {
	CrashBeforeCommit float64 // the events of a batch are lost
	CrashAfterCommit  float64 // the events are kept, none of their commands is carried out
	CrashMidway       float64 // some of the commands are carried out
	Twice             float64 // an answer comes a second time, or after one to a cancel; a timer fires again, or though it was cancelled
	Silent            float64 // an attempt falls silent, and is given up as lost
	Back              float64 // a worker gives an attempt back that it has not begun
	Slow              float64 // a commit takes up to a minute: what comes meanwhile shares the next batch, and its order is chance
	Busy              float64 // another process holds what an attempt asks for, for up to MaxBusy
	CrashParked       float64 // the process dies when it parks or wakes runs, or looks for runs to wake
	ClockJump         float64 // the wall clock jumps by up to a day, either way
	MaxCrashes        int     // in the life of the engine; 0 means 20
	CrashAt           int     // not by chance: the driver dies at this opportunity of all the above, counted from 1; 0 means never
}

// Options make an Engine.
type Options struct {
	Factory engine.Factory
	// Restore makes the machine of its state. If it is given, each drive goes on from the state of what it has rebuilt.
	Restore func(h journal.Header, definition, state []byte) (engine.Machine, error)
	World   World
	// Externals are the kinds of message that the machines of Factory know besides cancel. Signal refuses the others.
	Externals []event.ExternalKind
	// Group returns the group of a run that is about to start, from its definition and first event. nil: no run has a group.
	Group func(definition []byte, first event.RunStarted) (engine.Group, error)
	// Events returns the names of the events that a run waits for which is about to start. nil: no run waits for events.
	Events func(definition []byte, first event.RunStarted) ([]string, error)
	// Due, if set, is called in DriveAll whenever an event is to start a run. It starts the run, and says so.
	Due    func() error
	Faults Faults
	// DeathLimit goes into driver_changed; simulations that crash a lot raise it.
	DeathLimit int
	// Moments are in the order of time. A moment comes before what else happens at its time, once.
	Moments []Moment
	// Window is engine.Session's. With a bound on children, a run whose children wait is not parked.
	Window engine.Window
	// Slice is engine.Fold's; 0 leaves it.
	Slice int
	// Watch, if given, is shown what Drive's watcher is shown, and the same of every run that is called.
	Watch func(run string, events []event.Event, r *event.Reaction, replayed bool)
}
