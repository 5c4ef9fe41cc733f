package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// A run that reads figures of the machine gets them from the local host, and its rules follow.
func TestALocalRunGetsFiguresOfTheMachine(t *testing.T) {
	p, list := dsl.Load(fstest.MapFS{"w.hcl": {Data: []byte(`workflow "w" {
  max_concurrency = 2
  adapt {
    when            = "metrics.cpu > 80 && metrics.memory < 50"
    max_concurrency = 1
  }
  step "a" {
    for_each = range(6)
    run      = ["a", "${each.value}"]
  }
}`)}}, "w.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	adapted := make(chan struct{})
	var live, most atomic.Int32
	began := time.Now()
	e, err := local.Open(t.TempDir(), local.Options{Factory: factory, Clock: quick{began, 1000}, Figures: func() local.Figures {
		cpu, memory := 95.0, 40.0
		return local.Figures{CPU: &cpu, Memory: &memory}
	}, Executor: executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		f := executor.Answer(a)
		f.Outcome = event.OK
		if a.Name == "a" && a.Node != "a[0]" && a.Node != "a[1]" {
			most.Store(max(most.Load(), live.Add(1)))
			defer live.Add(-1)
		}
		select {
		case <-adapted:
		case <-ctx.Done():
		}
		return f
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	run, err := e.Start(context.Background(), program{Program: p.IR}.start())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	changes, told := 0, 0
	end, err := e.Drive(ctx, run, func(events []event.Event, r *event.Reaction, _ bool) {
		for _, ev := range events {
			if x := ev.External; x != nil && x.Kind == event.ExternalMetrics {
				told++
			}
		}
		for _, tr := range r.Transitions {
			if tr.Note == event.Adapted {
				if changes++; changes == 1 {
					close(adapted)
				}
			}
		}
	})
	if err != nil || end.Status != event.Succeeded {
		t.Fatal(end, err)
	}
	if changes != 1 || told != 1 || most.Load() != 1 {
		t.Errorf("%d changes, %d messages with the same figures, and at most %d attempts at once after that; want 1 of each", changes, told, most.Load())
	}
}
