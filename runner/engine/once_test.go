package engine_test

import (
	"context"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// A cancel that waited for a driver is fed before the driver_changed, and what it lets start is in flight when that comes: the
// compensation here. It must run once.
func TestWhatACancelStartsRunsOnce(t *testing.T) {
	p, list := dsl.Load(fstest.MapFS{"w.hcl": {Data: []byte(`
workflow "w" {
  step "make" {
    run = ["make"]
    compensate { run = ["undo"] }
  }
  step "pause" {
    wait { duration = "1h" }
    depends_on = [step.make]
  }
}
`)}}, "w.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	dir, start := t.TempDir(), program{Program: p.IR}.start()
	var mu sync.Mutex
	var ran []string
	x := executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		mu.Lock()
		defer mu.Unlock()
		ran = append(ran, a.Argv[0])
		return event.AttemptFinished{Outcome: event.OK}
	})
	open := func() *local.Engine {
		e, err := local.Open(dir, local.Options{Factory: factory, Executor: x})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	run, err := e.Start(context.Background(), start)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	if _, err := e.Drive(ctx, run, func(_ []event.Event, r *event.Reaction, _ bool) {
		for _, tr := range r.Transitions {
			if tr.Node == "pause" && tr.To == event.Waiting {
				stop()
			}
		}
	}); err == nil {
		t.Fatal("it ended")
	}
	if err := e.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	e.Close()
	e = open()
	defer e.Close()
	end, err := e.Drive(context.Background(), run, nil)
	if err != nil || end.Status != event.Cancelled {
		t.Fatal(end, err)
	}
	if len(ran) != 2 || ran[1] != "undo" {
		t.Errorf("carried out were %v", ran)
	}
}
