package machine_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/loop/machine"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
)

var large = flag.Bool("large", false, "the large tests, too")

// sessions has the runs of the loop that have ended, in order, and the run that goes on.
func (x *office) sessions() (ended []event.End, run string) {
	number := uint64(1)
	x.t.Helper()
	for _, e := range x.ends {
		if e.Loop == nil || e.Loop.Next.Number != number+1 {
			x.t.Fatalf("run %d of the loop leaves %+v", number, e.Loop)
		}
		ended = append(ended, e)
		number++
	}
	return ended, event.LoopRun("l", number)
}

// hour has something done so many hours after the beginning.
func (x *office) hour(h int, do func()) {
	x.host.Schedule(sim.Moment{At: x.store.Now().Add(time.Duration(h) * time.Hour), Do: func() error { do(); return nil }})
}

// A loop goes on for days, a run each; what it knows goes from run to run.
func TestHandsOver(t *testing.T) {
	x := newOffice(t, strings.Replace(asking, "  source \"dispatch\" {}\n", "  source \"dispatch\" {}\n  limits { consecutive_failures = 3 }\n", 1))
	x.follows = true
	x.work = func(a event.Attempt) (event.AttemptFinished, time.Duration) {
		f := event.AttemptFinished{Outcome: event.OK}
		if a.Agent != nil && strings.HasPrefix(a.Agent.Task, "bad") {
			f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Recoverable, Reason: event.ReasonAgent, Message: "no"}
		}
		return f, time.Minute
	}
	x.dispatch(event.Item{ID: "a", Title: "a", Labels: []string{"ask"}})
	for d := range 5 {
		x.hour(24*d+25, func() { x.dispatch(event.Item{ID: fmt.Sprint("d", d), Title: "t"}) })
	}
	x.hour(80, func() { x.decide("a", event.WordApprove) })
	for i := range 3 { // each is tried twice: the third failure in a row comes a day after the second
		x.hour(24*(i+6), func() { x.dispatch(event.Item{ID: fmt.Sprint("bad", i), Title: "t"}) })
	}
	x.start(event.LoopStart{Number: 1})
	x.drive()
	ended, _ := x.sessions()
	if n := len(ended); n < 5 || n > 8 {
		t.Errorf("%d runs", n)
	}
	last := ended[len(ended)-1]
	if last.Status != event.FailedS || last.Loop.GoesOn || !strings.Contains(last.Error.Message, "3 items in a row") {
		t.Errorf("%+v", last)
	}
	if got := x.states(); got != "a:closed bad0:dead bad1:open d0:closed d1:closed d2:closed d3:closed d4:closed" {
		t.Error(got)
	}
	for i, e := range ended[:len(ended)-1] {
		if e.Status != event.Succeeded || !e.Loop.GoesOn {
			t.Errorf("run %d: %+v", i+1, e)
		}
	}
}

// The turns of improvement and the pause between them go from run to run.
func TestHandsOverTurns(t *testing.T) {
	x := newOffice(t, `
agent "sam" { type = "null" }
loop "l" {
  agents = [agent.sam]
  source "improvement" {
    rotate = [workflow.one, workflow.two]
    every  = "30h"
  }
  handle { workflow = workflow.one }
}
workflow "one" {
  step "s" { value = 1 }
}
workflow "two" {
  step "s" { value = 2 }
}
`)
	x.follows = true
	x.hour(24*9, func() {
		x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "l"}})
	})
	x.start(event.LoopStart{Number: 1})
	x.drive()
	var turns []string
	for _, line := range x.lines {
		if _, w, found := strings.Cut(line, "takes it: "); found {
			turns = append(turns, w)
		}
	}
	if got := strings.Join(turns, " "); got != "one two one two one two one two" {
		t.Error(got)
	}
	if ended, _ := x.sessions(); len(ended) < 5 {
		t.Errorf("%d runs", len(ended))
	}
}

// After MaxEvents events the run ends, too; at twice as many also where no moment comes at which nothing is in work.
func TestHandsOverAfterManyEvents(t *testing.T) {
	if !*large {
		t.Skip("-large makes 25,000 events")
	}
	x := newOffice(t, strings.Replace(simple, "command = [\"coder\"]", "command = [\"coder\"]\n  concurrency = 4", 1))
	x.follows = true
	x.work = func(event.Attempt) (event.AttemptFinished, time.Duration) {
		return event.AttemptFinished{Outcome: event.OK}, time.Duration(1+len(x.calls)%7) * 10 * time.Second
	}
	batch := 0
	var more func()
	more = func() {
		for i := range 60 {
			x.dispatch(event.Item{ID: fmt.Sprintf("i%d-%d", batch, i), Title: "t"})
		}
		if batch++; batch < 100 {
			x.host.Schedule(sim.Moment{At: x.store.Now().Add(8 * time.Minute), Do: func() error { more(); return nil }})
		} else {
			x.host.Schedule(sim.Moment{At: x.store.Now().Add(time.Hour), Do: func() error {
				x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "l"}})
				return nil
			}})
		}
	}
	x.hour(0, more)
	x.start(event.LoopStart{Number: 1})
	x.drive()
	ended, _ := x.sessions()
	if len(x.calls) != 6000 || len(ended) < 2 {
		t.Errorf("%d runs of items, %d runs of the loop", len(x.calls), len(ended))
	}
	for _, n := range x.counts {
		if n > 2*machine.MaxEvents+200 {
			t.Errorf("a run has %d events", n)
		}
	}
	t.Log(x.counts)
}
