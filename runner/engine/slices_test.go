package engine_test

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// hostileRun is a workflow whose first event evaluates values of some millions of steps each, at once.
func hostileRun(t *testing.T, values int) (*engine.Fold, journal.Header) {
	t.Helper()
	var src strings.Builder
	src.WriteString("workflow \"w\" {\n  input \"n\" {\n    type = number\n  }\n")
	for i := range values {
		fmt.Fprintf(&src, "  step \"s%d\" {\n    value = length([for a in range(input.n) : a if length([for b in range(900) : b if b < a - 9999]) > 0])\n  }\n", i)
	}
	p, list := dsl.Load(fstest.MapFS{"w.hcl": {Data: []byte(src.String() + "}\n")}}, "w.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	g, err := plan.Build(p.IR, "w")
	if err != nil {
		t.Fatal(err)
	}
	h := journal.Header{Format: journal.Format, Run: "hostile", Workflow: "w"}
	return engine.NewFold(h, machine.New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules())), h
}

func begins(h journal.Header, turns int) []event.Event {
	return []event.Event{{RunStarted: &event.RunStarted{Run: h.Run, Workflow: "w", Dir: "/", Inputs: map[string]any{"n": float64(turns)}}}}
}

var sliceTurns = flag.Int("slices.turns", 40, "how long each value of TestSlicesAreShort takes, in 5,400 steps")

// TestSlicesAreShort counts how often a fold looks up while values are evaluated that take long, and tells how long the longest slice took:
//
//	go test ./runner/engine -run TestSlicesAreShort -slices.turns=730 -v
func TestSlicesAreShort(t *testing.T) {
	const values = 20
	turns := *sliceTurns
	f, h := hostileRun(t, values)
	looks, longest, last := 0, time.Duration(0), time.Now()
	f.SetPause(func() error {
		now := time.Now()
		looks, longest, last = looks+1, max(longest, now.Sub(last)), now
		return nil
	})
	began := time.Now()
	var out event.Reaction
	b, err := f.Feed(1, begins(h, turns), &out)
	if err != nil || f.End() == nil || f.End().Status != event.Succeeded {
		t.Fatalf("it ends %+v (%v)", f.End().Error, err)
	}
	t.Logf("%d values took %s, in %d slices of at most %s", values, time.Since(began), looks+1, longest)
	if want := values * turns * 2000 / expr.PauseSteps; looks < want {
		t.Errorf("it looked up %d times, want %d", looks, want)
	}
	other, _ := hostileRun(t, values)
	if c, err := other.Feed(1, begins(h, turns), &out); err != nil || c.Link != b.Link || c.Digest != b.Digest {
		t.Errorf("without slices the batch is another one (%v)", err)
	}
}

// A fold is left in the middle of an expression, and the run is rebuilt by another one.
func TestAFoldIsLeftBetweenSlices(t *testing.T) {
	f, h := hostileRun(t, 2)
	stop, looks := errors.New("enough"), 0
	f.SetPause(func() error {
		if looks++; looks == 5 {
			return stop
		}
		return nil
	})
	var out event.Reaction
	if _, err := f.Feed(1, begins(h, 100), &out); !errors.Is(err, stop) || looks != 5 {
		t.Fatalf("after %d looks: %v", looks, err)
	}
	f, _ = hostileRun(t, 2)
	if _, err := f.Feed(1, begins(h, 100), &out); err != nil || f.End() == nil {
		t.Fatalf("another fold: %v", err)
	}
}
