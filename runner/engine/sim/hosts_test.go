package sim_test

import (
	"context"
	"errors"
	"flag"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

var hostSeeds = flag.Int("sim.hosts", 15, "how many random programs are run on SQLite, too")

var errStopped = errors.New("the test stops it")

// TestHostsAgree runs random programs in virtual time and on SQLite, where the driver is stopped and another one opens the store again,
// a few times a run. All nodes must end alike.
func TestHostsAgree(t *testing.T) {
	seed, ran, stops := uint64(1), 0, 0
	if *seed1 != 0 {
		seed, *hostSeeds = *seed1, 1
	}
	for ; ran < *hostSeeds; seed++ {
		c := newCase(t, seed)
		if !c.untimed || hasPeople(seed) {
			if *seed1 != 0 {
				t.Skip("this seed's program depends on time, or on people, and nobody answers on SQLite")
			}
			continue
		}
		ran++
		c.run(t, sim.Faults{})
		want := maps.Clone(c.runs[root].j.status)
		got, end, stopped := c.onSQLite(t)
		stops += stopped
		if ending(end) != ending(c.end) || !maps.Equal(got, want) {
			t.Fatalf("seed %d: on SQLite it ends\n%s %v\nin virtual time\n%s %v\nrepeat with: go test ./runner/engine/sim -run TestHostsAgree -sim.seed=%d\n%s",
				seed, ending(end), got, ending(c.end), want, seed, c.source)
		}
	}
	t.Logf("%d programs, stopped and opened again %d times", ran, stops)
	if *seed1 == 0 && stops < ran {
		t.Error("too few stops to mean anything")
	}
}

// onSQLite runs the program on the local host.
func (c *simulation) onSQLite(t *testing.T) (map[string]event.Status, event.End, int) {
	t.Helper()
	dir, clock := t.TempDir(), &hasty{now: time.Now()}
	for stops := 0; ; stops++ {
		e, err := local.Open(dir, local.Options{Factory: factory, Events: awaited, Clock: clock, DeathLimit: 1000, Executor: executor.Func(
			func(_ context.Context, a event.Attempt) event.AttemptFinished {
				return c.outcome(c.runs[a.Run].name, a)
			})})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Start(context.Background(), engine.Start{
			Header:     journal.Header{Behaviour: ir.Behaviour, Definition: c.program.Hash(), Workflow: "w", Run: root},
			Definition: c.program.Canonical(), First: event.RunStarted{Workflow: "w", Dir: "/"},
		}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancelCause(context.Background())
		left := 2 + int(c.seed)%5 // batches until the next stop
		j := newJourney()
		end, err := e.Drive(ctx, root, func(events []event.Event, r *event.Reaction, replayed bool) {
			j.watch(events, r)
			if left--; !replayed && left < 0 && stops < 3 {
				stop(errStopped)
			}
		})
		stop(nil)
		if closed := e.Close(); closed != nil {
			t.Fatal(closed)
		}
		if err == nil {
			return j.status, end, stops
		}
		if !errors.Is(err, errStopped) {
			t.Fatalf("seed %d: %v", c.seed, err)
		}
	}
}

// hasty is a clock that does not wait: whoever waits for a time finds that it has come. Attempts take no time in this world.
type hasty struct {
	mu  sync.Mutex
	now time.Time
}

func (h *hasty) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hasty) After(d time.Duration) (<-chan time.Time, func()) {
	c := make(chan time.Time, 1)
	t := time.AfterFunc(100*time.Microsecond, func() { // time for answers to come before the time does
		h.mu.Lock()
		defer h.mu.Unlock()
		h.now = h.now.Add(d)
		c <- h.now
	})
	return c, func() { t.Stop() }
}
