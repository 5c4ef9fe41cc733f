package local

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/executor"
)

func TestMain(m *testing.M) {
	if asChild() {
		return
	}
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Harness{Kind: enginetest.Blocks | enginetest.Shares | enginetest.Parks | enginetest.Alone | enginetest.Begins, Bubble: true, NewStore: func(t *testing.T) enginetest.Store {
		return &store{dir: t.TempDir() + "/.flowrun"}
	}})
}

type store struct {
	dir   string
	clock *clock // nil: the time of a bubble
}

func newStore(t testing.TB) *store { return &store{dir: t.TempDir() + "/.flowrun", clock: newClock()} }

func (s *store) Advance(d time.Duration) {
	if s.clock != nil {
		s.clock.advance(d)
	} else {
		time.Sleep(d)
	}
}

func (s *store) Pass(d time.Duration) { s.Advance(d) }

func (s *store) Open(t *testing.T, f engine.Factory, x executor.Executor) enginetest.Host {
	t.Helper()
	return &host{Engine: s.open(t, Options{Factory: f, Executor: x, Externals: enginetest.Externals, Group: enginetest.Group, Events: enginetest.Events})}
}

func (s *store) open(t testing.TB, o Options) *Engine {
	t.Helper()
	if s.clock != nil {
		o.Clock = s.clock
	}
	e, err := Open(s.dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// host is an engine that can be killed.
type host struct{ *Engine }

func (h *host) CrashAt(n int, after bool) {
	h.faultAt(n, after, func() error {
		h.unlock()
		return enginetest.ErrCrashed
	})
}

func (h *host) BreakAt(n int) { h.faultAt(n, false, func() error { return enginetest.ErrDisk }) }

func (h *host) faultAt(n int, after bool, fault func() error) {
	h.commits.turn <- struct{}{}
	defer func() { <-h.commits.turn }()
	h.commits.fault = enginetest.FaultAt(n, after, fault)
}

// unlock lets go of the process's lock, as its death would.
func (h *host) unlock() {
	if d := h.driver.Load(); d != nil {
		d.lock.Close()
	}
}

func (h *host) Crash() {
	h.commits.failStore(fmt.Errorf("%w", enginetest.ErrCrashed))
	h.mu.Lock()
	h.unlock()
	for _, d := range h.drives {
		if d != nil {
			d.stop(enginetest.ErrCrashed)
		}
	}
	h.mu.Unlock()
	h.Close()
}

func (h *host) Close() { h.Engine.Close() }

// clock stands still until it is moved, or set. What waits does so by the stopwatch, as with time.After, and does not notice that
// the clock is set.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	passed time.Duration                    // by the stopwatch
	waits  map[chan time.Time]time.Duration // until what it shows
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), waits: map[chan time.Time]time.Duration{}}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	if d <= 0 {
		ch <- c.now
		return ch, func() {}
	}
	c.waits[ch] = c.passed + d
	return ch, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waits, ch)
	}
}

// advance lets time pass.
func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.passed = c.now.Add(d), c.passed+d
	for ch, until := range c.waits {
		if until <= c.passed {
			ch <- c.now
			delete(c.waits, ch)
		}
	}
}

// set is what somebody does to the clock while no time passes.
func (c *clock) set(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

func (c *clock) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waits)
}
