package view

import (
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

func TestAttempts(t *testing.T) {
	a := NewAttempts()
	seq := uint64(0)
	apply := func(ev event.Event, starts ...uint64) {
		seq++
		ev.Seq, ev.At = seq, event.Time(seq*1000)
		var r event.Reaction
		for _, ticket := range starts {
			r.Commands = append(r.Commands, event.Command{Start: &event.Attempt{Run: "r", Ticket: ticket, Node: "n", Name: "n", Attempt: 1}})
		}
		a.Apply([]event.Event{ev}, &r)
	}
	tickets := func(list []*Begun) (have []uint64) {
		for _, b := range list {
			have = append(have, b.Ticket)
		}
		return have
	}
	check := func(live, lost int) {
		t.Helper()
		if len(a.Live()) != live || len(a.Lost()) != lost {
			t.Errorf("after event %d, %v are live and %v are lost, want %d and %d", seq, tickets(a.Live()), tickets(a.Lost()), live, lost)
		}
	}
	apply(event.Event{RunStarted: &event.RunStarted{}}, 2, 1)
	check(2, 0)
	if have := tickets(a.Live()); have[0] != 1 || have[1] != 2 {
		t.Errorf("the order is %v", have)
	}
	apply(event.Event{DriverChanged: &event.DriverChanged{Why: event.NobodyBefore}}, 1, 2)
	check(2, 0)
	apply(event.Event{AttemptFinished: &event.AttemptFinished{Ticket: 1}}, 3)
	check(2, 0)
	now := a.Interrupted(true)
	if len(now) != 2 || now[0].Interrupted != DriverDied || now[0].Heard != 3000 || a.Live()[0].Interrupted != "" {
		t.Errorf("nobody drives it: %+v, and the live ones are %+v", now[0], a.Live()[0])
	}
	apply(event.Event{DriverChanged: &event.DriverChanged{Lost: true}}, 2)
	check(1, 2)
	apply(event.Event{DriverChanged: &event.DriverChanged{}}, 2)
	check(1, 3)
	first, last := a.Lost()[0], a.Lost()[2]
	if first.Interrupted != DriverDied || first.Heard != 3000 || first.NextDriver != 4 || first.Over != 4000 || first.StartedAt != 2000 {
		t.Errorf("the first that was lost is %+v", first)
	}
	if last.Interrupted != DriverStopped || last.StartedAt != 4000 || last.NextDriver != 5 {
		t.Errorf("the last that was lost is %+v", last)
	}
	for range MaxTries {
		apply(event.Event{DriverChanged: &event.DriverChanged{}}, 2)
	}
	check(1, MaxTries)
	if a.Left != 3 {
		t.Errorf("%d are left out", a.Left)
	}
	apply(event.Event{AttemptFinished: &event.AttemptFinished{Ticket: 2}})
	check(0, MaxTries)
}

// A decision that came while nobody drove the run stands in the journal before the next driver does: what it started was not carried out.
func TestNobodyCarriesOutWhatADecisionStarts(t *testing.T) {
	a := NewAttempts()
	start := func(ticket uint64) *event.Reaction {
		return &event.Reaction{Commands: []event.Command{{Start: &event.Attempt{Run: "r", Ticket: ticket, Node: "n"}}}}
	}
	a.Apply([]event.Event{{Seq: 1, At: 1000, RunStarted: &event.RunStarted{}}}, start(1))
	a.Apply([]event.Event{{Seq: 2, At: 9000, External: &event.External{Kind: event.ExternalDecision}}}, start(2))
	a.Apply([]event.Event{{Seq: 3, At: 9000, DriverChanged: &event.DriverChanged{Since: 1000}}}, start(2))
	if lost, live := a.Lost(), a.Live(); len(lost) != 1 || lost[0].Ticket != 1 || len(live) != 1 || live[0].Ticket != 2 {
		t.Errorf("lost %+v, live %+v; want 1 and 2", lost, live)
	}
}

// A cancel that finds the run without a driver stands in the journal before the next driver does: nobody heard the attempt then.
func TestACancelIsNoSignOfLife(t *testing.T) {
	a := NewAttempts()
	a.Apply([]event.Event{{Seq: 1, At: 1000, RunStarted: &event.RunStarted{}}}, &event.Reaction{Commands: []event.Command{{Start: &event.Attempt{Run: "r", Ticket: 1, Node: "n"}}}})
	a.Apply([]event.Event{{Seq: 2, At: 9000, External: &event.External{Kind: "cancel"}}, {Seq: 3, At: 9500, DriverChanged: &event.DriverChanged{Lost: true, Since: 1000}}}, &event.Reaction{})
	if lost := a.Lost(); len(lost) != 1 || lost[0].Heard != 1000 {
		t.Errorf("%+v", lost)
	}
}
