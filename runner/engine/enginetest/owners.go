package enginetest

import (
	"context"
	"errors"
	"testing"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// hanging starts the diamond and drives it until its first task hangs.
func hanging(t *testing.T, s Store) (h Host, w *witness, run string, done chan error) {
	t.Helper()
	w = newWitness()
	w.hangs["a"] = true
	h = s.Open(t, Factory, w)
	run = start(t, h, diamond())
	done = make(chan error, 1)
	go func() { _, err := h.Drive(context.Background(), run, nil); done <- err }()
	<-w.begun
	return h, w, run, done
}

func cancelLive(t *testing.T, s Store) {
	h, w, run, done := hanging(t, s)
	if err := h.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if cause := <-w.cause; cause != executor.Cancelled {
		t.Errorf("the attempt was ended with %v", cause)
	}
	cancelled(t, s, h, run)
}

// cancelled checks that one cancel is in the journal and decided the run.
func cancelled(t *testing.T, s Store, h Host, run string) {
	t.Helper()
	mustEnd(t, s, h, run, event.Cancelled)
	n := 0
	for _, ev := range events(t, h, run) {
		if x := ev.External; x != nil {
			n++
			if x.Kind != event.ExternalCancel || x.Reason != "enough" || x.Inbox == 0 {
				t.Errorf("the event is %+v", x)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d cancels in the journal, want 1", n)
	}
}

func cancelBeforeDrive(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, Program{Tasks: []Task{{Name: "a", Wait: 1e18}}})
	if err := h.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	h.Crash()
	cancelled(t, s, s.Open(t, Factory, newWitness()), run)
}

// cancelBetweenDrives kills the host at each of its commits and cancels the run before the next one takes over.
func cancelBetweenDrives(t *testing.T, s Store) {
	for n := 1; ; n += commitStep() {
		h := s.Open(t, Factory, newWitness())
		run := start(t, h, diamond())
		h.CrashAt(n, false)
		if err := drive(context.Background(), s, h, run, nil); err == nil {
			return // it lived to the end
		} else if !errors.Is(err, ErrCrashed) || n > 100 {
			t.Fatalf("commit %d: %v", n, err)
		}
		second := newWitness()
		h = s.Open(t, Factory, second)
		if isEnded(t, h, run) { // the host died when it made that known
			h.Close()
			return
		}
		if err := h.Cancel(context.Background(), run, "enough"); err != nil {
			t.Fatal(err)
		}
		cancelled(t, s, h, run)
		if second.count() != 0 {
			t.Errorf("commit %d: the run was cancelled, and then %v started", n, second.calls)
		}
		h.Close()
	}
}

// cancelInBatch cancels a run while the attempt is under way whose answer frees the last task, so that a host that takes
// both in at once is asked to start and to cancel it.
func cancelInBatch(t *testing.T, s Store) {
	w := newWitness()
	var h Host
	h = s.Open(t, Factory, executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		if a.Name == "a" {
			if err := h.Cancel(ctx, a.Run, "enough"); err != nil {
				t.Error(err)
			}
		}
		return w.Execute(ctx, a)
	}))
	run := start(t, h, Program{Tasks: []Task{{Name: "first", Null: true}, {Name: "a", Null: true, After: []string{"first"}},
		{Name: "b", After: []string{"a"}}}})
	cancelled(t, s, h, run)
	if n := len(w.took("b")); n != 0 {
		t.Errorf("the run was cancelled, and then its last task started %d times", n)
	}
}

func cancelFromOutside(t *testing.T, s Store) {
	h, _, run, done := hanging(t, s)
	other := s.Open(t, Factory, newWitness())
	if err := other.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	cancelled(t, s, h, run)
}

func cancelAfterEnd(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, Chain(2))
	mustEnd(t, s, h, run, event.Succeeded)
	before := len(events(t, h, run))
	if err := h.Cancel(context.Background(), run, "late"); err != nil {
		t.Fatal(err)
	}
	mustEnd(t, s, h, run, event.Succeeded)
	if after := len(events(t, h, run)); after != before {
		t.Errorf("%d events became %d", before, after)
	}
}

func oneDriver(t *testing.T, s Store) {
	h, w, run, done := hanging(t, s)
	other := s.Open(t, Factory, newWitness())
	for _, second := range []Host{other, h} {
		if _, err := second.Drive(context.Background(), run, nil); !errors.Is(err, engine.ErrOwned) {
			t.Errorf("a second driver gets %v", err)
		}
	}
	if n := len(events(t, other, run)); n != 1 {
		t.Errorf("anyone may read; there were %d events", n)
	}
	h.Crash()
	<-done
	w.allow("a")
	mustEnd(t, s, other, run, event.Succeeded)
}
