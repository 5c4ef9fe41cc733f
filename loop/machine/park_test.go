package machine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
)

const asking = `
agent "sam" {
  type    = "exec"
  command = ["coder"]
}

workflow "do" {
  input "id" { type = string }
  step "work" {
    agent = agent.sam
    task  = input.id
  }
}

workflow "ask" {
  input "id" { type = string }
  sequence "all" {
    step "work" {
      agent = agent.sam
      task  = input.id
    }
    step "ok" {
      approve { prompt = "Is ${input.id} good?" }
    }
  }
}

loop "l" {
  agents = [agent.sam]
  source "dispatch" {}
  handle {
    when     = "'ask' in item.labels"
    workflow = workflow.ask
    with     = { id = item.id }
  }
  handle {
    workflow = workflow.do
    with     = { id = item.id }
  }
}
`

// decide answers the approval of the run that does an item.
func (x *office) decide(item string, word event.Word) {
	x.t.Helper()
	for _, row := range x.ask(event.StoreRequest{Claims: true}).([]any) {
		c, err := event.ClaimOf(row)
		if err != nil {
			x.t.Fatal(err)
		}
		if c.Item == "dispatch/"+item {
			x.ask(event.StoreRequest{Decide: &event.DecideRequest{Run: c.Run, Node: "all/ok", Decision: event.Decision{Word: word, By: "ann"}}})
		}
	}
}

// While the run of an item waits for a person, the agent takes other items; the run goes on by itself when it is answered.
func TestParkedItem(t *testing.T) {
	for _, c := range []struct {
		word event.Word
		want string
	}{{event.WordApprove, "a:closed b:closed"}, {event.WordReject, "a:parked b:closed"}} {
		x := newOffice(t, asking)
		x.dispatch(event.Item{ID: "a", Title: "a", Priority: 9, Labels: []string{"ask"}}, event.Item{ID: "b", Title: "b"})
		x.start(event.LoopStart{})
		at := x.store.Now()
		x.host.Schedule(sim.Moment{At: at.Add(time.Hour), Do: func() error {
			if got := strings.Join(x.calls, ", "); got != "sam a, sam b" {
				t.Error(got)
			}
			if got := x.states(); got != "a:parked b:closed" {
				t.Error(got)
			}
			x.decide("a", c.word)
			return nil
		}})
		x.host.Schedule(sim.Moment{At: at.Add(2 * time.Hour), Do: func() error {
			if got := x.states(); got != c.want { // rejected, it was tried once more and waits again
				t.Errorf("%s: %s", c.word, got)
			}
			x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "l"}})
			return nil
		}})
		x.drive()
	}
}

// A loop that ends leaves its parked items to its next run.
func TestParkedItemIsAdopted(t *testing.T) {
	x := newOffice(t, asking)
	x.dispatch(event.Item{ID: "a", Title: "a", Labels: []string{"ask"}})
	x.start(event.LoopStart{UntilIdle: true})
	end := x.drive()
	if got := x.states(); got != "a:parked" || end.Outputs["parked"] != 1.0 {
		t.Fatal(got, end.Outputs)
	}
	x.start(event.LoopStart{Carry: end.Loop.Next.Carry})
	at := x.store.Now()
	x.host.Schedule(sim.Moment{At: at.Add(time.Hour), Do: func() error { x.decide("a", event.WordApprove); return nil }})
	x.host.Schedule(sim.Moment{At: at.Add(2 * time.Hour), Do: func() error {
		x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "l"}})
		return nil
	}})
	end = x.drive()
	if got := x.states(); got != "a:closed" || end.Outputs["closed"] != 1.0 || len(x.calls) != 1 {
		t.Error(got, end.Outputs, x.calls)
	}
}

// A fatal failure stops the agent of the item, until people resume it; the others go on. So many failures in a row end the loop.
func TestFatalAndFailuresInARow(t *testing.T) {
	x := newOffice(t, simple)
	x.work = func(a event.Attempt) (event.AttemptFinished, time.Duration) {
		f := event.AttemptFinished{Outcome: event.OK}
		if a.Agent.Task == "poison" && a.Agent.Name == "sam" {
			f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Fatal, Reason: event.ReasonAgent, Message: "no disk"}
		}
		return f, time.Minute
	}
	x.dispatch(event.Item{ID: "poison", Title: "poison", Priority: 9, Assignee: "sam"}, event.Item{ID: "for-sam", Title: "x", Assignee: "sam"}, event.Item{ID: "other", Title: "x"})
	x.start(event.LoopStart{})
	at := x.store.Now()
	x.host.Schedule(sim.Moment{At: at.Add(time.Hour), Do: func() error {
		if got := x.states(); got != "for-sam:open other:closed poison:open" {
			t.Error(got)
		}
		x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopResume, Loop: "l"}})
		return nil
	}})
	x.host.Schedule(sim.Moment{At: at.Add(2 * time.Hour), Do: func() error {
		if got := x.states(); got != "for-sam:open other:closed poison:dead" { // it has failed again, and sam is stopped again
			t.Error(got)
		}
		x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "l"}})
		return nil
	}})
	x.drive()
	if text := strings.Join(x.lines, "\n"); strings.Count(text, "agent sam takes nothing any more") != 2 {
		t.Error(text)
	}

	x = newOffice(t, strings.Replace(simple, "source \"dispatch\" {}", "source \"dispatch\" {}\n  limits { consecutive_failures = 3 }", 1))
	x.work = func(event.Attempt) (event.AttemptFinished, time.Duration) {
		return event.AttemptFinished{Outcome: event.Failed, Error: &event.Error{Kind: event.Recoverable, Reason: event.ReasonAgent, Message: "no"}}, time.Minute
	}
	x.dispatch(event.Item{ID: "1", Title: "1"}, event.Item{ID: "2", Title: "2"}, event.Item{ID: "3", Title: "3"})
	x.start(event.LoopStart{})
	end := x.drive()
	if end.Status != event.FailedS || !end.Limit || end.Error == nil || end.Error.Reason != event.ReasonLimit || end.Outputs["failed"].(float64) < 3 {
		t.Error(end)
	}
}

// While the breaker of a quota is open that the work on an item asks for, the item is passed over and others are done; then it is done.
func TestOpenBreakerIsPassedOver(t *testing.T) {
	x := newOffice(t, `
quota "tracker" {
  circuit_breaker {
    failures = 2
    reset    = "2h"
  }
}
agent "sam" {
  type    = "exec"
  command = ["coder"]
}
workflow "tracked" {
  step "work" {
    agent = agent.sam
    task  = "tracked"
    quota = quota.tracker
    retry { max_attempts = 2 }
  }
}
workflow "plain" {
  step "work" {
    agent = agent.sam
    task  = "plain"
  }
}
loop "l" {
  agents = [agent.sam]
  source "dispatch" {}
  handle {
    when     = "'tracked' in item.labels"
    workflow = workflow.tracked
  }
  handle { workflow = workflow.plain }
}
`)
	begin := x.store.Now()
	var when []string
	x.work = func(a event.Attempt) (event.AttemptFinished, time.Duration) {
		after := x.store.Now().Sub(begin)
		when = append(when, a.Agent.Task+" "+after.Truncate(time.Hour).String())
		if a.Agent.Task == "tracked" && after < time.Hour {
			return event.AttemptFinished{Outcome: event.Failed, Error: &event.Error{Kind: event.Transient, Reason: event.ReasonAgent, Message: "down"}}, time.Second
		}
		return event.AttemptFinished{Outcome: event.OK}, time.Second
	}
	x.dispatch(event.Item{ID: "t", Title: "t", Priority: 9, Labels: []string{"tracked"}}, event.Item{ID: "p", Title: "p"})
	x.start(event.LoopStart{})
	x.host.Schedule(sim.Moment{At: begin.Add(5 * time.Hour), Do: func() error {
		x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "l"}})
		return nil
	}})
	x.drive()
	if got := strings.Join(when, ", "); got != "tracked 0s, tracked 0s, plain 0s, tracked 2h0m0s" || x.states() != "p:closed t:closed" {
		t.Error(got, x.states())
	}
}

const waiting = `
agent "sam" {
  type    = "exec"
  command = ["coder"]
}

workflow "do" {
  input "id" { type = string }
  step "work" {
    agent = agent.sam
    task  = input.id
  }
}

workflow "hear" {
  sequence "all" {
    step "heard" {
      wait { event = "built" }
    }
    step "after" {
      agent = agent.sam
      task  = "after"
    }
  }
}

workflow "sleep" {
  input "span" { type = string }
  step "slept" {
    wait { duration = input.span }
  }
}

loop "l" {
  agents = [agent.sam]
  lease  = "10m"
  source "dispatch" {}
  handle {
    when     = "'hear' in item.labels"
    workflow = workflow.hear
  }
  handle {
    when     = "'long' in item.labels"
    workflow = workflow.sleep
    with     = { span = "2h" }
  }
  handle {
    when     = "'short' in item.labels"
    workflow = workflow.sleep
    with     = { span = "8m" }
  }
  handle {
    workflow = workflow.do
    with     = { id = item.id }
  }
}
`

// While the run of an item waits for an event or for a distant moment, the agent takes other items, and the run goes on by itself. It keeps the
// agent while it waits for a moment that is near.
func TestItemThatWaitsIsParked(t *testing.T) {
	for label, want := range map[string]string{"hear": "b after", "long": "b", "short": "b"} { // any order: each for itself
		x := newOffice(t, waiting)
		x.dispatch(event.Item{ID: "a", Title: "a", Priority: 9, Labels: []string{label}}, event.Item{ID: "b", Title: "b"})
		x.keep()
		x.start(event.LoopStart{})
		at := x.store.Now()
		x.work = func(a event.Attempt) (event.AttemptFinished, time.Duration) {
			if after := x.store.Now().Sub(at); a.Agent.Task == "b" && (after < 8*time.Minute) == (label == "short") {
				t.Errorf("%s: the agent takes b after %s", label, after)
			}
			return event.AttemptFinished{Outcome: event.OK}, time.Minute
		}
		x.host.Schedule(sim.Moment{At: at.Add(time.Hour), Do: func() error {
			want := "a:parked b:closed"
			if label == "short" {
				want = "a:closed b:closed"
			}
			if got := x.states(); got != want {
				t.Errorf("%s: %s", label, got)
			}
			x.ask(event.StoreRequest{Emit: &event.EmitRequest{Name: "built"}})
			return nil
		}})
		x.host.Schedule(sim.Moment{At: at.Add(3 * time.Hour), Do: func() error {
			if got := x.states(); got != "a:closed b:closed" {
				t.Errorf("%s: %s", label, got)
			}
			x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "l"}})
			return nil
		}})
		x.drive()
		if got := strings.ReplaceAll(strings.Join(x.calls, " "), "sam ", ""); got != want {
			t.Errorf("%s: %s", label, got)
		}
		if got := x.figures()["escalation_rate"]; got != "escalation rate 0.0%" { // nobody was asked
			t.Errorf("%s: %s", label, got)
		}
	}
}
