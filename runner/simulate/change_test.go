package simulate

import (
	"context"
	"math"
	"testing"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// TestChanges compares what one more slot and one retry less change with what can be computed by hand: of steps of a second that fail half
// of the time, three attempts succeed in seven of eight runs, and two in three of four.
func TestChanges(t *testing.T) {
	p := load(t, `workflow "w" {
  max_concurrency = 2

  step "a" {
    run = ["a"]

    retry {
      max_attempts = 3
      base_delay   = "1ms"
    }
  }
  step "b" { run = ["b"] }
  step "c" { run = ["c"] }
}`)
	s := &Samples{of: map[place][]sample{}}
	s.took("a", 1, -1)
	s.took("b", 8)
	s.took("c", 8)
	first := event.RunStarted{Workflow: "w", Dir: "/", Inputs: map[string]value.Value{}, Vars: map[string]value.Value{}, FirstMembers: true}
	now, err := Of(context.Background(), p, first, nil, s, 2000, 1)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Changes(context.Background(), p, first, nil, s, 2000, 1)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	more, fewer := list[0], list[1]
	if more.What != "3 slots in place of 2" || fewer.What != "one retry less" {
		t.Errorf("%q, %q", more.What, fewer.What)
	}
	if math.Abs(now.Success-7./8) > 0.02 || more.Success != now.Success || math.Abs(fewer.Success-3./4) > 0.03 {
		t.Errorf("%.3f succeed, with one more slot %.3f, with one retry less %.3f", now.Success, more.Success, fewer.Success)
	}
	if now.Seconds.P50 < 9 || math.Abs(more.Seconds.P50-8) > 0.01 {
		t.Errorf("half take %.2f s, with one more slot %.2f s; want 9 and more, and 8", now.Seconds.P50, more.Seconds.P50)
	}
	if p.Workflows[0].Nodes[0].Retry.MaxAttempts.Const != 3.0 {
		t.Error("the program itself was changed")
	}
}

// What only a run knows is not changed, and without retries there is nothing to take away.
func TestChangesLeaveOut(t *testing.T) {
	p := load(t, `workflow "w" {
  input "n" { type = number }
  max_concurrency = input.n

  step "a" { run = ["a"] }
}`)
	s := &Samples{of: map[place][]sample{}}
	s.took("a", 1)
	list, err := Changes(context.Background(), p, event.RunStarted{Workflow: "w", Dir: "/", Inputs: map[string]value.Value{"n": 2.0}, Vars: map[string]value.Value{}}, nil, s, 10, 1)
	if err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}
