package enginetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// pausing is a run with a pause between two tasks.
func pausing(d time.Duration) Program {
	return Program{Tasks: []Task{{Name: "a"}, {Name: "w", Wait: d, After: []string{"a"}}, {Name: "b", After: []string{"w"}}}}
}

// wakeable checks which runs must be driven, and when the first of the others is due.
func wakeable(t *testing.T, h Host, next event.Time, want ...string) {
	t.Helper()
	runs, due, err := h.Wakeable(context.Background(), 10)
	if err != nil || !slices.Equal(runs, want) || due != next {
		t.Errorf("to be woken are %v, and the next is due at %v (%v); want %v and %v", runs, due, err, want, next)
	}
}

func parkedAndWoken(t *testing.T, s Store) {
	w := newWitness()
	c := newCrew(t, s, w)
	run := c.start(pausing(time.Hour), "", "")
	next := c.work()
	if list := events(t, c, run); len(list) != 2 || next != list[1].At.Add(time.Hour) {
		t.Fatalf("%d events, and the next timer is due at %v", len(list), next)
	}
	s.Pass(time.Hour - time.Second)
	wakeable(t, c, next)
	s.Pass(time.Second)
	wakeable(t, c, 0, run)
	c.mustWork(event.Succeeded, run)
	if got, want := kinds(events(t, c, run)), []string{"run_started", "attempt_finished", "timer_fired", "attempt_finished"}; !slices.Equal(got, want) {
		t.Errorf("the journal holds %v, want %v: it does not show that the run was parked", got, want)
	}
	wakeable(t, c, 0)
}

func parkedHears(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	hears, cancelled := c.start(listening(), "", ""), c.start(pausing(time.Hour), "", "")
	next := c.work()
	wakeable(t, c, next)
	signal(t, c, hears, note("hears", said()))
	wakeable(t, c, next, hears)
	c.work()
	heard(t, s, c, hears)
	if err := s.Open(t, Factory, newWitness()).Cancel(context.Background(), cancelled, "enough"); err != nil {
		t.Fatal(err)
	}
	c.mustWork(event.Cancelled, cancelled)
}

func parkedHasADriver(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	run := c.start(pausing(time.Hour), "", "")
	next := c.work()
	other := newCrew(t, s, newWitness())
	if _, err := other.Drive(context.Background(), run, nil); !errors.Is(err, engine.ErrOwned) {
		t.Errorf("a second driver gets %v", err)
	}
	wakeable(t, other, 0)
	wakeable(t, c, next)
	for _, end := range []func(*crew){func(c *crew) { c.Crash() }, func(c *crew) { c.Close() }} {
		end(c)
		before := len(events(t, other, run))
		other.left = []string{run}
		other.work()
		if d := events(t, other, run)[before].DriverChanged; d == nil || d.Lost {
			t.Errorf("after the end of the process that parked the run comes %+v, and nothing was lost", d)
		}
		c, other = other, newCrew(t, s, newWitness())
	}
	c.mustWork(event.Succeeded, run)
}

// waitingFamily is a parent with a child that makes a pause between two tasks.
func waitingFamily(d time.Duration) Program { return family(pausing(d).Tasks...) }

// parkedFamily parks a caller with the run that it called. Neither journal shows that.
func parkedFamily(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	run := c.start(waitingFamily(time.Hour), "", "")
	next := c.work()
	child := childID(run, "kid")
	if list := events(t, c, child); len(list) != 2 || next != list[1].At.Add(time.Hour) {
		t.Fatalf("the called run has %d events, and the next timer is due at %v", len(list), next)
	}
	c.mustWork(event.Succeeded, run)
	for id, want := range map[string][]string{run: {"run_started", "attempt_finished", "child_finished", "attempt_finished"},
		child: {"run_started", "attempt_finished", "timer_fired", "attempt_finished"}} {
		if got := kinds(events(t, c, id)); !slices.Equal(got, want) {
			t.Errorf("a journal holds %v, want %v", got, want)
		}
	}
	wakeable(t, c, 0)
}

// parkedFamilyCancelled cancels a parked caller, and in another family the called run.
func parkedFamilyCancelled(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	caller, other := c.start(waitingFamily(time.Hour), "", ""), c.start(waitingFamily(time.Hour), "", "")
	c.work()
	for _, run := range []string{caller, childID(other, "kid")} {
		if err := c.Cancel(context.Background(), run, "enough"); err != nil {
			t.Fatal(err)
		}
	}
	c.mustWork(event.Cancelled, caller)
	c.mustWork(event.FailedS, other)
	for _, run := range []string{caller, other} {
		if got := news(events(t, c, run)); len(got) != 1 || got[0].Status != event.Cancelled {
			t.Errorf("the caller heard %+v", got)
		}
	}
}

// parkedFamilyAtEveryCommit kills the host at each of its commits, and finishes on another.
func parkedFamilyAtEveryCommit(t *testing.T, s Store) {
	atEveryCommit(t, func(n int, after bool) bool {
		if after != (n%2 == 0) { // half of the cases will do
			return false
		}
		w := newWitness()
		c := newCrew(t, s, w)
		run := c.start(waitingFamily(2*time.Second), "", "")
		c.CrashAt(n, after)
		lived := c.workFor(run)
		c.Close()
		whole(t, s, w, run, fmt.Sprintf("commit %d, after it %v", n, after))
		return lived
	})
}

// parkedFamilyInLine has a called run wait for the turn of a parked run of another family.
func parkedFamilyInLine(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	holder := c.start(pausing(time.Minute), "h", "")
	c.work()
	p := waitingFamily(time.Minute)
	run, err := c.startAs(p, map[string]any{"group": "g", "child": "h"})
	if err != nil {
		t.Fatal(err)
	}
	c.work()
	c.queued(childID(run, "kid"))
	c.mustWork(event.Succeeded, holder, run)
	ended := events(t, c, holder)
	if began := events(t, c, childID(run, "kid"))[0].At; began < ended[len(ended)-1].At {
		t.Error("the called run began before its turn had come")
	}
}

// parkedRefused has a parked run wait for what another one holds, and be granted it.
func parkedRefused(t *testing.T, s Store) {
	first, run, _, done := held(t, s)
	w := newWitness()
	c := newCrew(t, s, w)
	other := c.start(scarce(), "", "")
	parked := make(chan error, 1)
	go func() {
		_, err := c.DriveUntilParked(context.Background(), other, nil)
		parked <- err
	}()
	if err := moveUntil(s, parked); !errors.Is(err, engine.ErrParked) {
		t.Fatal(err)
	}
	c.left = nil
	wakeable(t, c, 0)
	if err := first.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	if err := moveUntil(s, done); err != nil {
		t.Fatal(err)
	}
	wakeable(t, c, 0, other)
	c.mustWork(event.Succeeded, other)
	checkGranted(t, c, other, w)
}

// driveInVain drives a run with a context that is done.
func (c *crew) driveInVain(run string) {
	c.t.Helper()
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(context.Background())
	stop(stopped)
	if _, err := c.DriveUntilParked(ctx, run, nil); !errors.Is(err, stopped) {
		c.t.Errorf("a drive whose context is done returns %v", err)
	}
}

// parkedInVain fails to drive a run that has its turn: once before the run begins, and once while it is parked. Each time the turn
// goes to the next run of the group.
func parkedInVain(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	a, b, third := c.start(pausing(time.Minute), "g", ""), c.start(pausing(time.Minute), "g", ""), c.start(pausing(time.Minute), "g", "")
	c.left = []string{b, third}
	c.work()
	c.driveInVain(a)
	wakeable(t, c, 0, b)
	c.work()
	c.driveInVain(b)
	wakeable(t, c, 0, third)
	c.left = []string{b}
	c.mustWork(event.Succeeded, third, b)
	c.left = []string{a}
	c.mustWork(event.Succeeded, a)
}

// refusedInVain fails to drive a parked run that was refused. What it waits for goes to the next run.
func refusedInVain(t *testing.T, s Store) {
	first, run, _, done := held(t, s)
	w := newWitness()
	c := newCrew(t, s, w)
	vain, other := c.start(scarce(), "", ""), c.start(scarce(), "", "")
	c.left = nil
	for _, run := range []string{vain, other} {
		parked := make(chan error, 1)
		go func() {
			_, err := c.DriveUntilParked(context.Background(), run, nil)
			parked <- err
		}()
		if err := moveUntil(s, parked); !errors.Is(err, engine.ErrParked) {
			t.Fatal(err)
		}
	}
	c.driveInVain(vain)
	if err := first.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	if err := moveUntil(s, done); err != nil {
		t.Fatal(err)
	}
	wakeable(t, c, 0, other)
	c.mustWork(event.Succeeded, other)
	checkGranted(t, c, other, w)
}

// parkedAtEveryCommit kills the host at each of its commits, and finishes on another. Its runs are of one group, and
// the second goes past the first there.
func parkedAtEveryCommit(t *testing.T, s Store) {
	atEveryCommit(t, func(n int, after bool) bool {
		if after != (n%2 == 0) { // half of the cases will do
			return false
		}
		where := fmt.Sprintf("commit %d, after it %v", n, after)
		w := newWitness()
		c := newCrew(t, s, w)
		p := Program{Tasks: []Task{{Name: "a"}, {Name: "w", Wait: 2 * time.Second, After: []string{"a"}}}}
		runs := []string{c.start(p, where, ""), c.start(p, where, "")}
		c.CrashAt(n, after)
		lived := c.workFor(runs...)
		c.Close()
		if lived {
			return true
		}
		calls := w.count()
		c = c.takeOver(w, runs[1], runs[0])
		defer c.Close()
		made := map[string]bool{}
		for _, run := range runs {
			list := events(t, c, run)
			for _, ev := range list {
				if f := ev.AttemptFinished; f != nil {
					made[run+f.Node] = true
				}
			}
		}
		c.mustWork(event.Succeeded, slices.DeleteFunc(slices.Clone(runs), func(run string) bool { return !slices.Contains(c.left, run) })...)
		for _, a := range w.calls[calls:] {
			if made[a.Run+a.Node] {
				t.Errorf("%s: the attempt at %s was acknowledged and ran again", where, a.Node)
			}
		}
		for _, run := range runs {
			if list := events(t, c, run); count(list, "run_started") != 1 || list[0].RunStarted == nil {
				t.Errorf("%s: the journal holds %v", where, kinds(list))
			}
		}
		return false
	})
}

// order is the order in which runs begin and end.
func order(c *crew, want ...string) {
	c.t.Helper()
	if !reflect.DeepEqual(c.seen, want) {
		c.t.Errorf("the order is %q, want %q", c.seen, want)
	}
}
