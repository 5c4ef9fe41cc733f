package sim

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// TestConformance: the simulation is a host like any other.
func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Harness{Kind: enginetest.Shares | enginetest.Parks | enginetest.Alone | enginetest.Begins, NewStore: func(*testing.T) enginetest.Store { return harness{NewStore(1)} }})
}

type harness struct{ *Store }

// Advance has nothing to do: virtual time moves by itself.
func (harness) Advance(time.Duration) {}

func (h harness) Open(_ *testing.T, f engine.Factory, x executor.Executor) enginetest.Host {
	return &process{New(h.Store, Options{Factory: f, World: world{x}, Externals: enginetest.Externals, Group: enginetest.Group, Events: enginetest.Events})}
}

// world is an executor whose attempts take a second of virtual time.
type world struct{ executor.Executor }

func (w world) Attempt(a event.Attempt, _ *rand.Rand) (event.AttemptFinished, time.Duration) {
	return w.Execute(context.Background(), a), time.Second
}

func (w world) Holds(run string, condition *event.Late) (bool, error) {
	return w.Executor.(executor.Judge).Holds(run, condition)
}

type process struct{ *Engine }

func (p *process) CrashAt(n int, after bool) {
	p.fault = enginetest.FaultAt(n, after, func() error { p.Engine.Close(); return enginetest.ErrCrashed })
}

func (p *process) BreakAt(n int) {
	p.fault = enginetest.FaultAt(n, false, func() error { return enginetest.ErrDisk })
}

func (p *process) Crash() {
	p.Engine.Close()
	p.dead = enginetest.ErrCrashed
}
