package shared

import (
	"reflect"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

// What agents use is learned from the answers to their attempts; gates, late answers and other programs teach nothing.
func TestUsageIsTheMost(t *testing.T) {
	start := func(ticket uint64, agent string) event.Command {
		a := &event.Attempt{Ticket: ticket}
		if agent != "" {
			a.Agent = &event.AgentRequest{Name: agent}
		}
		return event.Command{Start: a}
	}
	end := func(ticket uint64, u *event.Usage) event.Event {
		return event.Event{AttemptFinished: &event.AttemptFinished{Ticket: ticket, Usage: u}}
	}
	rows := new(Map)
	for range 2 { // two runs
		var run UsageTally
		run.Add(nil, &event.Reaction{Commands: []event.Command{start(1, "a"), start(2, "a"), start(3, ""), start(4, "b"), start(5, "silent")}})
		run.Add([]event.Event{end(1, &event.Usage{InputTokens: 5, OutputTokens: 6, CostUSD: 0.5}), end(2, &event.Usage{OtherTokens: 20, CostUSD: 0.25})}, &event.Reaction{})
		run.Add([]event.Event{end(3, &event.Usage{CostUSD: 9}), end(1, &event.Usage{CostUSD: 9}), end(4, &event.Usage{CostUSD: 1}), end(5, nil)}, &event.Reaction{})
		if err := LearnUsage(rows, run.Most()); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]event.Bounds{"a": {Attempts: 4, Tokens: 20, CostUSD: 0.5}, "b": {Attempts: 2, CostUSD: 1}}
	if have, err := KnownUsage(rows); err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("known is %v (%v), want %v", have, err, want)
	}
}
