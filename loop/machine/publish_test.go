package machine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
)

// Since behaviour number 2 a loop publishes each change of what it does once: a pause that gets another end is none, nor is one whose time is over.
func TestLoopPublishes(t *testing.T) {
	for _, c := range []struct {
		behaviour int
		want      []string
	}{
		{1, nil},
		{2, []string{"paused sam 00:15", "resumed sam", "paused 00:13", "agent_stopped leo", "resumed", "agent_stopped leo", "limit 01:20", "limit 01:30", "stopped"}},
	} {
		x := newOffice(t, withLoop("limits { tasks_per_hour = 2 }", ""))
		x.behaviour = c.behaviour
		x.start(event.LoopStart{})
		begin := x.store.Now()
		x.work = func(a event.Attempt) (event.AttemptFinished, time.Duration) {
			if a.Agent.Task == "fatal" {
				return event.AttemptFinished{Outcome: event.Failed, Error: &event.Error{Kind: event.Fatal, Message: "no key"}}, time.Second
			}
			return event.AttemptFinished{Outcome: event.OK}, time.Second
		}
		at := func(minute int, do func()) {
			x.host.Schedule(sim.Moment{At: begin.Add(time.Duration(minute) * time.Minute), Do: func() error { do(); return nil }})
		}
		control := func(minute int, r event.LoopRequest) {
			r.Loop = "l"
			at(minute, func() { x.ask(event.StoreRequest{Loop: &r}) })
		}
		control(5, event.LoopRequest{Operation: event.LoopPause, Agent: "sam", For: 10 * time.Minute, By: "ann"})
		control(6, event.LoopRequest{Operation: event.LoopPause, Agent: "sam"})
		control(7, event.LoopRequest{Operation: event.LoopResume, Agent: "sam"})
		control(8, event.LoopRequest{Operation: event.LoopPause, For: 5 * time.Minute})
		at(20, func() { x.dispatch(event.Item{ID: "fatal", Title: "fatal", Assignee: "leo"}) })
		control(30, event.LoopRequest{Operation: event.LoopResume})
		at(40, func() { x.dispatch(event.Item{ID: "a", Title: "a"}, event.Item{ID: "b", Title: "b"}) })
		control(100, event.LoopRequest{Operation: event.LoopStop, By: "ann"})
		x.drive()
		if !slices.Equal(x.told, c.want) {
			t.Errorf("behaviour %d: the loop published %q, want %q", c.behaviour, x.told, c.want)
		}
	}
}

// A loop that stops after failures in a row publishes that, too, before it ends.
func TestLoopPublishesFailures(t *testing.T) {
	x := newOffice(t, withLoop("limits { consecutive_failures = 2 }", ""))
	x.work = func(event.Attempt) (event.AttemptFinished, time.Duration) { return failed("no"), time.Second }
	x.dispatch(event.Item{ID: "a", Title: "a"})
	x.start(event.LoopStart{UntilIdle: true})
	if end := x.drive(); end.Status != event.FailedS || !slices.Equal(x.told, []string{"stopped"}) {
		t.Errorf("%v, published %q", end, x.told)
	}
}
