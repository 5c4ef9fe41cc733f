package enginetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// queued checks that a run waits for its turn: nothing of it is in its journal.
func (c *crew) queued(runs ...string) {
	c.t.Helper()
	for _, run := range runs {
		if list := events(c.t, c, run); len(list) != 0 {
			c.t.Errorf("the journal of a run that waits for its turn holds %v", kinds(list))
		}
	}
}

// awaiting is a run that waits for a message between two tasks, however long that takes.
func awaiting() Program {
	return Program{Tasks: []Task{{Name: "a"}, {Name: "w", Note: true, After: []string{"a"}}, {Name: "b", After: []string{"w"}}}}
}

// let lets runs of [awaiting] end, one after the other.
func (c *crew) let(runs ...string) {
	c.t.Helper()
	for _, run := range runs {
		c.work()
		signal(c.t, c, run, note("w", nil))
		c.mustWork(event.Succeeded, run)
	}
}

func groupsQueue(t *testing.T, s Store) {
	w := newWitness()
	c := newCrew(t, s, w)
	a := c.start(awaiting(), "g", "")
	b := c.start(awaiting(), "g", "queue")
	third := c.start(awaiting(), "g", "")
	other := c.start(awaiting(), "another", "")
	c.work()
	c.queued(b, third)
	if n := len(w.took("a")); n != 2 {
		t.Errorf("%d runs have begun, want that of the group and that of the other", n)
	}
	c.let(a, b, third, other)
	order(c, a, other, "end of "+a, b, "end of "+b, third, "end of "+third, "end of "+other)
	if list := events(t, c, b); list[0].At < events(t, c, a)[3].At {
		t.Error("the second began before the first had ended")
	}
}

func groupsSkip(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	a, b := c.start(awaiting(), "g", "skip"), c.start(awaiting(), "g", "skip")
	c.mustWork(event.Skipped, b)
	if list, want := events(t, c, b), (engine.Group{Name: "g"}).SkipReason(a); len(list) != 1 || list[0].RunStarted.Skip != want {
		t.Errorf("the journal of the run that was skipped holds %d events, and the first says %q", len(list), list[0].RunStarted.Skip)
	}
	c.let(a)
	c.let(c.start(awaiting(), "g", "skip"))
}

func groupsCancelPrevious(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	a, waits := c.start(awaiting(), "g", ""), c.start(awaiting(), "g", "")
	c.work()
	b := c.start(awaiting(), "g", "cancel_previous")
	c.mustWork(event.Cancelled, a, waits)
	if list := events(t, c, waits); len(list) != 1 || list[0].RunStarted.Cancelled != (engine.Group{Name: "g"}).CancelReason() {
		t.Errorf("the journal of the run that waited holds %v", kinds(list))
	}
	c.let(b)
}

func groupsCancelled(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	a, b := c.start(listening(), "g", ""), c.start(pausing(time.Minute), "g", "")
	c.work()
	c.queued(b)
	if err := c.Cancel(context.Background(), b, "too long"); err != nil {
		t.Fatal(err)
	}
	c.mustWork(event.Cancelled, b)
	if list := events(t, c, b); len(list) != 1 || list[0].RunStarted.Cancelled != "too long" {
		t.Errorf("the journal holds %v", kinds(list))
	}
	signal(t, c, a, note("hears", nil))
	c.mustWork(event.Succeeded, a)
}

// groupsAndMessages has a run that waits for its turn take the message that it got meanwhile when it has begun.
func groupsAndMessages(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	a, b := c.start(awaiting(), "g", ""), c.start(listening(), "g", "")
	c.work()
	signal(t, c, b, note("hears", said()))
	c.work()
	c.queued(b)
	c.let(a)
	c.mustWork(event.Succeeded, b)
	heard(t, s, c, b)
}

// groupsOfTheDead: a dead process holds no turn, and its run, when it goes on, waits as any other.
func groupsOfTheDead(t *testing.T, s Store) {
	for name, end := range map[string]func(*crew){"killed": func(c *crew) { c.Crash() }, "closed": func(c *crew) { c.Close() }} {
		dead := newCrew(t, s, newWitness())
		a, waits := dead.start(pausing(time.Minute), name, ""), dead.start(pausing(time.Minute), name, "")
		dead.work()
		end(dead)
		c := newCrew(t, s, newWitness())
		b := c.start(pausing(time.Minute), name, "")
		c.work()
		if list := events(t, c, b); len(list) == 0 {
			t.Errorf("%s: a run waits for a process that is dead", name)
		}
		c.left = []string{waits, a}
		c.mustWork(event.Succeeded, a, b, waits)
		order(c, b, "end of "+b, a, "end of "+a, waits, "end of "+waits)
		c.Close()
	}
}

// groupsOfTheLeft: a run whose process has died keeps its turn, and goes on before the others when another process drives it.
func groupsOfTheLeft(t *testing.T, s Store) {
	for name, end := range map[string]func(*crew){"killed": func(c *crew) { c.Crash() }, "closed": func(c *crew) { c.Close() }} {
		left := newCrew(t, s, newWitness())
		a := left.start(awaiting(), name, "")
		left.work()
		end(left)
		c := newCrew(t, s, newWitness())
		b := c.start(awaiting(), name, "")
		c.work()
		c.queued(b)
		other := left.takeOver(newWitness(), a)
		other.let(a)
		c.let(b)
		if list := events(t, c, a); events(t, c, b)[0].At < list[len(list)-1].At {
			t.Errorf("%s: a run began before the end of the run that has the turn", name)
		}
		other.Close()
		c.Close()
	}
}

// groupsOfTheReturned has a run come back to its place, when the turn was given to a run behind it that is not driven yet.
func groupsOfTheReturned(t *testing.T, s Store) {
	dead := newCrew(t, s, newWitness())
	a := dead.start(pausing(time.Minute), "g", "")
	dead.work()
	dead.Crash()
	c, other, third := newCrew(t, s, newWitness()), newCrew(t, s, newWitness()), newCrew(t, s, newWitness())
	holder := c.start(pausing(time.Minute), "g", "")
	c.work()
	b := other.start(pausing(time.Minute), "g", "")
	other.work()
	other.queued(b)
	c.mustWork(event.Succeeded, holder)
	before := len(events(t, third, a))
	third.left = []string{a}
	third.work()
	if n := len(events(t, third, a)); n != before {
		t.Errorf("the run that came back went on before the run that has the turn: %d events, then %d", before, n)
	}
	other.mustWork(event.Succeeded, b)
	third.mustWork(event.Succeeded, a)
	if list := events(t, third, b); events(t, third, a)[before].At < list[len(list)-1].At {
		t.Error("the run that came back went on before the end of the run that had the turn")
	}
}

func groupsOfTheParked(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	a := c.start(pausing(time.Hour), "g", "")
	c.work()
	other := newCrew(t, s, newWitness())
	b := other.start(pausing(time.Minute), "g", "")
	other.work()
	other.queued(b)
	if _, err := newCrew(t, s, newWitness()).Drive(context.Background(), b, nil); !errors.Is(err, engine.ErrOwned) {
		t.Errorf("another driver of the run that waits gets %v", err)
	}
	c.mustWork(event.Succeeded, a)
	other.mustWork(event.Succeeded, b)
}

// calling is a run that calls another one.
func calling(child Program) Program {
	return Program{Tasks: []Task{{Name: "kid", Call: "child"}}, Workflows: map[string]Program{"child": child}}
}

// groupsOfChildren: a called run of the group of its caller is let in with it, and is never skipped.
func groupsOfChildren(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	run, err := c.startAs(calling(diamond()), map[string]any{"group": "g", "child": "g", "busy": "skip"})
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, s, c, run, event.Succeeded)
	if list := events(t, c, childID(run, "kid")); list[0].RunStarted.Skip != "" {
		t.Errorf("the called run was skipped: %s", list[0].RunStarted.Skip)
	}
}

// groupsOfSiblings: the called runs of one caller that share its turn take turns.
func groupsOfSiblings(t *testing.T, s Store) {
	w := newWitness()
	h := s.Open(t, Factory, w)
	p := Program{Workflows: map[string]Program{"child": {Tasks: []Task{{Name: "x"}, {Name: "w", Wait: time.Second, After: []string{"x"}}, {Name: "y", After: []string{"w"}}}}}}
	for i := range 3 {
		p.Tasks = append(p.Tasks, Task{Name: fmt.Sprint("kid", i), Call: "child"})
	}
	begin := p.Start()
	begin.First.Vars = map[string]any{"group": "g", "child": "g"}
	run, err := h.Start(context.Background(), begin)
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, s, h, run, event.Succeeded)
	last := ""
	for _, a := range w.calls {
		if a.Name == "x" && last != "" {
			t.Errorf("run %s began while run %s had the turn", a.Run, last)
		}
		last = a.Run
		if a.Name == "y" {
			last = ""
		}
	}
	if w.count() != 6 {
		t.Errorf("%d attempts were made, want 6", w.count())
	}
}

func groupUnknown(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	if _, err := c.startAs(diamond(), map[string]any{"group": "g", "busy": "later"}); err == nil || !strings.Contains(err.Error(), `unknown when_busy "later"`) {
		t.Errorf("the error is %v", err)
	}
}
