package sim_test

import (
	"context"
	"math/rand/v2"
	"slices"
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

// storm is a world in which each first attempt fails, and that notes when attempts start.
type storm struct {
	store  *sim.Store
	starts []event.Time
}

func (s *storm) Attempt(a event.Attempt, _ *rand.Rand) (event.AttemptFinished, time.Duration) {
	s.starts = append(s.starts, s.store.Now())
	f := event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Outcome: event.OK}
	if a.Attempt == 1 {
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Transient, Reason: event.ReasonExit, Message: "no", ExitCode: 1}
	}
	return f, time.Millisecond
}

func runStorm(t *testing.T, source string) []event.Time {
	t.Helper()
	p, list := dsl.Load(fstest.MapFS{"w.flow.hcl": {Data: []byte(source)}}, "w.flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	s := &storm{store: sim.NewStore(7)}
	e := sim.New(s.store, sim.Options{Factory: factory, World: s, Externals: []event.ExternalKind{event.ExternalGranted}})
	definition := p.IR.Canonical()
	run, err := e.Start(context.Background(), engine.Start{Header: journal.Header{Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "w"},
		Definition: definition, First: event.RunStarted{Workflow: "w", Dir: "/"}})
	if err != nil {
		t.Fatal(err)
	}
	end, err := e.Drive(context.Background(), run, nil)
	if err != nil || end.Status != event.Succeeded {
		t.Fatalf("the run ends %s: %v %v", end.Status, end.Error, err)
	}
	slices.Sort(s.starts)
	return s.starts
}

// most returns how many starts are in the fullest span.
func most(starts []event.Time, span time.Duration) (n int) {
	for i, j := 0, 0; i < len(starts); i++ {
		for ; starts[i].Sub(starts[j]) >= span; j++ {
		}
		n = max(n, i-j+1)
	}
	return n
}

// 500 steps fail at once. Their next attempts are spread: at most a tenth of them starts within 100 ms.
func TestRetryStorm(t *testing.T) {
	starts := runStorm(t, `
workflow "w" {
  max_concurrency = 1000
  step "s" {
    for_each = range(500)
    run      = ["false"]
    retry {
      max_attempts = 2
      base_delay   = "2s"
      jitter       = "full"
    }
  }
}
`)
	if len(starts) != 1000 {
		t.Fatalf("%d attempts were made", len(starts))
	}
	peak := most(starts[500:], 100*time.Millisecond)
	t.Logf("of 500 second attempts %d start within 100 ms at most", peak)
	if peak > 50 {
		t.Errorf("of 500 second attempts %d start within 100 ms", peak)
	}
}

// A rate limit holds for the first attempts and for the repeated ones.
func TestPacedStorm(t *testing.T) {
	starts := runStorm(t, `
quota "api" {
  rate_limit {
    requests = 5
    per      = "1s"
  }
}

workflow "w" {
  max_concurrency = 1000
  step "s" {
    for_each = range(100)
    run      = ["false"]
    quota    = quota.api
    retry { max_attempts = 2 }
  }
}
`)
	if n := most(starts, time.Second); len(starts) != 200 || n > 5 {
		t.Errorf("%d attempts were made, and %d of them start within a second", len(starts), n)
	}
	if took := starts[len(starts)-1].Sub(starts[0]); took != 39*time.Second {
		t.Errorf("200 attempts at 5 a second take %s", took)
	}
}
