package enginetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

const pace = 10 * time.Second

func paced() []event.Need {
	return []event.Need{{Kind: event.NeedQuota, Name: "api", Pace: &event.Pace{Requests: 2, Per: pace}}}
}

// breakerEvent is the event of a breaker that has opened or closed.
const breakerEvent = "flowrun.breaker"

func breakable(failures int, reset time.Duration) []event.Need {
	return []event.Need{{Kind: event.NeedAgent, Name: "coder", Breaker: &event.Breaker{Failures: failures, Reset: reset}}}
}

// starts returns when attempts of runs started that the host granted, in the order of the journals.
func starts(t *testing.T, h Host, runs ...string) (at []event.Time) {
	t.Helper()
	for _, run := range runs {
		for _, ev := range events(t, h, run) {
			if f := ev.AttemptFinished; f != nil && f.Outcome != event.Refused {
				at = append(at, f.StartedAt)
			}
		}
	}
	return at
}

// refusals returns the refusals of a run, as "reason resource seconds".
func refusals(t *testing.T, h Host, run string) (list []string) {
	t.Helper()
	for _, ev := range events(t, h, run) {
		if f := ev.AttemptFinished; f != nil && f.Outcome == event.Refused {
			list = append(list, fmt.Sprintf("%s %s %t", f.Error.Reason, f.Resource, f.Error.RetryAfter > 0))
		}
	}
	return list
}

// pacedStarts has two called runs share a pace. Nobody but the host wakes those that it refused.
func pacedStarts(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	defer h.Close()
	p := callingTwice(Program{Tasks: []Task{{Name: "a", Needs: paced()}, {Name: "b", Needs: paced()}, {Name: "c", Needs: paced()}}})
	run := start(t, h, p)
	mustEnd(t, s, h, run, event.Succeeded)
	var at []event.Time
	for _, task := range p.Tasks {
		at = append(at, starts(t, h, childID(run, task.Name))...)
	}
	slices.Sort(at)
	if len(at) != 3*len(p.Tasks) {
		t.Fatalf("%d attempts were made", len(at))
	}
	for i := 2; i < len(at); i++ {
		if at[i].Sub(at[i-2]) < pace {
			t.Errorf("3 attempts start within %s: %v", pace, at)
		}
	}
}

// limitsAtEveryCommit kills the host at each of its commits, and finishes on another. Another run finds all free afterwards.
func limitsAtEveryCommit(t *testing.T, s Store) {
	needs := append(breakable(3, time.Second), event.Need{Kind: event.NeedQuota, Name: "q", Units: 1, Capacity: 1, Pace: &event.Pace{Requests: 1, Per: 3 * time.Second}})
	p := Program{Tasks: []Task{{Name: "a", Needs: needs}, {Name: "b", Needs: needs}}}
	atEveryCommit(t, func(n int, after bool) bool {
		h := s.Open(t, Factory, newWitness())
		run := start(t, h, p)
		lived := crashAt(t, s, h, run, n, after)
		h.Close()
		h = s.Open(t, Factory, newWitness())
		defer h.Close()
		mustEnd(t, s, h, run, event.Succeeded)
		next := start(t, h, p)
		mustEnd(t, s, h, next, event.Succeeded)
		for _, r := range []string{run, next} {
			if at := starts(t, h, r); len(at) < 2 {
				t.Errorf("commit %d, after it %v: %d attempts have ended", n, after, len(at))
			}
		}
		return lived
	})
}

// brokenAndProbed has a task fail twice, which opens the breaker. Two others ask once it is open, wait, and start after the probe.
func brokenAndProbed(t *testing.T, s Store) {
	w := newWitness()
	w.fails["bad"] = 2
	h := s.Open(t, Factory, w)
	defer h.Close()
	needs := breakable(2, time.Minute)
	run := start(t, h, Program{Tasks: []Task{
		{Name: "bad", Tries: 3, Needs: needs},
		{Name: "opened", Event: breakerEvent},
		{Name: "x", After: []string{"opened"}, Needs: needs}, {Name: "y", After: []string{"opened"}, Needs: needs},
	}})
	mustEnd(t, s, h, run, event.Succeeded)
	if got, want := fmt.Sprint(refusals(t, h, run)), "[breaker coder true breaker coder true breaker coder true]"; got != want {
		t.Errorf("the refusals are %s, want %s", got, want)
	}
	at := starts(t, h, run)
	if len(at) != 5 || at[2].Sub(at[1]) < time.Minute {
		t.Fatalf("the starts are %v", at)
	}
	ended := event.Time(0)
	for _, ev := range events(t, h, run) {
		if f := ev.AttemptFinished; f != nil && f.Node == "bad" && f.Outcome == event.OK {
			ended = ev.At
		}
	}
	for _, x := range at[3:] {
		if x < at[2] || ended == 0 {
			t.Errorf("an attempt starts at %s, and the probe ended at %s", x, ended)
		}
	}
}

// brokenIsTold has two runs wait for the breaker's events. One of them opens and closes it.
func brokenIsTold(t *testing.T, s Store) {
	w := newWitness()
	w.fails["bad"] = 2
	h := s.Open(t, Factory, w)
	defer h.Close()
	hears := start(t, h, Program{Tasks: []Task{{Name: "x", Event: breakerEvent}}})
	breaks := start(t, h, Program{Tasks: []Task{{Name: "bad", Tries: 3, Needs: breakable(2, time.Minute)}, {Name: "y", After: []string{"bad"}, Event: breakerEvent},
		{Name: "z", After: []string{"y"}, Event: breakerEvent}}})
	mustEnd(t, s, h, breaks, event.Succeeded)
	mustEnd(t, s, h, hears, event.Succeeded)
	data, _ := notes(t, h, hears)["x"].(map[string]any)
	if data["name"] != "coder" || data["kind"] != "agent" || data["state"] != "open" || data["error"] == nil {
		t.Errorf("the event is %v", data)
	}
	published, err := h.Ask(context.Background(), event.StoreRequest{Events: true})
	if err != nil {
		t.Fatal(err)
	}
	var states []any
	for _, e := range published.([]any) {
		states = append(states, e.(map[string]any)["data"].(map[string]any)["state"])
	}
	if got := fmt.Sprint(states); got != "[open closed]" {
		t.Errorf("the breaker is said to be %s", got)
	}
}

// resetIsTold has a person close a breaker that a run has opened. A run that waits hears of both.
func resetIsTold(t *testing.T, s Store) {
	w := newWitness()
	w.fails["bad"] = 1
	h := s.Open(t, Factory, w)
	defer h.Close()
	hears := start(t, h, Program{Tasks: []Task{{Name: "x", Event: breakerEvent}, {Name: "y", After: []string{"x"}, Event: breakerEvent}}})
	needs := breakable(1, time.Hour)
	needs[0].Breaker.Tell = true
	mustEnd(t, s, h, start(t, h, Program{Tasks: []Task{{Name: "bad", Needs: needs}}}), event.FailedS)
	if changed, err := h.ChangeLimit(context.Background(), event.LimitChange{Reset: "coder"}); err != nil || !changed {
		t.Fatal(changed, err)
	}
	mustEnd(t, s, h, hears, event.Succeeded)
	for task, want := range map[string]string{"x": "open", "y": "closed"} {
		if data, _ := notes(t, h, hears)[task].(map[string]any); data["name"] != "coder" || data["state"] != want {
			t.Errorf("%s hears %v", task, data)
		}
	}
	ask := event.StoreRequest{Breakers: &event.BreakersRequest{Of: []event.BreakerOf{{Kind: event.NeedAgent, Name: "coder"}}}}
	untold, err := h.Ask(context.Background(), ask)
	if list, _ := untold.([]any); err != nil || len(list) != 2 || list[0].(map[string]any)["state"] != "open" || list[1].(map[string]any)["state"] != "closed" {
		t.Errorf("people are to be told %v, %v", untold, err)
	}
}

// brokenByCondition has a breaker that counts errors of one kind.
func brokenByCondition(t *testing.T, s Store) {
	for _, kind := range []event.ErrorKind{event.Transient, event.Fatal} {
		w := newWitness()
		w.fails["bad"] = 2
		h := s.Open(t, Factory, w)
		needs := breakable(2, time.Minute)
		needs[0].Name, needs[0].Breaker.When = string(kind), &event.Late{Expr: ir.Expr{Kind: ir.Const, Const: true, Text: string(kind)}}
		run := start(t, h, Program{Tasks: []Task{{Name: "bad", Tries: 3, Needs: needs}}})
		mustEnd(t, s, h, run, event.Succeeded)
		if n := len(refusals(t, h, run)); (n > 0) != (kind == event.Transient) {
			t.Errorf("where %s counts, %d attempts were refused", kind, n)
		}
		h.Close()
	}
}

// classifiedFirst has a breaker that counts fatal errors alone, and rules of which the first that holds decides.
func classifiedFirst(t *testing.T, s Store) {
	rule := func(when, kind event.ErrorKind) event.Classify {
		return event.Classify{When: event.Late{Expr: ir.Expr{Kind: ir.Const, Const: true, Text: string(when)}}, Kind: kind}
	}
	for i, x := range []struct {
		rules  []event.Classify
		counts bool
	}{
		{nil, false},
		{[]event.Classify{rule(event.Fatal, event.Blocking), rule(event.Transient, event.Fatal), rule(event.Transient, event.Blocking)}, true},
		{[]event.Classify{rule(event.Transient, event.Blocking), rule(event.Transient, event.Fatal)}, false},
	} {
		w := newWitness()
		w.fails["bad"] = 2
		h := s.Open(t, Factory, w)
		needs := breakable(2, time.Minute)
		needs[0].Name, needs[0].Breaker.When = fmt.Sprint("classified", i), &event.Late{Expr: ir.Expr{Kind: ir.Const, Const: true, Text: string(event.Fatal)}}
		run := start(t, h, Program{Tasks: []Task{{Name: "bad", Tries: 3, Needs: needs, Classify: x.rules}}})
		mustEnd(t, s, h, run, event.Succeeded)
		if n := len(refusals(t, h, run)); (n > 0) != x.counts {
			t.Errorf("with the rules %v, %d attempts were refused", x.rules, n)
		}
		h.Close()
	}
}

// probeDies kills the process of the probe. The next one waits for another reset.
func probeDies(t *testing.T, s Store) {
	needs := breakable(1, time.Minute)
	w := newWitness()
	w.fails["a"] = 1
	h := s.Open(t, Factory, w)
	mustEnd(t, s, h, start(t, h, Program{Tasks: []Task{{Name: "a", Needs: needs}}}), event.FailedS)
	h.Close()

	w = newWitness()
	w.hangs["b"] = true
	dies := s.Open(t, Factory, w)
	run := start(t, dies, Program{Tasks: []Task{{Name: "b", Needs: needs}}})
	done := make(chan error, 1)
	go func() {
		_, err := dies.Drive(context.Background(), run, nil)
		done <- err
	}()
	began := make(chan error, 1)
	go func() {
		<-w.begun
		began <- nil
	}()
	if err := moveUntil(s, began); err != nil {
		t.Fatal(err)
	}
	h = s.Open(t, Factory, newWitness())
	defer h.Close()
	next := start(t, h, Program{Tasks: []Task{{Name: "c", Needs: needs}}})
	dies.Crash()
	<-done
	mustEnd(t, s, h, next, event.Succeeded)
	list := events(t, h, next)
	at := starts(t, h, next)
	if len(at) != 1 || at[0].Sub(list[0].At) < time.Minute {
		t.Errorf("after the death of the probe the next one starts at %v, and its run at %v", at, list[0].At)
	}
}

// heldByOther has one run hear that it is to come back later. Another one waits, too.
func heldByOther(t *testing.T, s Store) {
	w := newWitness()
	w.pauses = map[string]float64{"a": 60}
	h := s.Open(t, Factory, w)
	defer h.Close()
	agent := []event.Need{{Kind: event.NeedAgent, Name: "coder", Units: 1, Capacity: 1}}
	run := start(t, h, Program{Tasks: []Task{{Name: "a", Tries: 2, Needs: agent}}})
	mustEnd(t, s, h, run, event.Succeeded)
	at := starts(t, h, run)
	if len(at) != 2 || at[1].Sub(at[0]) < time.Minute {
		t.Errorf("the attempts start at %v", at)
	}
	if got := fmt.Sprint(refusals(t, h, run)); got != "[rate_limit coder true]" {
		t.Errorf("the refusals are %s", got)
	}
}

// callingTwice has two tasks that call a program.
func callingTwice(p Program) Program {
	return Program{Workflows: map[string]Program{"child": p}, Tasks: []Task{{Name: "x", Call: "child"}, {Name: "y", Call: "child"}}}
}

// heldToTheEnd has a called run hold a quota while it waits, and another one need it.
func heldToTheEnd(t *testing.T, s Store) {
	quota := []event.Need{{Kind: event.NeedQuota, Name: "gpu", Units: 2, Capacity: 2}}
	w := newWitness()
	h := s.Open(t, Factory, w)
	defer h.Close()
	run := start(t, h, Program{Workflows: map[string]Program{
		"holds": {Tasks: []Task{{Name: "hold", Hold: true, Needs: quota}, {Name: "wait", Wait: time.Minute, After: []string{"hold"}}}},
		"needs": {Tasks: []Task{{Name: "wait", Wait: 10 * time.Second}, {Name: "work", Needs: quota, After: []string{"wait"}}}},
	}, Tasks: []Task{{Name: "x", Call: "holds"}, {Name: "y", Call: "needs"}}})
	mustEnd(t, s, h, run, event.Succeeded)
	holds, needs := events(t, h, childID(run, "x")), events(t, h, childID(run, "y"))
	if at := starts(t, h, childID(run, "y")); w.count() != 1 || len(at) != 1 || at[0] < holds[len(holds)-1].At {
		t.Errorf("%d attempts start at %v, and the run that holds the quota ends at %s", w.count(), at, holds[len(holds)-1].At)
	}
	if got := fmt.Sprint(refusals(t, h, childID(run, "y"))); got != "[quota gpu false]" || len(needs) < 4 {
		t.Errorf("the refusals are %s", got)
	}
}

// heldWithoutBounds has an agent that needs nothing of the store name a moment. Tasks of the agent wait for it: one of them needs
// only a quota.
func heldWithoutBounds(t *testing.T, s Store) {
	w := newWitness()
	w.pauses = map[string]float64{"a": 60}
	h := s.Open(t, Factory, w)
	defer h.Close()
	run := start(t, h, Program{Tasks: []Task{{Name: "a", Tries: 2, Agent: "coder"}, {Name: "pause", Wait: 10 * time.Second},
		{Name: "b", Agent: "coder", Null: true, After: []string{"pause"}}, {Name: "c", Agent: "coder", Needs: paced(), After: []string{"pause"}},
		{Name: "d", Agent: "other", After: []string{"pause"}}}})
	mustEnd(t, s, h, run, event.Succeeded)
	began := map[string]event.Time{}
	for _, ev := range events(t, h, run) {
		if f := ev.AttemptFinished; f != nil && f.Outcome != event.Refused {
			if first, known := began[f.Node+" again"]; known || began[f.Node] != 0 {
				began[f.Node+" again"] = max(first, f.StartedAt)
				continue
			}
			began[f.Node] = f.StartedAt
		}
	}
	for _, node := range []string{"a again", "b", "c"} {
		if began[node].Sub(began["a"]) < time.Minute {
			t.Errorf("%s starts %s after the attempt that was told to wait for a minute", node, began[node].Sub(began["a"]))
		}
	}
	if after := began["d"].Sub(began["a"]); after > time.Minute {
		t.Errorf("the task of another agent starts after %s", after)
	}
	if got := refusals(t, h, run); len(got) != 3 || slices.ContainsFunc(got, func(r string) bool { return r != "rate_limit coder true" }) {
		t.Errorf("the refusals are %v", got)
	}
}

// stoppedAgents stops agents before a run begins, and starts them when their attempts were refused.
func stoppedAgents(t *testing.T, s Store) {
	w := newWitness()
	h := s.Open(t, Factory, w)
	defer h.Close()
	change := func(c event.LimitChange) {
		if changed, err := h.ChangeLimit(context.Background(), c); err != nil || !changed {
			t.Errorf("%+v changes %v: %v", c, changed, err)
		}
	}
	agents := []string{"coder", "null", "bounded"}
	for _, name := range agents {
		change(event.LimitChange{Stop: name})
	}
	run := start(t, h, Program{Tasks: []Task{{Name: "a", Agent: "coder"}, {Name: "b", Agent: "null", Null: true}, {Name: "c", Agent: "coder", Needs: paced()},
		{Name: "d", Agent: "bounded", Needs: []event.Need{{Kind: event.NeedAgent, Name: "bounded", Units: 1, Capacity: 1}}}}})
	refused := 0
	if err := drive(context.Background(), s, h, run, func(events []event.Event, _ *event.Reaction, _ bool) {
		for _, ev := range events {
			if f := ev.AttemptFinished; f != nil && f.Outcome == event.Refused {
				if refused++; refused < 4 {
					continue
				}
				if w.count() != 0 {
					t.Errorf("%d attempts of stopped agents have started", w.count())
				}
				for _, name := range agents {
					change(event.LimitChange{Start: name})
				}
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	got := refusals(t, h, run)
	slices.Sort(got)
	if fmt.Sprint(got) != "[busy bounded false busy coder false busy coder false busy null false]" || len(starts(t, h, run)) != 4 {
		t.Errorf("the refusals are %v, and the starts %v", got, starts(t, h, run))
	}
	if list, err := h.Limits(context.Background()); err != nil || slices.ContainsFunc(list, func(l event.Limit) bool { return l.Used != 0 || len(l.Waiting) > 0 }) {
		t.Errorf("after the end, the limits are %+v, %v", list, err)
	}
}

// stoppedInLine stops an agent while its attempt waits for a quota, and starts it long after the quota is free.
func stoppedInLine(t *testing.T, s Store) {
	w := newWitness()
	h := s.Open(t, Factory, w)
	defer h.Close()
	quota := []event.Need{{Kind: event.NeedQuota, Name: "api", Pace: &event.Pace{Requests: 1, Per: time.Minute}}}
	run := start(t, h, Program{Tasks: []Task{{Name: "a", Needs: quota}, {Name: "late", Wait: 5 * time.Minute}, {Name: "soon", Wait: 10 * time.Second},
		{Name: "c", Agent: "coder", Needs: quota, After: []string{"soon"}}, {Name: "d", Needs: quota, After: []string{"soon"}}}})
	change := func(c event.LimitChange) {
		if changed, err := h.ChangeLimit(context.Background(), c); err != nil || !changed {
			t.Errorf("%+v changes %v: %v", c, changed, err)
		}
	}
	stopped, late := false, false
	if err := drive(context.Background(), s, h, run, func(events []event.Event, _ *event.Reaction, _ bool) {
		for _, ev := range events {
			if f := ev.AttemptFinished; f != nil && f.Outcome == event.Refused && f.Node == "c" && !stopped {
				stopped = true
				change(event.LimitChange{Stop: "coder"})
			}
			if ev.TimerFired != nil && stopped && ev.At >= events[0].At && w.count() == 2 && !late {
				late = true
				change(event.LimitChange{Start: "coder"})
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, ev := range events(t, h, run) {
		if f := ev.AttemptFinished; f != nil && f.Outcome != event.Refused {
			order = append(order, f.Node)
		}
	}
	if fmt.Sprint(order) != "[a d c]" || !late {
		t.Errorf("the attempts end in the order %v; the agent was started late: %t", order, late)
	}
}

// sharedSpending has two called runs share what they may spend. Both wait without a slot until enough of it lies a span back.
func sharedSpending(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	defer h.Close()
	needs := []event.Need{{Kind: event.NeedQuota, Name: "models", Spending: &event.Spending{Most: event.Bounds{Attempts: 2}, Per: pace}}}
	p := callingTwice(Program{Tasks: []Task{{Name: "a", Needs: needs}, {Name: "b", Needs: needs}, {Name: "c", Needs: needs}}})
	run := start(t, h, p)
	mustEnd(t, s, h, run, event.Succeeded)
	var at []event.Time
	var refused []string
	for _, task := range p.Tasks {
		at = append(at, starts(t, h, childID(run, task.Name))...)
		refused = append(refused, refusals(t, h, childID(run, task.Name))...)
	}
	slices.Sort(at)
	if len(at) != 3*len(p.Tasks) || len(refused) < 4 || slices.ContainsFunc(refused, func(r string) bool { return r != "budget models true" }) {
		t.Fatalf("%d attempts were made; the refusals are %v", len(at), refused)
	}
	for i := 2; i < len(at); i++ {
		if at[i].Sub(at[i-2]) < pace {
			t.Errorf("3 attempts start within %s: %v", pace, at)
		}
	}
	list, err := h.Limits(context.Background())
	if err != nil || len(list) != 1 || list[0].Spending == nil || list[0].Spent.Attempts > 2 {
		t.Errorf("the limits are %+v, %v", list, err)
	}
}
