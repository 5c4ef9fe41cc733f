package enginetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// slow is an executor whose attempts last until they may end, whatever becomes of their workers.
type slow struct {
	*witness
	ends chan struct{} // closed when attempts may end
	ears bool          // a cancel ends them, too
}

func newSlow(t *testing.T) *slow {
	x := &slow{witness: newWitness(), ends: make(chan struct{})}
	t.Cleanup(x.end)
	return x
}

func (x *slow) end() {
	select {
	case <-x.ends:
	default:
		close(x.ends)
	}
}

func (x *slow) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	f := x.witness.Execute(ctx, a)
	x.begun <- a.Name
	hears := ctx.Done()
	if !x.ears {
		hears = nil
	}
	select {
	case <-x.ends:
	case <-hears:
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Transient, Reason: event.ReasonCancelled, ExitCode: -1}
	}
	return f
}

// crewAtWork opens a host and drives a run of two tasks until both have begun.
func crewAtWork(t *testing.T, s Store, x *slow) (h Crew, run string, done chan error) {
	t.Helper()
	h = crewOf(t, s, x)
	run = start(t, h, Program{Tasks: []Task{{Name: "a"}, {Name: "b"}}})
	done = make(chan error, 1)
	go func() { _, err := h.Drive(context.Background(), run, nil); done <- err }()
	<-x.begun
	<-x.begun
	return h, run, done
}

func crewOf(t *testing.T, s Store, x executor.Executor) Crew {
	t.Helper()
	h, is := s.Open(t, Factory, x).(Crew)
	if !is {
		t.Fatal("the host says that it has workers, and is no Crew")
	}
	return h
}

// checkCalls checks how often each of two tasks was carried out, with one number and key.
func checkCalls(t *testing.T, x *slow, a, b int) {
	t.Helper()
	sameKey(t, x.witness, "a", a)
	sameKey(t, x.witness, "b", b)
}

// awaitEvent waits until the journal of a run has an event.
func awaitEvent(t *testing.T, s Store, h Host, run string, is func(event.Event) bool) event.Event {
	t.Helper()
	for range 1000 {
		for _, ev := range events(t, h, run) {
			if is(ev) {
				return ev
			}
		}
		s.Advance(time.Second)
	}
	t.Fatal("the event does not come")
	return event.Event{}
}

func lostAlone(t *testing.T, s Store) {
	const why = "worker 2 was not heard of for a minute"
	x := newSlow(t)
	h, run, done := crewAtWork(t, s, x)
	h.Lose("a", why)
	if again := <-x.begun; again != "a" {
		t.Errorf("%s was repeated", again)
	}
	x.end()
	if err := moveUntil(s, done); err != nil {
		t.Fatal(err)
	}
	checkCalls(t, x, 2, 1)
	list := events(t, h, run)
	if f := list[1].AttemptFinished; len(list) != 4 || f == nil || f.Outcome != event.Lost || f.Error == nil || f.Error.Message != why {
		t.Errorf("the journal holds %v, with %+v", kinds(list), list[1].AttemptFinished)
	}
	mustEnd(t, s, h, run, event.Succeeded)
}

func givenBack(t *testing.T, s Store) {
	x := newSlow(t)
	h, run, done := crewAtWork(t, s, x)
	h.Drain("b")
	if again := <-x.begun; again != "b" {
		t.Errorf("%s was handed out again", again)
	}
	x.end()
	if err := moveUntil(s, done); err != nil {
		t.Fatal(err)
	}
	checkCalls(t, x, 1, 2)
	for _, ev := range events(t, h, run)[1:] {
		if f := ev.AttemptFinished; f == nil || f.Outcome != event.OK {
			t.Errorf("the journal holds %s %+v", ev.Kind(), f)
		}
	}
	mustEnd(t, s, h, run, event.Succeeded)
}

func givenBackCancelled(t *testing.T, s Store) {
	x := newSlow(t)
	h, run, done := crewAtWork(t, s, x)
	if err := h.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	awaitEvent(t, s, h, run, func(ev event.Event) bool { return ev.External != nil })
	h.Drain("a")
	h.Drain("b")
	if err := moveUntil(s, done); err != nil {
		t.Fatal(err)
	}
	checkCalls(t, x, 1, 1)
	mustEnd(t, s, h, run, event.Cancelled)
}

func answeredTwice(t *testing.T, s Store) {
	w := newWitness()
	w.fails["b"] = 1
	h := crewOf(t, s, w)
	h.Double()
	run := start(t, h, Program{Tasks: []Task{{Name: "a"}, {Name: "b", After: []string{"a"}, Tries: 2}, {Name: "c", After: []string{"b"}, Wait: 1e9}}})
	mustEnd(t, s, h, run, event.Succeeded)
	if list := events(t, h, run); count(list, "attempt_finished") != 6 || w.count() != 3 {
		t.Errorf("the journal holds %v after %d attempts", kinds(list), w.count())
	}
}

// crashedCrew lets the driver of a run die while workers carry out two attempts, and opens another host.
func crashedCrew(t *testing.T, s Store, x *slow) (h Crew, run string) {
	t.Helper()
	first, run, done := crewAtWork(t, s, x)
	first.Crash()
	if err := <-done; !errors.Is(err, ErrCrashed) {
		t.Fatal(err)
	}
	return crewOf(t, s, x), run
}

func keptByWorkers(t *testing.T, s Store) {
	x := newSlow(t)
	h, run := crashedCrew(t, s, x)
	done := make(chan error, 1)
	go func() { _, err := h.Drive(context.Background(), run, nil); done <- err }()
	changed := awaitEvent(t, s, h, run, func(ev event.Event) bool { return ev.DriverChanged != nil }).DriverChanged
	if !changed.Lost || len(changed.Kept) != 2 {
		t.Errorf("the change of driver is %+v", changed)
	}
	x.end()
	if err := moveUntil(s, done); err != nil {
		t.Fatal(err)
	}
	checkCalls(t, x, 1, 1)
	mustEnd(t, s, h, run, event.Succeeded)
}

func keptAndCancelled(t *testing.T, s Store) {
	x := newSlow(t)
	x.ears = true
	h, run := crashedCrew(t, s, x)
	if err := h.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	mustEnd(t, s, h, run, event.Cancelled)
	checkCalls(t, x, 1, 1)
}
