package runner_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
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

var shortRuns = flag.Int("short.runs", 300, "how many runs TestShortRunsLeaveNothing has")

// TestShortRunsLeaveNothing lets one process drive many short runs, as a daemon does for months: what it has in memory, and how many
// goroutines there are, does not grow with the runs that have ended. The whole:
//
//	go test ./runner -run TestShortRunsLeaveNothing -short.runs 10000 -v
func TestShortRunsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	const text = `workflow "w" {
  step "one" { value = { text = "a value of some length, so that a run that stays is seen" } }
  step "two" { value = step.one.output.text }
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
	var ended atomic.Int64
	s := runner.NewSupervisor(service, runner.SupervisorOptions{MaxDriven: 16, Ended: func(run string, end event.End, err error) {
		if errors.Is(err, context.Canceled) {
			return
		}
		if err != nil || end.Status != event.Succeeded {
			t.Errorf("run %s ends as %s, %v", run, end.Status, err)
		}
		ended.Add(1)
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
	definition := p.IR.Canonical()
	all := int64(0)
	batch := func(n int) (heap int64, goroutines int) {
		t.Helper()
		for range n {
			run, err := service.Start(ctx, engine.Start{Definition: definition, First: event.RunStarted{Workflow: "w", Dir: dir},
				Header: journal.Header{Run: engine.NewID(), Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "w"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.Add(run)
		}
		all += int64(n)
		for due := time.Now().Add(10 * time.Minute); ended.Load() < all || service.Sessions() > 0; time.Sleep(2 * time.Millisecond) {
			if t.Failed() || time.Now().After(due) {
				t.Fatalf("%d of %d runs have ended, %d sessions are open", ended.Load(), all, service.Sessions())
			}
		}
		return heapAfterCollection(), runtime.NumGoroutine()
	}
	// least waits until what has ended is gone: the goroutines of a run end a moment after it.
	least := func(heap int64, goroutines int) (int64, int) {
		for range 50 {
			time.Sleep(2 * time.Millisecond)
			goroutines = min(goroutines, runtime.NumGoroutine())
		}
		return min(heap, heapAfterCollection()), goroutines
	}
	batch(50) // what is made once is there then
	half := (*shortRuns - 50) / 2
	heap, goroutines := least(batch(half))
	later, more := least(batch(half))
	grows := func() bool { return later-heap > 128<<10+int64(half)*512 || more > goroutines+10 }
	for due := time.Now().Add(time.Minute); grows() && time.Now().Before(due); {
		later, more = least(later, more)
	}
	t.Logf("behind %d runs: %d KB of heap, %d goroutines; behind %d: %d KB, %d", 50+half, heap>>10, goroutines, 50+2*half, later>>10, more)
	if grown := later - heap; grown > 128<<10+int64(half)*512 {
		t.Errorf("the heap has grown by %d bytes for each of %d runs", grown/int64(half), half)
	}
	if more > goroutines+10 {
		t.Errorf("there were %d goroutines, and now %d", goroutines, more)
	}
}
