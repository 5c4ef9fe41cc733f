package shared

import (
	"fmt"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

var toldNeed = event.Need{Kind: event.NeedAgent, Name: "coder", Breaker: &event.Breaker{Failures: 1, Reset: time.Hour, Tell: true}}

// untoldOf takes the changes of the agent's breaker.
func untoldOf(t *testing.T, rows Rows) (states []string) {
	t.Helper()
	a, err := Apply(rows, &event.StoreRequest{Breakers: &event.BreakersRequest{Of: []event.BreakerOf{{Kind: event.NeedQuota, Name: "coder"}, {Kind: event.NeedAgent, Name: "coder"}}}}, Waiter{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range a.Output.([]any) {
		o := v.(map[string]any)
		if o["kind"] != "agent" || o["name"] != "coder" || (o["state"] == "closed") != (o["error"] == nil) {
			t.Errorf("a change is %v", o)
		}
		states = append(states, fmt.Sprint(o["number"], " ", o["state"]))
	}
	return states
}

// Each change of a breaker is given to one run, with a number that no other change has.
func TestEachChangeIsToldOnce(t *testing.T) {
	rows, broken := new(Map), &event.Error{Kind: event.Transient, Message: "nobody answers"}
	note := func(n *event.Need, to Health) {
		t.Helper()
		if _, err := NoteBreaker(rows, n, to, broken, 1); err != nil {
			t.Fatal(err)
		}
	}
	quiet := toldNeed
	quiet.Breaker = &event.Breaker{Failures: 1, Reset: time.Hour}
	note(&quiet, Open)
	if got := untoldOf(t, rows); got != nil {
		t.Errorf("without notify there is to tell: %v", got)
	}
	note(&toldNeed, Open)
	note(&toldNeed, Closed)
	if got := fmt.Sprint(untoldOf(t, rows)); got != "[1 open 2 closed]" {
		t.Error(got)
	}
	if got := untoldOf(t, rows); got != nil {
		t.Errorf("told again: %v", got)
	}
	for range MaxUntold + 3 {
		note(&toldNeed, Open)
	}
	if got := untoldOf(t, rows); len(got) != MaxUntold || got[0] != "6 open" || got[MaxUntold-1] != "21 open" {
		t.Errorf("of many there are %v", got)
	}
}

// A person who closes a breaker is told of like an attempt that does; closing what is closed changes nothing.
func TestResetIsTold(t *testing.T) {
	rows, b := new(Map), Breaker{Name: "agent coder", Failures: 1, Reset: time.Hour}
	if _, err := Declare(rows, &toldNeed); err != nil {
		t.Fatal(err)
	}
	if err := rows.Put(runSpace(BreakerEvent), "r", nil); err != nil {
		t.Fatal(err)
	}
	if _, to, err := b.Report(rows, "k", Bad, 1); to != Open || err != nil {
		t.Fatal(to, err)
	}
	done, err := ChangeLimit(rows, event.LimitChange{Reset: "coder"}, 2)
	if err != nil || !done.Changed || len(done.Posts) != 1 || done.Posts[0].Run != "r" {
		t.Errorf("%+v, %v", done, err)
	}
	if got := fmt.Sprint(untoldOf(t, rows)); got != "[1 closed]" {
		t.Error(got)
	}
	if done, err := ChangeLimit(rows, event.LimitChange{Reset: "coder"}, 3); err != nil || done.Changed || done.Posts != nil || untoldOf(t, rows) != nil {
		t.Errorf("again: %+v, %v", done, err)
	}
}

// A dedupe counts messages about a breaker over all workflows, and those of other kinds for each.
func TestBreakersAreOfAllWorkflows(t *testing.T) {
	m := event.NoticeRequest{Place: " agent coder open", Message: event.Message{Kind: event.MessageBreaker, Workflow: "a", Run: "r", Key: "k"}}
	other := m
	other.Message.Workflow = "b"
	if sortOf("c", &m) != sortOf("c", &other) {
		t.Error("two workflows tell of one breaker twice")
	}
	m.Message.Kind, other.Message.Kind = event.MessageBudget, event.MessageBudget
	if sortOf("c", &m) == sortOf("c", &other) {
		t.Error("two workflows have one budget")
	}
}
