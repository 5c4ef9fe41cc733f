package sim_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/shared"
)

var (
	hostSeeds = flag.Int("sim.hosts", 15, "how many random programs are run on SQLite, too")
	keepHosts = flag.String("sim.keep", "", "keep their stores in this folder, a folder for each seed")
)

var errStopped = errors.New("the test stops it")

// TestHostsAgree runs random programs in virtual time and on SQLite, where the driver is stopped and another one opens the store again,
// a few times a run. All nodes must end alike. Drivers that nobody watches begin from snapshots; these are what the journals say, and who
// watches the run afterwards replays all of it.
func TestHostsAgree(t *testing.T) {
	seed, ran, stops, settled, restored := uint64(1), 0, 0, 0, 0
	if *seed1 != 0 {
		seed, *hostSeeds = *seed1, 1
	}
	for ; ran < *hostSeeds; seed++ {
		c := newCase(t, seed)
		if !c.untimed {
			if *seed1 != 0 {
				t.Skip("this seed's program depends on time")
			}
			continue
		}
		ran++
		c.start(t, sim.Faults{}) // no other runs, whose turns could cancel it
		var err error
		if c.end, err = c.drive(root, nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want := maps.Clone(c.runs[root].j.status)
		c.settled = 0
		got, end, stopped, recalled := c.onSQLite(t)
		stops, settled, restored = stops+stopped, settled+c.settled, restored+recalled
		if ending(end) != ending(c.end) || !maps.Equal(got, want) {
			t.Fatalf("seed %d: on SQLite it ends\n%s %v\nin virtual time\n%s %v\nrepeat with: go test ./runner/engine/sim -run TestHostsAgree -sim.seed=%d\n%s",
				seed, ending(end), got, ending(c.end), want, seed, c.source)
		}
	}
	t.Logf("%d programs, stopped and opened again %d times, %d runs restored, people settled %d asks", ran, stops, restored, settled)
	if *seed1 == 0 && (stops < ran || restored < ran || settled < ran/10) {
		t.Error("too few stops, snapshots, or asks, to mean anything")
	}
}

// onSQLite runs the program on the local host.
func (c *simulation) onSQLite(t *testing.T) (status map[string]event.Status, end event.End, stops, restored int) {
	t.Helper()
	dir := t.TempDir()
	if *keepHosts != "" {
		dir = filepath.Join(*keepHosts, fmt.Sprint(c.seed))
	}
	clock, folk := &hasty{now: time.Now()}, &folk{c: c, open: map[string]map[uint64]event.Decision{}, asked: map[string]int{}}
	var recalled atomic.Int64
	for ; ; stops++ {
		ctx, stop := context.WithCancelCause(context.Background())
		left := 2 + int(c.seed)%5 // batches until the next stop
		watch := func(run string, events []event.Event, r *event.Reaction, replayed bool) {
			if replayed {
				return // it was seen before
			}
			folk.watch(run, events, r)
			if run == root {
				if left--; left < 0 && stops < 3 {
					stop(errStopped)
				}
			}
		}
		e, err := local.Open(dir, local.Options{Factory: factory, Events: awaited, Clock: clock, DeathLimit: 1000, Watch: watch, KeepEvery: 1 + c.seed%3,
			Restore: func(h journal.Header, definition, state []byte) (engine.Machine, error) {
				m, err := restore(h, definition, state)
				if err == nil {
					recalled.Add(1)
				}
				return m, err
			}, Executor: executor.Func(
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
		var answers sync.WaitGroup
		answers.Go(func() { folk.answer(ctx, t, e) })
		j := newJourney()
		watched := func(events []event.Event, r *event.Reaction, _ bool) { j.watch(events, r) }
		if stops%3 == 0 {
			end, err = e.Drive(ctx, root, watched)
		} else if end, err = e.Drive(ctx, root, nil); err == nil {
			end, err = e.Drive(ctx, root, watched) // its past
		}
		stop(nil)
		answers.Wait()
		if h, err := e.Examine(context.Background(), 0); err != nil || len(h.Broken)+len(h.Odd) > 0 {
			t.Fatalf("seed %d, after stop %d: %+v (%v)", c.seed, stops, h, err)
		}
		if closed := e.Close(); closed != nil {
			t.Fatal(closed)
		}
		if err == nil {
			return j.status, end, stops, int(recalled.Load())
		}
		if !errors.Is(err, errStopped) {
			t.Fatalf("seed %d: %v", c.seed, err)
		}
	}
}

// folk are people who answer what the runs of a program ask, with what simulation.asks would say. Their answers do not depend on the
// time, so they answer at once.
type folk struct {
	c     *simulation
	mu    sync.Mutex
	open  map[string]map[uint64]event.Decision // by run and number: what was asked and has no end yet
	asked map[string]int                       // by run and node: how often
}

func (f *folk) watch(run string, events []event.Event, r *event.Reaction) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[run] == nil {
		f.open[run] = map[uint64]event.Decision{}
	}
	for _, cmd := range r.Commands {
		switch q := cmd.Ask; {
		case q != nil:
			f.asked[run+" "+q.Node]++
			d := f.c.decision(f.c.runs[run].name, q.Node, f.asked[run+" "+q.Node], q.Kind, slices.Contains(q.Words, event.WordRevise))
			d.Ask, d.Shown, d.By = q.Number, q.Shown, q.Node
			f.open[run][q.Number] = d
		case cmd.EndAsk != nil:
			delete(f.open[run], cmd.EndAsk.Number)
		}
	}
}

// answer lets two people answer everything that is open, until the context ends. What an engine does not know yet is tried again.
func (f *folk) answer(ctx context.Context, t *testing.T, e *local.Engine) {
	for ctx.Err() == nil {
		f.mu.Lock()
		var all []event.DecideRequest
		for run, open := range f.open { // any order: each for itself
			for _, d := range open {
				all = append(all, event.DecideRequest{Run: run, Node: d.By, Decision: d})
			}
		}
		f.mu.Unlock()
		for _, d := range all {
			for _, d.Decision.By = range []string{"ann", "bob"} {
				out, err := e.Ask(ctx, event.StoreRequest{Decide: &d})
				if err != nil {
					continue
				}
				if v, err := shared.ReadVerdict(out); err != nil {
					t.Error(err)
				} else if v.Outcome == shared.Recorded && v.Word != "" {
					f.c.settled++
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
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
