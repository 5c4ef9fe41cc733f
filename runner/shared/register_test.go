package shared

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// registering is a request with subscriptions written as EVENT>WORKFLOW.
func registering(program string, ons ...string) *event.StoreRequest {
	r := &event.RegisterRequest{Program: program}
	if len(ons) > 0 {
		r.Definition, r.Hash = "the program "+strings.Join(ons, " "), "hash of "+strings.Join(ons, " ")
	}
	for _, on := range ons {
		name, workflow, _ := strings.Cut(on, ">")
		r.Ons = append(r.Ons, event.Subscribed{Event: name, Workflow: workflow, Spec: on})
	}
	return &event.StoreRequest{Register: r}
}

func must(t *testing.T, rows Rows, r *event.StoreRequest, now event.Time) value.Value {
	t.Helper()
	a, err := Apply(rows, r, Waiter{}, now)
	if err != nil {
		t.Fatal(err)
	}
	return a.Output
}

func emitting(t *testing.T, rows Rows, name string, now event.Time, causes ...string) {
	t.Helper()
	must(t, rows, &event.StoreRequest{Emit: &event.EmitRequest{Name: name, Data: name, Causes: causes}}, now)
}

func dueIn(t *testing.T, rows Rows, program string) []event.Due {
	t.Helper()
	a, err := event.ReadDue(must(t, rows, &event.StoreRequest{Due: &event.DueRequest{Program: program}}, 1))
	if err != nil {
		t.Fatal(err)
	}
	return a.Due
}

// TestDueAgainstModel registers programs, publishes and starts at random. In the model each event has the deliveries that it was due for when
// it was published, and each of them is started once.
func TestDueAgainstModel(t *testing.T) {
	names := []string{"a", "a.b", "a.b.c", "b", "b.c"}
	patterns := []string{"a", "a.*", "a.b", "a.b.*", "b.c", "b.*"}
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 11))
		rows, now := &Map{}, event.Time(1)
		subscribed := map[string][]string{} // by program: EVENT>WORKFLOW
		want := map[string]int{}            // what is due, as EVENT-ID SUBSCRIPTION WORKFLOW PROGRAM
		started := map[string]bool{}
		last := 0
		for i := range 200 {
			where := fmt.Sprintf("seed %d, %d", seed, i)
			now = now.Add(time.Duration(rng.Int64N(int64(time.Minute))))
			program := []string{"/p", "/q with a space"}[rng.IntN(2)]
			switch rng.IntN(6) {
			case 0:
				var ons []string
				for _, p := range patterns {
					if rng.IntN(3) == 0 {
						ons = append(ons, p+">"+[]string{"v", "w"}[rng.IntN(2)])
					}
				}
				v := must(t, rows, registering(program, ons...), now)
				if n := len(v.(map[string]any)["added"].([]any)); n > len(ons) {
					t.Fatalf("%s: %d were added of %d", where, n, len(ons))
				}
				subscribed[program] = ons
				for key := range want { // any order: each for itself
					parts := strings.SplitN(key, " ", 4)
					if parts[3] == program && !strings.Contains(" "+strings.Join(ons, " ")+" ", " "+parts[1]+">"+parts[2]+" ") {
						delete(want, key)
					}
				}
			case 1, 2, 3:
				name := names[rng.IntN(len(names))]
				emitting(t, rows, name, now)
				last++
				for program, ons := range subscribed { // any order: each for itself
					for _, on := range ons {
						pattern, workflow, _ := strings.Cut(on, ">")
						prefix, open := strings.CutSuffix(pattern, "*")
						if pattern == name || open && strings.HasPrefix(name, prefix) {
							want[fmt.Sprintf("ev-%d %s %s %s", last, pattern, workflow, program)] = 1
						}
					}
				}
			case 4, 5:
				var done []event.Delivered
				for _, d := range dueIn(t, rows, program) {
					if rng.IntN(2) == 0 {
						continue
					}
					key := fmt.Sprintf("%s %s %s %s", d.Event.ID, d.Subscription, d.Workflow, d.Program)
					if started[key] || d.Program != program {
						t.Fatalf("%s: %s is due after it was started, or in another program", where, key)
					}
					started[key] = true
					delete(want, key)
					done = append(done, event.Delivered{Due: d.Due, Run: "r"})
				}
				for range 2 { // the second time changes nothing
					must(t, rows, &event.StoreRequest{Started: &event.StartedRequest{Done: done}}, now)
				}
			}
			have := dueIn(t, rows, "")
			if len(have) != len(want) {
				t.Fatalf("%s: %d are due, want %d", where, len(have), len(want))
			}
			waiting := map[string]int{}
			for _, d := range have {
				if want[fmt.Sprintf("%s %s %s %s", d.Event.ID, d.Subscription, d.Workflow, d.Program)] != 1 {
					t.Fatalf("%s: %+v is due", where, d)
				}
				waiting[d.Subscription+">"+d.Workflow+d.Program]++
			}
			var list []struct {
				Path string `json:"path"`
				On   []struct {
					Event, Workflow string
					Waiting         int
				} `json:"on"`
			}
			if err := json.Unmarshal(value.Append(nil, must(t, rows, &event.StoreRequest{Programs: true}, now)), &list); err != nil {
				t.Fatal(err)
			}
			for _, p := range list {
				for _, on := range p.On {
					if n := waiting[on.Event+">"+on.Workflow+p.Path]; n != on.Waiting {
						t.Fatalf("%s: on %s → %s of %s has %d waiting, and says %d", where, on.Event, on.Workflow, p.Path, n, on.Waiting)
					}
				}
			}
		}
	}
}

// TestRegistrationSaysWhatChanged adds, changes and removes subscriptions, and keeps a definition as long as a program has it.
func TestRegistrationSaysWhatChanged(t *testing.T) {
	rows := &Map{}
	said := func(r *event.StoreRequest) string { return string(value.Append(nil, must(t, rows, r, 1))) }
	if got, want := said(registering("/p", "a>v", "b>w")), `{"added":["on a → v","on b → w"],"changed":[],"removed":[]}`; got != want {
		t.Errorf("first: %s, want %s", got, want)
	}
	if got, want := said(registering("/p", "a>v", "b>w")), `{"added":[],"changed":[],"removed":[]}`; got != want {
		t.Errorf("again: %s, want %s", got, want)
	}
	emitting(t, rows, "b", 2)
	r := registering("/p", "a>v", "c>w")
	r.Register.Ons[0].Spec = "another"
	if got, want := said(r), `{"added":["on c → w"],"changed":["on a → v"],"removed":["on b → w"]}`; got != want {
		t.Errorf("changed: %s, want %s", got, want)
	}
	if due := dueIn(t, rows, ""); len(due) != 0 {
		t.Errorf("%v is due for a subscription that is gone", due)
	}
	if _, err := Apply(rows, &event.StoreRequest{Definition: "hash of a>v b>w"}, Waiter{}, 1); err == nil {
		t.Error("a definition is kept that no program has")
	}
	must(t, rows, &event.StoreRequest{Definition: "hash of a>v c>w"}, 1)
	if got, want := said(registering("/p")), `{"added":[],"changed":[],"removed":["on a → v","on c → w"]}`; got != want {
		t.Errorf("removed: %s, want %s", got, want)
	}
	if left := len(rows.spaces); left == 0 || rows.spaces[programSpace] != nil || rows.spaces[definitionSpace] != nil || rows.spaces[subscriptionSpace] != nil {
		t.Errorf("the rows of the program are left")
	}
}

// TestDeadEvents gives up events: too many led to one, too many wait, nobody came for a week. One that is redriven is due again.
func TestDeadEvents(t *testing.T) {
	dead := func(rows Rows) (list []struct {
		ID, Kind, Program string
		Times             int
		Error             struct{ Message string }
	}) {
		if err := json.Unmarshal(value.Append(nil, must(t, rows, &event.StoreRequest{Dead: &event.DeadRequest{}}, 1)), &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	rows := &Map{}
	must(t, rows, registering("/p", "a>v"), 1)
	var causes []string
	for i := range event.MaxCauses {
		causes = append(causes, fmt.Sprint("ev-", i))
	}
	emitting(t, rows, "a", 2, causes[:event.MaxCauses-1]...)
	emitting(t, rows, "a", 3, causes...)
	list := dead(rows)
	if len(list) != 1 || list[0].Kind != DeadEvent || !strings.Contains(list[0].Error.Message, "32 events led to it") || len(dueIn(t, rows, "")) != 1 {
		t.Fatalf("the dead letters are %+v, and %d are due", list, len(dueIn(t, rows, "")))
	}
	for range 2 { // it is due once
		must(t, rows, &event.StoreRequest{Dead: &event.DeadRequest{ID: list[0].ID, Redeliver: true}}, 4)
	}
	due := dueIn(t, rows, "")
	if len(due) != 2 || len(due[1].Event.Causes) != 0 {
		t.Fatalf("%+v is due", due)
	}
	must(t, rows, &event.StoreRequest{Started: &event.StartedRequest{Done: []event.Delivered{{Due: due[1].Due, Dead: "no"}}}}, 5)
	if list = dead(rows); len(list) != 1 || list[0].Times != 2 {
		t.Fatalf("the dead letters are %+v", list)
	}
	must(t, rows, &event.StoreRequest{Dead: &event.DeadRequest{ID: list[0].ID, Redeliver: true}}, 6)
	must(t, rows, &event.StoreRequest{Started: &event.StartedRequest{Done: []event.Delivered{{Due: due[1].Due, Run: "r"}}}}, 7)
	if list = dead(rows); len(list) != 0 {
		t.Fatalf("the letter of an event that has started its run is left: %+v", list)
	}
	later := event.Time(10).Add(EventAge)
	emitting(t, rows, "other", later) // which removes what is too old
	if list = dead(rows); len(list) != 1 || !strings.Contains(list[0].Error.Message, "7 days") || len(dueIn(t, rows, "")) != 0 {
		t.Fatalf("after a week the dead letters are %+v, and %d are due", list, len(dueIn(t, rows, "")))
	}
	s := Subscription{Subscribed: event.Subscribed{Event: "a", Workflow: "v"}, Program: "/p", Waiting: MaxDue}
	if err := saveRow(rows, subscriptionSpace, s.key(), &s); err != nil {
		t.Fatal(err)
	}
	emitting(t, rows, "a", later)
	if list = dead(rows); len(list) != 2 || !strings.Contains(list[1].Error.Message, "10000 events already wait") {
		t.Fatalf("beyond the bound the dead letters are %+v", list)
	}
}

// TestEndOfARunIsAnEvent publishes the ends of runs where somebody has subscribed, with what led to the run.
func TestEndOfARunIsAnEvent(t *testing.T) {
	rows := &Map{}
	end := func(e RunEnd) {
		t.Helper()
		if err := EndRun(rows, &e, 5); err != nil {
			t.Fatal(err)
		}
	}
	end(RunEnd{Run: "before", Workflow: "w", Status: event.Succeeded})
	must(t, rows, registering("/p", "flowrun.run>v"), 1)
	end(RunEnd{Run: "a", Workflow: "w", Status: event.Succeeded, Causes: []string{"ev-9"}})
	end(RunEnd{Run: "called", Workflow: "w", Status: event.Succeeded, Called: true})
	end(RunEnd{Run: "b", Workflow: "w", Status: event.FailedS, RetryOf: "c", Error: &event.Error{Kind: event.Fatal, Message: strings.Repeat("x", 2*limits.MaxKVValue)}})
	due := dueIn(t, rows, "")
	if len(due) != 2 || due[0].Event.Source != "a" || strings.Join(due[0].Event.Causes, " ") != "ev-9" {
		t.Fatalf("the ends that are due are %+v", due)
	}
	if got, want := string(due[0].Event.Data), `{"error":null,"retry_of":null,"run":"a","status":"succeeded","workflow":"w"}`; got != want {
		t.Errorf("the end of a is %s, want %s", got, want)
	}
	if got, want := string(due[1].Event.Data), `{"retry_of":"c","run":"b","status":"failed","workflow":"w"}`; got != want {
		t.Errorf("the end of b is %s, want %s", got, want)
	}
}

// TestDeadAgain: whoever looks for new letters hears of one that died again, too, if somebody had tried it again.
func TestDeadAgain(t *testing.T) {
	rows := &Map{}
	type letter struct {
		ID    string
		Again uint64
	}
	look := func(after, again uint64) (list []letter) {
		v := must(t, rows, &event.StoreRequest{Dead: &event.DeadRequest{After: after, Newest: 20, Again: again}}, 1)
		if err := json.Unmarshal(value.Append(nil, v), &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	die := func(about string, now event.Time) {
		t.Helper()
		if err := bury(rows, &DeadLetter{Kind: DeadNotification, Channel: about, About: about}, now); err != nil {
			t.Fatal(err)
		}
	}
	end := func(run, retryOf string, now event.Time) {
		t.Helper()
		if err := EndRun(rows, &RunEnd{Run: run, Workflow: "w", RetryOf: retryOf, Status: event.FailedS}, now); err != nil {
			t.Fatal(err)
		}
	}
	redrive := func(id string, now event.Time) {
		must(t, rows, &event.StoreRequest{Dead: &event.DeadRequest{ID: id, RedrivenBy: "ann"}}, now)
	}
	check := func(after, again uint64, want ...letter) {
		t.Helper()
		if have := look(after, again); !slices.Equal(have, want) {
			t.Errorf("after letter %d and %d that died again: %+v, want %+v", after, again, have, want)
		}
	}
	die("a", 10)
	die("b", 11)
	end("r1", "", 12)
	check(0, 0, letter{"dl-1", 0}, letter{"dl-2", 0}, letter{"dl-3", 0})
	die("b", 13) // nobody had tried it again: it counts in its letter, and is not told
	check(3, 0)
	end("r2", "r1", 14)
	check(3, 0, letter{"dl-3", 1})
	check(2, 0, letter{"dl-3", 1}) // once, though it is new as well
	check(3, 1)
	for i := range event.Time(30) {
		redrive("dl-1", 20+3*i)
		die("a", 21+3*i)
		die("a", 22+3*i)
	}
	check(3, 1, letter{"dl-1", 31})
	if have := look(0, 30); len(have) != 3 || have[0] != (letter{"dl-1", 31}) {
		t.Errorf("%+v", have)
	}
	must(t, rows, &event.StoreRequest{Dead: &event.DeadRequest{ID: "dl-1", Close: true}}, 200)
	check(3, 1)
}

// TestDeadLetterIsAnEvent publishes dead letters where somebody has subscribed, and the one of such an event never.
func TestDeadLetterIsAnEvent(t *testing.T) {
	rows := &Map{}
	end := func(e RunEnd) {
		t.Helper()
		if err := EndRun(rows, &e, 5); err != nil {
			t.Fatal(err)
		}
	}
	failed := func(run string, causes ...string) RunEnd {
		return RunEnd{Run: run, Workflow: "w", Status: event.FailedS, Causes: causes, Error: &event.Error{Kind: event.Fatal, Reason: "exit", Node: "s", Message: "no"}}
	}
	end(failed("before"))
	must(t, rows, registering("/p", "flowrun.dlq>v"), 1)
	end(RunEnd{Run: "good", Workflow: "w", Status: event.Succeeded})
	end(failed("a", "ev-9"))
	due := dueIn(t, rows, "")
	if len(due) != 1 || due[0].Event.Source != "a" || strings.Join(due[0].Event.Causes, " ") != "ev-9" {
		t.Fatalf("the dead letters that are due are %+v", due)
	}
	if got, want := string(due[0].Event.Data), `{"error":{"kind":"fatal","message":"no","reason":"exit"},"id":"dl-2","item":null,"kind":"run","node":"s","run":"a","times":1,"workflow":"w"}`; got != want {
		t.Errorf("the dead letter of a is %s, want %s", got, want)
	}
	end(RunEnd{Run: "told", Workflow: "v", Status: event.FailedS}) // it is started by such an event
	if due = dueIn(t, rows, ""); len(due) != 1 {
		t.Errorf("the failure of a run that a dead letter started makes an event: %+v", due)
	}
	chain := make([]string, 0, event.MaxCauses)
	for len(chain) < cap(chain) {
		chain = append(chain, fmt.Sprintf("ev-%d", 100+len(chain)))
	}
	end(failed("deep", chain...)) // the event is a dead letter itself, which no event tells
	if due = dueIn(t, rows, ""); len(due) != 1 {
		t.Errorf("after a chain of %d events these are due: %+v", len(chain), due)
	}
	for i := range 3 {
		m := event.Message{Workflow: "w", Run: "a", Node: "s", Key: fmt.Sprint(i)}
		if err := buryNotice(rows, "c", &event.NoticeRequest{Message: m}, false, "no answer", 6); err != nil {
			t.Fatal(err)
		}
	}
	if due = dueIn(t, rows, ""); len(due) != 2 {
		t.Errorf("a message that could not be sent three times makes %d events, want 1", len(due)-1)
	}
}

func TestEventPatterns(t *testing.T) {
	if got := fmt.Sprint(ir.EventPatterns("a.b.c"), ir.EventPatterns("a"), ir.EventPatterns(".a"), ir.EventPatterns("a.")); got != "[a.b.c a.b.* a.*] [a] [.a] [a. a.*]" {
		t.Error(got)
	}
}
