package enginetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/executor"
)

// Harness is how the suite gets at one kind of host.
type Harness struct {
	// NewStore makes an empty store, gone with the test.
	NewStore func(t *testing.T) Store
	// Kind is what the host can. The tests that need more are skipped.
	Kind Kind
	// Bubble runs each test in a bubble of package synctest. The hosts take the time from package time, so that the time moves when all
	// goroutines wait: a slow machine does not change what happens first.
	Bubble bool
	// Parallel runs tests at once, as many as the flag -parallel says: most of the time, the hosts wait.
	Parallel bool
}

// Kind is a set of abilities of a host.
type Kind int

// The abilities of hosts.
const (
	Blocks Kind = 1 << iota // attempts run in goroutines of their own, so that one may block until its context is done
	Shares                  // runs share what a store has: turns of groups, admissions, values, events, people
	Parks                   // runs that wait are parked
	// Alone: one process carries out all of a run, and nobody else does. What is in flight ends with it, and its first error is the last.
	Alone
	// Workers: several workers carry out the attempts of one run. They outlive the process that drives it, and its hosts are a [Crew].
	Workers
	// Begins: a start makes the first batch of the journal. With other hosts the first driver makes it.
	Begins
	// Fleet: any process may drive any run, and nobody knows whether one will: a run keeps what it has while none does.
	Fleet
)

// Crew is a host whose attempts are carried out by workers.
type Crew interface {
	Host
	// Lose kills the worker that carries out an attempt at a task. The host notices, and says why.
	Lose(task, why string)
	// Drain stops the worker that carries out an attempt at a task, and the worker gives the attempt back.
	Drain(task string)
	// Double makes the workers answer twice.
	Double()
}

// Store is one durable place and its time.
type Store interface {
	// Open starts a host of machines of f, with [Group] and [Externals], as a process of its own would: two hosts that are open at once are two drivers.
	Open(t *testing.T, f engine.Factory, x executor.Executor) Host
	// Advance moves the time of all hosts. A host whose time moves by itself may ignore it.
	Advance(d time.Duration)
	// Pass moves the time of all hosts while no run is driven.
	Pass(d time.Duration)
}

// Host is one process.
type Host interface {
	engine.Engine
	engine.Parker
	// CrashAt makes the host die at its nth commit from now on, before or after it became durable. From then on all that
	// it is asked returns an error that wraps ErrCrashed, and it owns nothing.
	CrashAt(n int, after bool)
	// BreakAt makes the nth commit from now on fail, with an error that wraps ErrDisk. The host lives on.
	BreakAt(n int)
	// Crash is death at once.
	Crash()
	// Close is a clean end. A host that has crashed is left alone.
	Close()
}

// What faults look like.
var (
	ErrCrashed = errors.New("the process was killed")
	ErrDisk    = errors.New("input/output error")
)

// FaultAt returns what a host asks before and after each commit: the answer is fault's at the nth one, before or after that became durable.
func FaultAt(n int, after bool, fault func() error) func(isAfter bool) error {
	return func(isAfter bool) error {
		if isAfter != after {
			return nil
		}
		if n--; n > 0 {
			return nil
		}
		return fault()
	}
}

// drive drives a run to its end and moves time along as long as it takes.
func drive(ctx context.Context, s Store, h Host, run string, w engine.Watcher) error {
	done := make(chan error, 1)
	go func() {
		_, err := h.Drive(ctx, run, w)
		done <- err
	}()
	return moveUntil(s, done)
}

func moveUntil(s Store, done <-chan error) error {
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(2 * time.Millisecond):
			s.Advance(time.Second)
		}
	}
}
