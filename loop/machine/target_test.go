package machine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/loop/machine"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// withLoop is the program of team with a loop that has more in it, and with blocks behind it.
func withLoop(more, behind string) string {
	return team + `
loop "l" {
  agents = [pool.team]
  ` + more + `
  source "dispatch" {}
  handle {
    workflow = workflow.do
    with     = { id = item.id, worker = worker }
  }
}
` + behind
}

func failed(message string) event.AttemptFinished {
	return event.AttemptFinished{Outcome: event.Failed, Error: &event.Error{Kind: event.Recoverable, Reason: event.ReasonAgent, Message: message}}
}

// said are the transitions of the loop that have words in them.
func (x *office) said(words string) (out []string) {
	for _, line := range x.lines {
		if strings.Contains(line, words) {
			out = append(out, line)
		}
	}
	return out
}

// While the breaker of its quota is open, a loop claims nothing, whatever its items need; then it goes on.
func TestLoopWaitsForItsQuota(t *testing.T) {
	x := newOffice(t, withLoop("quota = quota.api", `
quota "api" {
  circuit_breaker {
    failures = 1
    reset    = "2h"
  }
}
workflow "shaky" {
  step "s" {
    run   = ["x"]
    quota = quota.api
  }
}
`))
	begin := x.store.Now()
	var when []string
	x.work = func(a event.Attempt) (event.AttemptFinished, time.Duration) {
		if a.Agent == nil {
			return failed("down"), time.Second
		}
		when = append(when, fmt.Sprintf("%s %s", a.Agent.Task, x.store.Now().Sub(begin).Round(time.Hour)))
		return event.AttemptFinished{Outcome: event.OK}, time.Minute
	}
	if _, err := x.host.Drive(context.Background(), x.begin("shaky"), nil); err != nil {
		t.Fatal(err)
	}
	x.dispatch(event.Item{ID: "a", Title: "a"}, event.Item{ID: "b", Title: "b"}, event.Item{ID: "c", Title: "c"})
	x.start(event.LoopStart{UntilIdle: false})
	x.stopAt(begin.Add(4 * time.Hour))
	end := x.drive()
	if got := strings.Join(when, ", "); len(when) != 3 || strings.Count(got, " 2h0m0s") != 3 {
		t.Errorf("items began: %s", got)
	}
	if got := x.said("no item is taken until"); len(got) != 1 || !strings.Contains(got[0], "the breaker of quota api is open") {
		t.Errorf("said: %q", got)
	}
	if end.Outputs["closed"] != 3.0 {
		t.Error(end.Outputs)
	}
}

// stopAt has somebody stop the loop.
func (x *office) stopAt(at event.Time) {
	x.host.Schedule(sim.Moment{At: at, Do: func() error {
		x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "l"}})
		return nil
	}})
}

// keep keeps the machines of runs.
func (x *office) keep() {
	factory := x.o.Factory
	x.machines = map[string]*machine.Restored{}
	x.o.Factory = func(h journal.Header, definition []byte) (engine.Machine, error) {
		m, err := factory(h, definition)
		if loop, is := m.(*machine.Restored); is {
			x.machines[h.Run] = loop
		}
		return m, err
	}
	x.host.Close()
	x.host = sim.New(x.store, x.o)
}

// begin makes a run of a workflow.
func (x *office) begin(workflow string) string {
	x.t.Helper()
	definition := x.p.Canonical()
	h := journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: workflow}
	run, err := x.host.Start(context.Background(), engine.Start{Header: h, Definition: definition, First: event.RunStarted{Workflow: workflow}})
	if err != nil {
		x.t.Fatal(err)
	}
	return run
}

// figures are those of the loop now, by name.
func (x *office) figures() map[string]string {
	out := map[string]string{}
	for _, f := range x.machines[x.run].Figures(x.store.Now()) {
		out[f.Name] = f.Words()
		if f.Missed {
			out[f.Name] += " (told)"
		}
	}
	return out
}

// Each figure is what the formula says, a target that is missed is told once, and once that it is met again.
func TestTargets(t *testing.T) {
	x := newOffice(t, withLoop(`target {
    success_rate    = 0.5
    retry_rate      = 0.2
    mean_time       = "30m"
    escalation_rate = 0.9
    throughput      = 0.5
    idle            = 0.99
  }
  notify = [channel.ops]`, `
channel "ops" {
  type = "webhook"
  url  = "https://ops.example"
}
`))
	x.keep()
	begin := x.store.Now()
	var told []string
	x.work = func(a event.Attempt) (event.AttemptFinished, time.Duration) {
		switch {
		case a.Notify != nil:
			told = append(told, a.Notify.Message.Title)
			return event.AttemptFinished{Outcome: event.OK}, time.Second
		case strings.HasPrefix(a.Agent.Task, "bad"):
			return failed("no"), 10 * time.Minute
		}
		return event.AttemptFinished{Outcome: event.OK}, 10 * time.Minute
	}
	for i := range 6 { // 12 failures, of which 6 are of items that failed before, and 6 dead letters
		x.dispatch(event.Item{ID: fmt.Sprintf("bad%d", i), Title: "x"})
	}
	x.host.Schedule(sim.Moment{At: begin.Add(3 * time.Hour), Do: func() error {
		for i := range 24 {
			x.dispatch(event.Item{ID: fmt.Sprintf("good%d", i), Title: "x"})
		}
		return nil
	}})
	x.start(event.LoopStart{})
	x.stopAt(begin.Add(8 * time.Hour))
	x.drive()
	got := x.figures()
	for name, want := range map[string]string{
		"success_rate":    "success rate 66.7%: meets the target (at least 50.0%)",
		"retry_rate":      "retry rate 16.7%: meets the target (at most 20.0%)",
		"mean_time":       "mean time 10m0s: meets the target (at most 30m0s)",
		"escalation_rate": "escalation rate 16.7%: meets the target (at most 90.0%)",
		"throughput":      "throughput 3 an hour: meets the target (at least 0.5 an hour)",
		"idle":            "idle 62.5%: meets the target (at most 99.0%)",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	for _, title := range []string{"Loop l misses its target success_rate", "Loop l meets its target success_rate again", "Loop l misses its target retry_rate", "Loop l meets its target retry_rate again",
		"Loop l misses its target throughput", "Loop l meets its target throughput again"} {
		if n := strings.Count(strings.Join(told, "\n")+"\n", title+"\n"); n != 1 {
			t.Errorf("%q was told %d times: %q", title, n, told)
		}
	}
	if strings.Contains(strings.Join(told, "\n"), "mean_time") || strings.Contains(strings.Join(told, "\n"), "idle") {
		t.Errorf("told: %q", told)
	}
}

// The driver dies at many points, and a target that is missed is one event all the same.
func TestTargetIsOneEventUnderCrashes(t *testing.T) {
	for at := 20; ; at += 9 { // the run that waits has the first points
		x := newOffice(t, withLoop("target { success_rate = 0.5 }", `
workflow "hear" {
  step "it" {
    wait { event = "flowrun.target" }
  }
}
`))
		x.work = func(event.Attempt) (event.AttemptFinished, time.Duration) { return failed("no"), time.Second }
		for i := range 5 {
			x.dispatch(event.Item{ID: fmt.Sprintf("bad%d", i), Title: "x"})
		}
		hear := x.begin("hear")
		if _, err := x.host.DriveUntilParked(context.Background(), hear, nil); err == nil || !strings.Contains(err.Error(), "is parked") {
			t.Fatal(err)
		}
		x.start(event.LoopStart{UntilIdle: true})
		x.o.Faults = sim.Faults{CrashAt: at}
		x.host.Close()
		x.host = sim.New(x.store, x.o)
		_, err := x.host.Drive(context.Background(), x.run, nil)
		crashed := err == sim.ErrCrashed
		if crashed {
			x.drive()
		} else if err != nil {
			t.Fatal(at, err)
		}
		list, _ := x.ask(event.StoreRequest{Events: true}).([]any)
		if len(list) != 1 || list[0].(map[string]any)["data"].(map[string]any)["state"] != "missed" {
			t.Fatalf("crash %d: events %v", at, list)
		}
		if !crashed {
			if at < 100 {
				t.Errorf("only %d points", at)
			}
			return
		}
	}
}

// A loop goes on for days, a run each. The next run knows what the one before counted: a target that stays missed is told once, and the
// figures are those of 24 hours.
func TestTargetsGoOn(t *testing.T) {
	x := newOffice(t, withLoop("target { success_rate = 0.5 }", ""))
	x.follows = true
	x.keep()
	begin := x.store.Now()
	x.work = func(a event.Attempt) (event.AttemptFinished, time.Duration) {
		if strings.HasPrefix(a.Agent.Task, "bad") {
			return failed("no"), time.Minute
		}
		return event.AttemptFinished{Outcome: event.OK}, time.Minute
	}
	for d := range 3 { // 4 failures and a success every six hours
		for h := 1; h < 24; h += 6 {
			x.hour(24*d+h, func() {
				for i := range 2 {
					x.dispatch(event.Item{ID: fmt.Sprintf("bad%d-%d-%d", d, h, i), Title: "x"})
				}
				x.dispatch(event.Item{ID: fmt.Sprintf("good%d-%d", d, h), Title: "x"})
			})
		}
	}
	x.start(event.LoopStart{Number: 1})
	x.stopAt(begin.Add(70 * time.Hour))
	x.drive()
	if ended, _ := x.sessions(); len(ended) < 3 {
		t.Errorf("%d runs of the loop", len(ended))
	}
	if got := x.said("target"); len(got) != 1 || !strings.Contains(got[0], "misses a target: success_rate is 20.0%") {
		t.Errorf("said: %q", got)
	}
	got := x.figures()
	if want := "success rate 20.0%: misses the target (at least 50.0%) (told)"; got["success_rate"] != want {
		t.Errorf("%q, want %q", got["success_rate"], want)
	}
	if want := "throughput 0.174 an hour"; got["throughput"] != want { // 4 items in the 23 hours since 23:00
		t.Errorf("%q, want %q", got["throughput"], want)
	}
}

// The clock is set back between two runs of a loop. The figures stay: the hours are as far away as they were.
func TestTargetsWhenTheClockIsSetBack(t *testing.T) {
	x := newOffice(t, withLoop("target { success_rate = 0.5 }", ""))
	x.keep()
	x.work = func(event.Attempt) (event.AttemptFinished, time.Duration) { return failed("no"), time.Minute }
	bad := func(n int) {
		for i := range 3 {
			x.dispatch(event.Item{ID: fmt.Sprintf("bad%d-%d", n, i), Title: "x"})
		}
	}
	bad(1)
	x.start(event.LoopStart{Number: 1, UntilIdle: true})
	x.drive()
	before := x.figures()
	x.host.Jump(-30 * time.Hour)
	bad(2)
	x.start(event.LoopStart{Number: 2, UntilIdle: true, Carry: x.end.Loop.Next.Carry})
	x.drive()
	got := x.figures()
	if before["success_rate"] != "success rate 0.0%: misses the target (at least 50.0%)" || before["mean_time"] != "mean time 1m0s" {
		t.Errorf("before: %q", before)
	}
	if got["success_rate"] != "success rate 0.0%: misses the target (at least 50.0%) (told)" || got["mean_time"] != "mean time 1m0s" {
		t.Errorf("after: %q", got)
	}
	if said := x.said("misses a target"); len(said) != 1 {
		t.Errorf("said: %q", said)
	}
}

// The time of an item begins with its claim, also where its run waits for days and another run of the loop goes on with it.
func TestTimeOfParkedItem(t *testing.T) {
	x := newOffice(t, strings.Replace(asking, "  source \"dispatch\" {}\n", "  source \"dispatch\" {}\n  target { mean_time = \"1h\" }\n", 1))
	x.follows = true
	x.keep()
	begin := x.store.Now()
	x.dispatch(event.Item{ID: "a", Title: "a", Labels: []string{"ask"}})
	x.hour(40, func() { x.decide("a", event.WordApprove) })
	x.start(event.LoopStart{Number: 1})
	x.stopAt(begin.Add(41 * time.Hour))
	x.drive()
	if got := x.figures(); !strings.HasPrefix(got["mean_time"], "mean time 40h") || got["escalation_rate"] != "escalation rate 100.0%" {
		t.Errorf("%q", got)
	}
	if ended, _ := x.sessions(); len(ended) < 2 {
		t.Errorf("%d runs of the loop", len(ended))
	}
}

// Figures are written in digits, however large.
func TestFiguresAreDigits(t *testing.T) {
	for f, want := range map[float64]string{0.5: "0.5 an hour", 484.2: "484 an hour", 999.7: "1000 an hour", 48412.3: "48412 an hour"} {
		s := machine.TargetStanding{Name: "throughput", Is: &f}
		if got := s.Words(); got != "throughput "+want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
}
