package temporal_test

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
)

var wakes = flag.Int("temporal.wakes", 40, "how many runs TestSharedWakes wakes")

const waitsForGo = `workflow "w" {
  step "wait" {
    wait { event = "go" }
  }
  output "got" { value = step.wait.output }
}`

// TestSharedWakes wakes many runs: by one event, and by an event for each. It prints how long the messages take. Each run hears its event once.
func TestSharedWakes(t *testing.T) {
	for _, one := range []bool{true, false} {
		t.Run(fmt.Sprintf("one_event=%v", one), func(t *testing.T) {
			s := share(t, temporal.Options{})
			c := newClient(t)
			var runs []string
			for range *wakes {
				runs = append(runs, s.begin(waitsForGo))
			}
			for _, run := range runs {
				s.awaitRest(c, run)
			}
			began := time.Now()
			if one {
				s.ask(event.StoreRequest{Emit: &event.EmitRequest{Name: "go", Data: "all"}})
			} else {
				var all sync.WaitGroup
				for i := range 20 { // as many persons at once
					all.Go(func() {
						for j := i; j < len(runs); j += 20 {
							if _, err := s.Ask(t.Context(), event.StoreRequest{Emit: &event.EmitRequest{Name: "go", Run: runs[j], Data: runs[j]}}); err != nil {
								t.Error(err)
							}
						}
					})
				}
				all.Wait()
			}
			asked := time.Since(began)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			for _, run := range runs {
				if err := c.GetWorkflow(ctx, run, "").Get(ctx, nil); err != nil {
					t.Fatal(err)
				}
			}
			took := time.Since(began)
			var last time.Time
			signals := 0
			for _, run := range runs {
				for _, h := range histories(t, run) {
					for _, e := range h.Events {
						if e.GetEventType() == enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED {
							signals++
							if at := e.GetEventTime().AsTime(); at.After(last) {
								last = at
							}
						}
					}
				}
				want := "all"
				if !one {
					want = run
				}
				if heard := s.heard(run, "go"); len(heard) != 1 || !value.Equal(heard[0], want) {
					t.Errorf("run %s has heard %v, want %s", run, heard, want)
				}
			}
			t.Logf("%d runs: published after %s, the last message after %s, the last end after %s; %d signals; the store has %s", len(runs), asked.Round(time.Millisecond),
				last.Sub(began).Round(time.Millisecond), took.Round(time.Millisecond), signals, countEvents(t, s))
		})
	}
}

// TestSharedStream sends many events to one run, and all of their signals a second time. Each is heard once, in their order.
func TestSharedStream(t *testing.T) {
	s := share(t, temporal.Options{})
	run := s.begin(`workflow "w" {
  sequence "all" {
    step "wait" {
      wait { event = "go" }
    }
    step "last" {
      wait { event = "last" }
    }
  }
}`)
	c := newClient(t)
	s.awaitRest(c, run)
	began := time.Now()
	for i := range *wakes { // one person, so that the order is known
		s.ask(event.StoreRequest{Emit: &event.EmitRequest{Name: "go", Data: float64(i)}})
	}
	asked := time.Since(began)
	again := 0
	for _, h := range histories(t, run) {
		for _, e := range h.Events {
			if a := e.GetWorkflowExecutionSignaledEventAttributes(); a != nil && a.GetSignalName() == wire.Parcels {
				var b []byte
				if err := converter.GetDefaultDataConverter().FromPayloads(a.GetInput(), &b); err != nil {
					t.Fatal(err)
				}
				if err := c.SignalWorkflow(t.Context(), run, "", wire.Parcels, b); err != nil {
					t.Fatal(err)
				}
				again++
			}
		}
	}
	if again == 0 {
		t.Error("no signal is sent again: the test shows nothing")
	}
	s.ask(event.StoreRequest{Emit: &event.EmitRequest{Name: "last"}})
	s.end(run, event.Succeeded)
	took, heard := time.Since(began), s.heard(run, "go")
	for i, got := range heard {
		if !value.Equal(got, float64(i)) {
			t.Fatalf("message %d is of event %v", i, got)
		}
	}
	if len(heard) != *wakes {
		t.Errorf("the run has heard %d events, want %d", len(heard), *wakes)
	}
	t.Logf("%d events: published after %s, the end after %s; the store has %s", *wakes, asked.Round(time.Millisecond), took.Round(time.Millisecond), countEvents(t, s))
}

// heard are the data of the events of a name that a run has heard.
func (s *sharing) heard(run, name string) (list []value.Value) {
	s.Helper()
	for _, ev := range s.events(run) {
		if x := ev.External; x != nil && x.Kind == event.ExternalEvent && x.Data.(map[string]any)["name"] == name {
			list = append(list, x.Data.(map[string]any)["data"])
		}
	}
	return list
}

// countEvents says what the history of the store of a test has.
func countEvents(t *testing.T, s *sharing) string {
	list := histories(t, wire.ShareID(s.StoreName()))
	n, tasks, signals := 0, 0, 0
	for _, h := range list {
		n += len(h.Events)
		for _, e := range h.Events {
			switch e.GetEventType() {
			case enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
				tasks++
			case enums.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_SIGNALED:
				signals++
			}
		}
	}
	return fmt.Sprintf("%d executions, %d events, %d workflow tasks, %d signals", len(list), n, tasks, signals)
}

func newClient(t *testing.T) client.Client {
	c, err := client.Dial(client.Options{HostPort: *server})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// awaitRest waits until nothing of a run is on its way.
func (s *sharing) awaitRest(c client.Client, run string) {
	s.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		d, err := c.DescribeWorkflowExecution(s.Context(), run, "")
		if err != nil {
			s.Fatal(err)
		}
		if d.GetWorkflowExecutionInfo().GetHistoryLength() > 8 && d.GetPendingWorkflowTask() == nil && len(d.GetPendingActivities()) == 0 {
			return
		}
	}
	s.Fatalf("run %s does not come to rest", run)
}
