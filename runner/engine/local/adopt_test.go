package local

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

// waiter is a run that waits for an hour between two attempts.
func waiter() engine.Start {
	return enginetest.Program{Tasks: []enginetest.Task{{Name: "a"}, {Name: "w", Wait: time.Hour, After: []string{"a"}}, {Name: "b", After: []string{"w"}}}}.Start()
}

// parkIn starts a run in a store, drives it until it is parked, and ends the process, by a kill if killed is set.
func parkIn(t *testing.T, s *store, start engine.Start, killed bool) (run string) {
	t.Helper()
	h := &host{s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK, Group: groupVar})}
	run, err := h.Start(context.Background(), start)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.DriveUntilParked(context.Background(), run, nil); !errors.Is(err, engine.ErrParked) {
		t.Fatal(err)
	}
	if killed {
		h.Crash()
	} else {
		h.Close()
	}
	return run
}

// changes are the changes of driver in the journal of a run.
func changes(t *testing.T, e *Engine, run string) (list []event.Event) {
	t.Helper()
	all, err := eventsOf(e, run)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range all {
		if ev.DriverChanged != nil {
			list = append(list, ev)
		}
	}
	return list
}

// A run that its process had parked is taken over without a look at its journal, and is woken by its timer. The clocks of the run stood still
// until it was taken over, and no longer.
func TestAdoptedRunIsWokenByItsTimer(t *testing.T) {
	for _, killed := range []bool{false, true} {
		s := newStore(t)
		run := parkIn(t, s, waiter(), killed)
		s.Advance(10 * time.Minute)
		e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
		adopted := s.clock.Now()
		if n, err := e.Adopt(context.Background()); n != 1 || err != nil {
			t.Fatalf("killed %v: %d runs are adopted, %v", killed, n, err)
		}
		if left, err := e.Left(context.Background()); len(left) != 0 || err != nil {
			t.Errorf("killed %v: left are %v, %v", killed, left, err)
		}
		if info, err := e.Get(context.Background(), run); err != nil || !info.Parked || info.Driver == 0 || info.Status != event.Waiting {
			t.Errorf("killed %v: the run is %+v, %v", killed, info, err)
		}
		if n, err := e.Adopt(context.Background()); n != 0 || err != nil {
			t.Errorf("killed %v: %d runs are adopted again, %v", killed, n, err)
		}
		if runs, next, err := e.Wakeable(context.Background(), 10); len(runs) != 0 || next.Sub(event.At(adopted)) != 50*time.Minute || err != nil {
			t.Errorf("killed %v: wakeable are %v, the next is due at %v, %v", killed, runs, next, err)
		}
		if c := changes(t, e, run); len(c) != 0 {
			t.Errorf("killed %v: the journal has %v", killed, c)
		}
		s.Advance(50 * time.Minute)
		end, err := workAll(context.Background(), e, run, func() { t.Fatal("the run is not woken") })
		if err != nil || end.Status != event.Succeeded {
			t.Errorf("killed %v: it ends as %s, %v", killed, end.Status, err)
		}
		c := changes(t, e, run)
		if len(c) != 1 || c[0].DriverChanged.Lost || c[0].At.Sub(c[0].DriverChanged.Since) != 10*time.Minute {
			t.Errorf("killed %v: the changes of driver are %+v", killed, c)
		}
		e.Close()
	}
}

// A message wakes an adopted run, whether it came before the run was adopted or afterwards.
func TestAdoptedRunIsWokenByAMessage(t *testing.T) {
	for _, before := range []bool{true, false} {
		s := newStore(t)
		run := parkIn(t, s, waiter(), false)
		e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
		cancel := func() {
			if err := e.Cancel(context.Background(), run, "enough"); err != nil {
				t.Fatal(err)
			}
		}
		if before {
			cancel()
		}
		if n, err := e.Adopt(context.Background()); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if !before {
			cancel()
		}
		runs, _, err := e.Wakeable(context.Background(), 10)
		if err != nil || len(runs) != 1 {
			t.Fatalf("before %v: wakeable are %v, %v", before, runs, err)
		}
		if end, err := e.DriveUntilParked(context.Background(), run, nil); err != nil || end.Status != event.Cancelled {
			t.Errorf("before %v: it ends as %s, %v", before, end.Status, err)
		}
		e.Close()
	}
}

// A run that has more to do than to wait is not adopted: one that was stopped in the middle of an attempt, one that called runs, one of a group,
// one that another process has parked, and one that was never driven.
func TestOnlyRunsThatWaitAreAdopted(t *testing.T) {
	s := newStore(t)
	options := Options{Factory: enginetest.Factory, Executor: answersOK, Group: groupVar}
	parkIn(t, s, callers(""), false)
	parkIn(t, s, long("g", ""), true)
	ctx, stop := context.WithCancel(context.Background())
	first := s.open(t, Options{Factory: enginetest.Factory, Executor: stopsAt(stop), Group: groupVar})
	run, err := first.Start(ctx, waiter())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.DriveUntilParked(ctx, run, nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := first.Start(context.Background(), waiter()); err != nil {
		t.Fatal(err)
	}
	first.Close()
	living := s.open(t, options)
	defer living.Close()
	run, err = living.Start(context.Background(), waiter())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := living.DriveUntilParked(context.Background(), run, nil); !errors.Is(err, engine.ErrParked) {
		t.Fatal(err)
	}
	e := s.open(t, options)
	defer e.Close()
	if n, err := e.Adopt(context.Background()); n != 0 || err != nil {
		t.Errorf("%d runs are adopted, %v", n, err)
	}
	if left, err := e.Left(context.Background()); len(left) != 4 || err != nil {
		t.Errorf("%d runs are left, %v", len(left), err)
	}
}

// stopsAt stops a drive in the middle of an attempt.
type stopsAt context.CancelFunc

func (s stopsAt) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	s()
	<-ctx.Done()
	return answersOK.Execute(ctx, a)
}
