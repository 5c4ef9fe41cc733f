package enginetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

func stopIsNoCancel(t *testing.T, s Store) {
	w := newWitness()
	w.hangs["a"] = true
	h := s.Open(t, Factory, w)
	run := start(t, h, diamond())
	ctx, stop := context.WithCancelCause(context.Background())
	why := errors.New("ctrl-c")
	done := make(chan error, 1)
	go func() { _, err := h.Drive(ctx, run, nil); done <- err }()
	<-w.begun
	stop(why)
	if err := <-done; err != why {
		t.Fatalf("Drive gives %v, want the context's cause", err)
	}
	if cause := <-w.cause; cause != executor.Stopping {
		t.Errorf("the attempt was ended with %v", cause)
	}
	if list := events(t, h, run); len(list) != 1 {
		t.Errorf("an answer after the stop was journaled: %v", kinds(list))
	}
	w.allow("a")
	mustEnd(t, s, h, run, event.Succeeded)
	list := events(t, h, run)
	if c := list[1].DriverChanged; c == nil || c.Lost || c.Driver == 0 {
		t.Errorf("after the stop comes %s %+v", list[1].Kind(), c)
	}
	sameKey(t, w, "a", 2)
}

func sameKey(t *testing.T, w *witness, name string, want int) {
	t.Helper()
	calls := w.took(name)
	if len(calls) != want {
		t.Fatalf("%s was started %d times, want %d", name, len(calls), want)
	}
	for _, c := range calls {
		if c.Key != calls[0].Key || c.Attempt != calls[0].Attempt {
			t.Errorf("attempt %d with key %s became attempt %d with key %s", calls[0].Attempt, calls[0].Key, c.Attempt, c.Key)
		}
	}
}

func stopKeepsTimers(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, Program{Tasks: []Task{{Name: "a", Wait: 1e9}, {Name: "b", Wait: 2e9, After: []string{"a"}}}})
	ctx, stop := context.WithCancel(context.Background())
	drive(ctx, s, h, run, func(list []event.Event, _ *event.Reaction, _ bool) {
		if list[0].TimerFired != nil {
			stop() // b's timer is set
		}
	})
	stop()
	h.Close()
	h = s.Open(t, Factory, newWitness())
	mustEnd(t, s, h, run, event.Succeeded)
	if list := events(t, h, run); len(list)-count(list, "driver_changed") != 3 || count(list, "timer_fired") != 2 {
		t.Errorf("the journal holds %v, want each timer once", kinds(list))
	}
}

// crashAnywhere kills the host before and after each of its commits, and finishes on another.
func crashAnywhere(t *testing.T, s Store) {
	atEveryCommit(t, func(n int, after bool) bool { return crashOnce(t, s, n, after) })
}

// maxCommits is more than any run of the suite has.
const maxCommits = 100

// atEveryCommit crashes hosts at their first commit, their second, and so on, before and after it became durable, until
// one lives to the end of its run. A short test takes every third commit.
func atEveryCommit(t *testing.T, crash func(n int, after bool) (lived bool)) {
	t.Helper()
	for i, after := range []bool{false, true} {
		for n := 1 + i; !crash(n, after); n += commitStep() {
			if n >= maxCommits {
				t.Fatal("the run never ends")
			}
		}
	}
}

func commitStep() int {
	if testing.Short() {
		return 3
	}
	return 1
}

// crashAt drives a run until its host dies at its nth commit. It reports whether the host lived.
func crashAt(t *testing.T, s Store, h Host, run string, n int, after bool) (lived bool) {
	t.Helper()
	h.CrashAt(n, after)
	err := drive(context.Background(), s, h, run, nil)
	if err != nil && !errors.Is(err, ErrCrashed) {
		t.Fatalf("commit %d, after it %v: %v", n, after, err)
	}
	return err == nil
}

// crashOnce crashes a host once, finishes its run on another, and reports whether the first lived.
func crashOnce(t *testing.T, s Store, n int, after bool) (lived bool) {
	t.Helper()
	first := newWitness()
	first.falters["c"] = true
	h := s.Open(t, Factory, first)
	run := start(t, h, diamond())
	if crashAt(t, s, h, run, n, after) {
		h.Close()
		return true
	}
	where := fmt.Sprintf("commit %d, after it %v", n, after)
	second := newWitness()
	second.falters["c"] = true
	h = s.Open(t, Factory, second)
	defer h.Close()
	acknowledged := map[string]bool{}
	before := events(t, h, run)
	for _, ev := range before {
		if f := ev.AttemptFinished; f != nil {
			acknowledged[fmt.Sprint(f.Node, f.Attempt)] = true
		}
	}
	mustEnd(t, s, h, run, event.Succeeded)
	for _, a := range second.calls {
		if acknowledged[fmt.Sprint(a.Node, a.Attempt)] {
			t.Errorf("%s: attempt %d of %s was acknowledged and ran again", where, a.Attempt, a.Node)
		}
	}
	for _, a := range first.calls {
		for _, b := range second.took(a.Name) {
			if a.Key != b.Key {
				t.Errorf("%s: the key of %s changed", where, a.Name)
			}
		}
	}
	list := events(t, h, run)
	if len(list) > len(before) {
		c := list[len(before)].DriverChanged
		// Before the first commit nobody had driven the run.
		if undriven := n == 1 && !after; !undriven && len(before) == 1 && c == nil {
			return false
		}
		if c != nil && !c.Lost {
			t.Errorf("%s: a crash looks like a clean stop", where)
		}
	}
	return false
}

func crashInFlight(t *testing.T, s Store) {
	w := newWitness()
	w.hangs["a"] = true
	h := s.Open(t, Factory, w)
	run := start(t, h, diamond())
	done := make(chan error, 1)
	go func() { _, err := h.Drive(context.Background(), run, nil); done <- err }()
	<-w.begun
	h.Crash()
	if err := <-done; !errors.Is(err, ErrCrashed) {
		t.Fatal(err)
	}
	w.allow("a")
	h = s.Open(t, Factory, w)
	mustEnd(t, s, h, run, event.Succeeded)
	if c := events(t, h, run)[1].DriverChanged; c == nil || !c.Lost {
		t.Errorf("after the crash comes %+v", c)
	}
	sameKey(t, w, "a", 2)
}

func brokenCommit(t *testing.T, s Store) {
	for n := 1; n <= 4; n++ {
		h := s.Open(t, Factory, newWitness())
		run := start(t, h, Chain(10))
		h.BreakAt(n)
		if err := drive(context.Background(), s, h, run, nil); !errors.Is(err, ErrDisk) {
			t.Fatalf("commit %d broke, and Drive gives %v", n, err)
		}
		if _, err := h.Start(context.Background(), Chain(1).Start()); !errors.Is(err, ErrDisk) {
			t.Errorf("after a broken commit a start gives %v", err)
		}
		if err := h.Cancel(context.Background(), run, ""); !errors.Is(err, ErrDisk) {
			t.Errorf("after a broken commit a cancel gives %v", err)
		}
		if _, _, err := h.Wakeable(context.Background(), 1); !errors.Is(err, ErrDisk) {
			t.Errorf("after a broken commit the question which runs must be driven gives %v", err)
		}
		h.Close()
		h = s.Open(t, Factory, newWitness())
		mustEnd(t, s, h, run, event.Succeeded)
		h.Close()
	}
}

// otherMachine drives a run for a while, and then another machine meets it.
func otherMachine(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, diamond())
	ctx, stop := context.WithCancel(context.Background())
	drive(ctx, s, h, run, func(list []event.Event, _ *event.Reaction, _ bool) {
		if list[len(list)-1].Seq > 1 {
			stop()
		}
	})
	stop()
	twist(t, s, h, run)
}

func otherFirstMachine(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	twist(t, s, h, start(t, h, diamond()))
}

// twist has another machine take over a run, which is noticed at its first event, and then one like the first.
func twist(t *testing.T, s Store, h Host, run string) {
	t.Helper()
	h.Close()
	h = s.Open(t, Twisted, newWitness())
	err := drive(context.Background(), s, h, run, nil)
	var d *engine.Diverged
	if !errors.As(err, &d) || d.Run != run || d.Event != 1 {
		t.Fatalf("another machine gives %v", err)
	}
	h.Close()
	h = s.Open(t, Factory, newWitness())
	mustEnd(t, s, h, run, event.Succeeded) // and has harmed nothing
}
