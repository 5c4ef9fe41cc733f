package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// emitting publishes three events of a name, each after the one before.
func emitting(name string) Program {
	return Program{Tasks: []Task{{Name: "1", Emit: name}, {Name: "2", Emit: name, After: []string{"1"}}, {Name: "3", Emit: name, After: []string{"2"}}}}
}

// hearing waits for three events of a name, each after the one before.
func hearing(name string) Program {
	return Program{Tasks: []Task{{Name: "x", Event: name}, {Name: "y", Event: name, After: []string{"x"}}, {Name: "z", Event: name, After: []string{"y"}}}}
}

// publish publishes an event for a person.
func publish(t *testing.T, h Host, q event.EmitRequest) {
	t.Helper()
	if _, err := h.Ask(context.Background(), event.StoreRequest{Emit: &q}); err != nil {
		t.Fatal(err)
	}
}

// notes are what the events said that a run has taken, by task.
func notes(t *testing.T, h Host, run string) map[string]value.Value {
	t.Helper()
	n, _ := outputs(t, h, run)["notes"].(map[string]value.Value)
	return n
}

// eventsOnce kills the host at each commit of a run that publishes and of two that wait.
func eventsOnce(t *testing.T, s Store) {
	atEveryCommit(t, func(n int, after bool) bool {
		if after != (n%2 == 0) { // half of the cases will do
			return false
		}
		where := fmt.Sprintf("commit %d, after it %v", n, after)
		name := fmt.Sprintf("e%d%v", n, after)
		w := newWitness()
		c := newCrew(t, s, w)
		runs := []string{c.start(hearing(name), "", ""), c.start(hearing(name), "", ""), c.start(emitting(name), "", "")}
		c.CrashAt(n, after)
		lived := c.workFor(runs...)
		c.Close()
		c = c.takeOver(w, runs...)
		defer c.Close()
		var left []string
		for _, run := range runs {
			if slices.Contains(c.left, run) {
				left = append(left, run)
			}
		}
		c.mustWork(event.Succeeded, left...)
		for _, run := range runs[:2] {
			if got := notes(t, c, run); !value.Equal(got, map[string]value.Value{"x": "1", "y": "2", "z": "3"}) {
				t.Errorf("%s: run %s has taken %v", where, run, got)
			}
		}
		return lived
	})
}

// startDue starts the runs that events are to start, as whoever dispatches them does it. Each counts once.
func startDue(c *crew, program string) (runs []string, err error) {
	v, err := c.Ask(context.Background(), event.StoreRequest{Due: &event.DueRequest{Program: program}})
	if err != nil {
		return nil, err
	}
	a, err := event.ReadDue(v)
	if err != nil {
		return nil, err
	}
	for i := range a.Due {
		d := &a.Due[i]
		s := Program{Tasks: []Task{{Name: "a", Count: "n"}}}.Start()
		s.Header.Run = engine.RunIDOf(d.Identity()...)
		s.First.Cause = d.Event.Cause()
		run, err := c.Start(context.Background(), s)
		if err != nil {
			return runs, err
		}
		runs = append(runs, run)
		if _, err := c.Ask(context.Background(), event.StoreRequest{Started: &event.StartedRequest{Done: []event.Delivered{{Due: d.Due, Run: run}}}}); err != nil {
			return runs, err
		}
	}
	return runs, nil
}

// eventsStartOnce kills the host at each commit of a run that publishes an event, and of whoever starts the runs of two subscriptions.
func eventsStartOnce(t *testing.T, s Store) {
	atEveryCommit(t, func(n int, after bool) bool {
		if after != (n%2 == 0) { // half of the cases will do
			return false
		}
		where := fmt.Sprintf("commit %d, after it %v", n, after)
		name, program := fmt.Sprintf("s%d%v.x", n, after), fmt.Sprintf("/program %d%v", n, after)
		w := newWitness()
		c := newCrew(t, s, w)
		ask(t, c, ir.KVDelete, nil)
		register := event.RegisterRequest{Program: program, Definition: "d", Hash: "h",
			Ons: []event.Subscribed{{Event: name, Workflow: "w"}, {Event: strings.TrimSuffix(name, "x") + "*", Workflow: "w"}}}
		if _, err := c.Ask(context.Background(), event.StoreRequest{Register: &register}); err != nil {
			t.Fatal(err)
		}
		run := c.start(Program{Tasks: []Task{{Name: "1", Emit: name}}}, "", "")
		c.CrashAt(n, after)
		lived := c.workFor(run)
		var begun []string
		if lived {
			var err error
			begun, err = startDue(c, program)
			lived = err == nil
		}
		c.Close()
		c = c.takeOver(w, run)
		defer c.Close()
		if slices.Contains(c.left, run) {
			c.mustWork(event.Succeeded, run)
		}
		again, err := startDue(c, program)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		if err := eachPublished(c, name, func(id string) { ids = append(ids, id) }); err != nil || len(ids) != 1 {
			t.Fatalf("%s: the events are %v, %v", where, ids, err)
		}
		all := map[string]bool{}
		for _, id := range append(begun, again...) { // whatever process has started them
			all[id] = true
		}
		if len(begun) > 0 && lived && len(again) > 0 {
			t.Errorf("%s: %v are started again", where, again)
		}
		for id := range all { // any order: each for itself
			c.left = append(c.left, id)
		}
		c.mustWork(event.Succeeded, c.left...)
		if got := ask(t, c, ir.KVGet, nil); !value.Equal(got, 2.0) || len(all) != 2 {
			t.Errorf("%s: the runs have counted %v, want 2", where, got)
		}
		if list, err := startDue(c, program); err != nil || len(list) > 0 {
			t.Errorf("%s: %v are due in the end, %v", where, list, err)
		}
		return lived
	})
}

// eachPublished calls each with the ids of the events of a name.
func eachPublished(h Host, name string, each func(id string)) error {
	v, err := h.Ask(context.Background(), event.StoreRequest{Events: true})
	list, _ := v.([]any)
	for _, e := range list {
		if o, _ := e.(map[string]any); o["name"] == name {
			each(o["id"].(string))
		}
	}
	return err
}

// eventsWake has two runs wait, and publishes an event for one of them.
func eventsWake(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	defer c.Close()
	p := Program{Tasks: []Task{{Name: "x", Event: "e"}}}
	one, other := c.start(p, "", ""), c.start(p, "", "")
	c.work()
	publish(t, c, event.EmitRequest{Name: "other", Data: 1.0})
	publish(t, c, event.EmitRequest{Name: "e", Data: 2.0, Run: one})
	if runs, _, err := c.Wakeable(context.Background(), 10); err != nil || !slices.Equal(runs, []string{one}) {
		t.Fatalf("the runs %v are to be driven (%v), want %s", runs, err, one)
	}
	c.mustWork(event.Succeeded, one)
	publish(t, c, event.EmitRequest{Name: "e", Data: 3.0})
	c.mustWork(event.Succeeded, other)
	if a, b := notes(t, c, one)["x"], notes(t, c, other)["x"]; a != 2.0 || b != 3.0 {
		t.Errorf("the runs have taken %v and %v, want 2 and 3", a, b)
	}
}

// eventsOfTheirTime publishes before, while and after a run lives.
func eventsOfTheirTime(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	defer c.Close()
	publish(t, c, event.EmitRequest{Name: "e", Data: 1.0})
	run := c.start(Program{Tasks: []Task{{Name: "x", Event: "e"}}}, "", "")
	publish(t, c, event.EmitRequest{Name: "e", Data: 2.0, Key: "k"})
	publish(t, c, event.EmitRequest{Name: "e", Data: 3.0, Key: "k"})
	c.mustWork(event.Succeeded, run)
	publish(t, c, event.EmitRequest{Name: "e", Data: 4.0})
	for _, nobody := range []string{run, "nobody"} {
		if _, err := c.Ask(context.Background(), event.StoreRequest{Emit: &event.EmitRequest{Name: "e", Run: nobody}}); err == nil {
			t.Errorf("an event for run %s alone is published, and nobody gets it", nobody)
		}
	}
	if got := notes(t, c, run)["x"]; got != 2.0 {
		t.Errorf("the run has taken %v, want 2", got)
	}
	if list := messages(t, c, run); len(list) != 1 {
		t.Errorf("%d messages were recorded, want 1", len(list))
	}
}

// eventsTooMany publishes more events than the inbox of a run holds that nobody drives.
func eventsTooMany(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	defer c.Close()
	p := Program{Tasks: []Task{{Name: "x", Event: "e"}, {Name: "y", Event: "last", After: []string{"x"}}}}
	run := c.start(p, "", "")
	c.work()
	many := Program{}
	for i := range engine.MaxInbox {
		many.Tasks = append(many.Tasks, Task{Name: fmt.Sprint(i), Emit: "e"})
	}
	other := newCrew(t, s, newWitness()) // nobody drives the run that waits
	defer other.Close()
	other.mustWork(event.Succeeded, other.start(many, "", ""))
	publish(t, other, event.EmitRequest{Name: "last"})
	c.left = []string{run}
	c.mustWork(event.Succeeded, run)
	if got := notes(t, c, run); got["x"] != "1" || !value.Equal(got["y"], []any{nil, 1.0}) {
		t.Errorf("the run has taken %v, want 1 and an event that tells of one that was dropped", got)
	}
}

// party checks in at a point.
func party(point, as string) Program {
	return Program{Tasks: []Task{{Name: "meet", Point: point, As: as}}}
}

// met are the answers of runs at their point.
func met(t *testing.T, h Host, runs ...string) (last int) {
	t.Helper()
	for _, run := range runs {
		counts, _ := outputs(t, h, run)["counts"].(map[string]value.Value)
		o, _ := counts["meet"].(map[string]value.Value)
		if !value.Equal(o["checked_in"], []any{"a", "b"}) {
			t.Errorf("run %s hears of %v", run, o)
		}
		if o["last"] == true {
			last++
		}
	}
	return last
}

// partiesMeet kills the host at each commit of three runs that meet, two of them as one party.
func partiesMeet(t *testing.T, s Store) {
	atEveryCommit(t, func(n int, after bool) bool {
		if after != (n%2 == 0) { // half of the cases will do
			return false
		}
		where := fmt.Sprintf("commit %d, after it %v", n, after)
		point := fmt.Sprint("p", n, after)
		w := newWitness()
		c := newCrew(t, s, w)
		runs := []string{c.start(party(point, "a"), "", ""), c.start(party(point, "a"), "", ""), c.start(party(point, "b"), "", "")}
		c.CrashAt(n, after)
		lived := c.workFor(runs...)
		c.Close()
		c = c.takeOver(w, runs...)
		defer c.Close()
		c.mustWork(event.Succeeded, slices.DeleteFunc(slices.Clone(runs), func(run string) bool { return !slices.Contains(c.left, run) })...)
		if last := met(t, c, runs...); last != 1 {
			t.Errorf("%s: %d are the last, want 1", where, last)
		}
		return lived
	})
}

// partiesLeave cancels a run that waits, and has the others meet.
func partiesLeave(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	defer c.Close()
	gone, stays := c.start(party("p", "a"), "", ""), c.start(party("p", "a"), "", "")
	c.work()
	if err := c.Cancel(context.Background(), gone, "not now"); err != nil {
		t.Fatal(err)
	}
	c.mustWork(event.Cancelled, gone)
	if waits := listPoint(t, c, "p")["waiting"].([]any); len(waits) != 1 {
		t.Errorf("%v wait, want one", waits)
	}
	if _, err := c.Ask(context.Background(), event.StoreRequest{Sync: &event.SyncRequest{Point: "p", As: "b"}}); err != nil {
		t.Fatal(err)
	}
	c.mustWork(event.Succeeded, stays)
	if last := met(t, c, stays); last != 1 {
		t.Error("nobody is the last")
	}
	if waits := listPoint(t, c, "p")["waiting"].([]any); len(waits) != 0 {
		t.Errorf("%v wait, want nobody", waits)
	}
}

// listPoint is a sync point as a person sees it.
func listPoint(t *testing.T, h Host, point string) map[string]any {
	t.Helper()
	v, err := h.Ask(context.Background(), event.StoreRequest{Points: true})
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)[point].(map[string]any)
}

// partiesAndPeople has a person block a party, and then say that it is ready.
func partiesAndPeople(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	defer c.Close()
	run := c.start(party("p", "a"), "", "")
	c.work()
	for _, q := range []event.SyncRequest{{Point: "p", As: "b", Blocked: true, Reason: "no licence"}, {Point: "p", As: "b"}} {
		if _, err := c.Ask(context.Background(), event.StoreRequest{Sync: &q}); err != nil {
			t.Fatal(err)
		}
		c.work()
	}
	c.mustWork(event.Succeeded, run)
	var told []string
	for _, ev := range events(t, c, run) {
		if f := ev.AttemptFinished; f != nil && f.Error != nil {
			told = append(told, f.Error.Message)
		}
	}
	if !slices.Equal(told, []string{"not ready: b", "not ready: b: no licence"}) {
		t.Errorf("the run hears %q", told)
	}
}
