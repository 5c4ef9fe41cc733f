package sim_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// TestTimeoutsAcrossNights drives programs full of timeouts of groups, calls and workflows through crashes and stops, each of which
// nobody notices for days: every node of every run ends as it does where nothing disturbs it.
//
// What an attempt had done when its driver died it does again, and that counts. So one attempt is made at a time, in groups that
// follow each other. And all takes hundreds of hours, for it is chance within seconds when what is cut off has ended.
func TestTimeoutsAcrossNights(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n = min(n, 100)
	}
	nights, expired, calls := 0, 0, 0
	for seed := *from; seed < *from+uint64(n); seed++ {
		calm, disturbed := newNight(t, seed), newNight(t, seed)
		calm.drive(t, sim.Faults{}, 0)
		disturbed.drive(t, sim.Faults{CrashBeforeCommit: 0.1, CrashAfterCommit: 0.1, CrashMidway: 0.1}, 0.1)
		if t.Failed() || !maps.Equal(calm.ends, disturbed.ends) {
			t.Fatalf("seed %d: undisturbed, nodes end\n%v\nand after %d nights\n%v\n%s", seed, calm.ends, disturbed.nights, disturbed.ends, calm.source)
		}
		nights += disturbed.nights
		for _, how := range calm.ends {
			if strings.Contains(how, "timeout") {
				expired++
			}
		}
		calls += strings.Count(calm.source, "call ")
	}
	t.Logf("%d programs with %d calls, %d nights: %d nodes and runs end by their timeouts, in the same way", n, calls, nights, expired)
	if nights < 3*n || expired < n || calls < n/4 {
		t.Error("too little happens in these nights")
	}
}

// night is one program in one world.
type night struct {
	seed   uint64
	source string
	ir     *ir.Program
	r      *rand.Rand
	b      strings.Builder
	names  int
	nights int
	ends   map[string]string // by run and node
}

func newNight(t *testing.T, seed uint64) *night {
	t.Helper()
	n := &night{seed: seed, r: rand.New(rand.NewPCG(seed, 9)), ends: map[string]string{}}
	called := n.r.IntN(3) == 0
	if called {
		n.workflow("k", true, false)
	}
	n.workflow("w", !called, called) // what a run that calls has used of its time meanwhile is not known to its next driver
	n.source = n.b.String()
	p, diags := dsl.Load(fstest.MapFS{"w.flow.hcl": {Data: []byte(n.source)}}, "w.flow.hcl", dsl.Options{})
	if diags.HasErrors() {
		t.Fatalf("seed %d: the random program is refused: %v\n%s", seed, diags, n.source)
	}
	n.ir = p.IR
	return n
}

func (n *night) line(depth int, format string, args ...any) {
	fmt.Fprintf(&n.b, strings.Repeat("  ", depth)+format+"\n", args...)
}

// timeout is one that some of what lies in it goes beyond, and some not.
func (n *night) timeout(depth, most int) {
	n.line(depth, `timeout = "%dh%ds"`, 100*n.r.IntN(most), 1+n.r.IntN(100*3600))
}

func (n *night) workflow(name string, clocks, calls bool) {
	n.line(0, "workflow %q {", name)
	if clocks && n.r.IntN(2) == 0 {
		n.timeout(1, 40)
	}
	n.line(1, "max_concurrency = 1")
	n.line(1, "sequence %q {", "all_"+name)
	for range 2 + n.r.IntN(4) {
		n.node(2, clocks, calls)
	}
	n.line(1, "}")
	if clocks && n.r.IntN(3) == 0 {
		n.line(1, "finally {")
		n.timeout(2, 8)
		for range 1 + n.r.IntN(3) {
			n.step(2)
		}
		n.line(1, "}")
	}
	n.line(0, "}")
}

func (n *night) node(depth int, clocks, calls bool) {
	n.names++
	name := fmt.Sprintf("g%d", n.names)
	switch kind := n.r.IntN(4); {
	case calls && kind < 2:
		n.line(depth, "step %q {", name)
		n.line(depth+1, "call = workflow.k")
	case kind > 0 || depth > 5:
		n.step(depth)
		return
	default:
		n.line(depth, "sequence %q {", name)
		if clocks {
			n.timeout(depth+1, 12)
		}
		if n.r.IntN(3) == 0 {
			n.line(depth+1, "repeat { max = %d }", 1+n.r.IntN(3))
		}
		for range 1 + n.r.IntN(4) {
			n.node(depth+1, clocks, calls)
		}
	}
	n.tolerant(depth + 1)
	n.line(depth, "}")
}

func (n *night) step(depth int) {
	n.names++
	n.line(depth, "step %q {", fmt.Sprintf("s%d", n.names))
	n.line(depth+1, `run = ["do"]`)
	n.tolerant(depth + 1)
	n.line(depth, "}")
}

func (n *night) tolerant(depth int) {
	if how := n.r.IntN(4); how > 0 {
		n.line(depth, "on_error = %q", []string{"continue", "continue", "stop"}[how-1])
	}
}

// Attempt implements sim.World: how an attempt ends, and how long it takes, depends on what it is alone.
func (n *night) Attempt(a event.Attempt, _ *rand.Rand) (event.AttemptFinished, time.Duration) {
	h := fnv.New64a()
	fmt.Fprint(h, n.seed, a.Run, a.Node, a.Attempt)
	dice := h.Sum64() >> 20
	f := event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Outcome: event.OK}
	if dice%10 == 0 {
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Fatal, Reason: event.ReasonExit, Message: "exit code 1", ExitCode: 1}
	}
	return f, time.Duration(1+dice/10%5) * 100 * time.Hour
}

// drive drives the run to its end. Between two drivers there is a night; some drivers stop, most die.
func (n *night) drive(t *testing.T, f sim.Faults, stops float64) {
	t.Helper()
	store := sim.NewStore(n.seed)
	watch := func(run string, _ []event.Event, r *event.Reaction, _ bool) {
		for _, tr := range r.Transitions {
			if tr.To.Terminal() {
				n.ends[run+" "+tr.Node] = string(tr.To)
				if e := tr.Result.Error; e != nil {
					n.ends[run+" "+tr.Node] += " " + string(e.Reason) + ": " + e.Message
				}
			}
		}
	}
	e := sim.New(store, sim.Options{Factory: factory, Events: awaited, World: n, Faults: f, DeathLimit: 1000, Watch: watch})
	if _, err := e.Start(context.Background(), engine.Start{Definition: n.ir.Canonical(), First: event.RunStarted{Workflow: "w", Dir: "/"},
		Header: journal.Header{Behaviour: ir.Behaviour, Definition: n.ir.Hash(), Workflow: "w", Run: root}}); err != nil {
		t.Fatal(err)
	}
	stopped := errors.New("ctrl-c")
	for {
		ctx, stop := context.WithCancelCause(context.Background())
		_, err := e.Drive(ctx, root, func([]event.Event, *event.Reaction, bool) {
			if n.r.Float64() < stops {
				stop(stopped)
			}
		})
		stop(nil)
		if err == nil {
			return
		}
		if !errors.Is(err, sim.ErrCrashed) && !errors.Is(err, stopped) {
			t.Errorf("seed %d: %v", n.seed, err)
			return
		}
		n.nights++
		store.Pass(time.Hour + time.Duration(n.r.Int64N(int64(3000*time.Hour))))
	}
}
