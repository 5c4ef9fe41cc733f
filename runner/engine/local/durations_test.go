package local

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// takes answers each attempt after so long on the store's clock, one after the other.
type takes struct {
	clock *clock
	by    map[string]time.Duration
	bad   string
}

func (x *takes) Execute(_ context.Context, a event.Attempt) event.AttemptFinished {
	x.clock.advance(x.by[a.Name])
	if a.Name == x.bad {
		return event.AttemptFinished{Outcome: event.Failed, Error: &event.Error{Kind: event.Fatal, Message: "bad"}}
	}
	return event.AttemptFinished{Outcome: event.OK}
}

// A run that succeeds teaches the next ones, called ones too, what to expect; it stands in their first event. One that
// fails teaches nothing.
func TestRunsLearnFromThoseBefore(t *testing.T) {
	p, list := dsl.Load(fstest.MapFS{"w.hcl": {Data: []byte(`
workflow "w" {
  max_concurrency = 1
  default         = true
  step "short" { run = ["true"] }
  step "long" { run = ["true"] }
  step "each" {
    for_each   = [1, 2, 3]
    run        = ["true"]
    depends_on = [step.long]
  }
  step "called" {
    call       = workflow.k
    depends_on = [step.each]
  }
}
workflow "k" {
  step "inner" { run = ["true"] }
}
`)}}, "w.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	s := newStore(t)
	x := &takes{clock: s.clock, by: map[string]time.Duration{"short": time.Second, "long": time.Minute, "each": 2 * time.Second, "inner": 5 * time.Second}}
	e := s.open(t, Options{Executor: x, Factory: func(h journal.Header, definition []byte) (engine.Machine, error) {
		g, err := plan.Build(p.IR, h.Workflow)
		return machine.New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules()), err
	}})
	ctx := context.Background()
	var first *event.RunStarted
	var order []string
	run := func() (engine.Start, event.Status) {
		t.Helper()
		start := engine.Start{Header: journal.Header{Behaviour: ir.Behaviour, Definition: p.IR.Hash(), Workflow: "w"}, Definition: p.IR.Canonical(),
			First: event.RunStarted{Workflow: "w"}}
		id, err := e.Start(ctx, start)
		if err != nil {
			t.Fatal(err)
		}
		order = nil
		end, err := e.Drive(ctx, id, func(events []event.Event, r *event.Reaction, _ bool) {
			if events[0].RunStarted != nil {
				first = events[0].RunStarted
			}
			for _, c := range r.Commands {
				if c.Start != nil {
					order = append(order, c.Start.Name)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return start, end.Status
	}
	x.bad = "long"
	if _, status := run(); status != event.FailedS {
		t.Fatalf("the run %s", status)
	}
	if x, runs, err := e.Expected(ctx, "w"); err != nil || runs != 0 || x.US != nil {
		t.Errorf("a failed run teaches %v, %d, %v", x, runs, err)
	}
	x.bad = ""
	if run(); first.ExpectedUS != nil || order[0] != "short" {
		t.Errorf("the first run expects %v and starts %s first", first.ExpectedUS, order)
	}
	run()
	want := map[string]int64{"short": 1, "long": 60, "each": 2, "called": 5}
	for name, us := range first.ExpectedUS {
		if seconds := float64(us) / 1e6; seconds < 0.99*float64(want[name]) || seconds > 1.01*float64(want[name]) {
			t.Errorf("%s is expected to take %f s", name, seconds)
		}
	}
	if len(first.ExpectedUS) != len(want) || !cmp.Equal(first.ExpectedTimes, map[string]int{"each": 3}) || order[0] != "long" {
		t.Errorf("the second run expects %v, %v, and starts %s", first.ExpectedUS, first.ExpectedTimes, order)
	}
	if x, runs, err := e.Expected(ctx, "k"); err != nil || runs != 2 || x.US["inner"] == 0 {
		t.Errorf("the called runs teach %v, %d, %v", x, runs, err)
	}
}

// Bytes that cannot be read say nothing, and are not error.
func TestUnreadableDurationsCountAsNone(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{})
	err := e.write(func(tx *transaction) error {
		_, err := tx.exec("INSERT INTO durations (workflow, runs, whole, expected) VALUES ('w', 3, x'ff', x'01ff')")
		return err
	})
	if x, _, expected := e.Expected(context.Background(), "w"); errors.Join(err, expected) != nil || x.US != nil {
		t.Errorf("they are %v, %v, %v", x, err, expected)
	}
}
