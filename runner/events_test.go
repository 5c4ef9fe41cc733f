package runner_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

var waitingRuns = flag.Int("waiting", 60, "how many runs TestManyRunsWaitForAnEvent has; from 1,000 on it asserts the figures")

// TestManyRunsWaitForAnEvent parks many runs that wait for an event. They take little memory and no processor. An event for one of them
// wakes it at once, and an event for all wakes all.
func TestManyRunsWaitForAnEvent(t *testing.T) {
	dir := t.TempDir()
	const text = `workflow "w" {
  step "wait" {
    wait {
      event = "go"
      data  = object({ n = number })
    }
  }
}
`
	if err := os.WriteFile(filepath.Join(dir, "flow.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, list := dsl.Load(os.DirFS(dir), "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	service := runner.New(runner.Options{Store: dir})
	host, err := local.Open(filepath.Join(dir, "store"), local.Options{Factory: service.Machine, Executor: service, Events: service.Events, Watch: service.Observe})
	if err != nil {
		t.Fatal(err)
	}
	service.Attach(host)
	var mu sync.Mutex
	ended := map[string]time.Time{}
	s := runner.NewSupervisor(service, runner.SupervisorOptions{MaxDriven: 2000, Ended: func(run string, end event.End, err error) {
		if errors.Is(err, context.Canceled) {
			return
		}
		if err != nil || end.Status != event.Succeeded {
			t.Errorf("run %s ends as %s, %v", run, end.Status, err)
		}
		mu.Lock()
		defer mu.Unlock()
		ended[run] = time.Now()
	}})
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- s.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-stopped; !errors.Is(err, context.Canceled) {
			t.Errorf("the supervisor ends with %v", err)
		}
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	}()
	until := func(what string, holds func() bool) {
		t.Helper()
		for due := time.Now().Add(10 * time.Minute); !holds(); time.Sleep(2 * time.Millisecond) {
			if t.Failed() || time.Now().After(due) {
				t.Fatalf("it never came that %s", what)
			}
		}
	}
	// emit publishes an event, and returns how late the last of so many runs has ended after that.
	emit := func(run string, runs int) time.Duration {
		t.Helper()
		mu.Lock()
		before := len(ended)
		mu.Unlock()
		if _, err := service.Ask(ctx, event.StoreRequest{Emit: &event.EmitRequest{Name: "go", Data: map[string]any{"n": 1.0}, Run: run}}); err != nil {
			t.Fatal(err)
		}
		durable := time.Now()
		until("the runs have ended", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(ended) == before+runs
		})
		last := durable
		for _, at := range ended { // any order: the last one
			if at.After(last) {
				last = at
			}
		}
		return last.Sub(durable)
	}

	definition, before := p.IR.Canonical(), heapAfterCollection()
	var runs []string
	for range *waitingRuns {
		run, err := service.Start(ctx, engine.Start{Definition: definition, First: event.RunStarted{Workflow: "w", Dir: dir},
			Header: journal.Header{Run: engine.NewID(), Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "w"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
		s.Add(run)
	}
	until("all runs are parked", func() bool { return service.Sessions() == 0 && service.Trees() == len(runs) })
	heap := heapAfterCollection() - before
	many := *waitingRuns >= 1000
	rest := time.Duration(0)
	if many {
		rest = 5 * time.Second
	}
	worked := processorTime(t)
	time.Sleep(rest)
	used := processorTime(t) - worked
	const alone = 20
	var late []time.Duration
	for i := range alone { // the first of them and the last of them
		run := runs[i]
		if i%2 == 1 {
			run = runs[len(runs)-1-i]
		}
		late = append(late, emit(run, 1))
	}
	slices.Sort(late)
	began, worked := time.Now(), processorTime(t)
	last := emit("", len(runs)-alone)
	t.Logf("%d runs that wait take %d KB of heap, and %v of processor in %v; an event for one run: it has ended %v later in the median, %v at most; an event for %d runs: %v and %v of processor, the last has ended %v after it was durable",
		len(runs), heap>>10, used, rest, late[alone/2], late[alone-1], len(runs)-alone, time.Since(began).Round(time.Millisecond), (processorTime(t) - worked).Round(time.Millisecond), last.Round(time.Millisecond))
	if many && (heap > 200<<20 || used > rest/20 || late[alone/2] > 100*time.Millisecond) {
		t.Error("that is too much")
	}
}
