package enginetest

import (
	"context"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// scarce is a run of one task that needs what only one run at a time may have.
func scarce() Program { return Program{Tasks: []Task{{Name: "scarce", Scarce: 1}}} }

// scarceInTurn has three called runs want the same at once, twice each.
func scarceInTurn(t *testing.T, s Store) {
	w := newWitness()
	h := s.Open(t, Factory, w)
	defer h.Close()
	p := Program{Workflows: map[string]Program{"child": {Tasks: []Task{{Name: "a", Scarce: 1}, {Name: "b", Scarce: 1, After: []string{"a"}}}}}}
	for _, name := range []string{"x", "y", "z"} {
		p.Tasks = append(p.Tasks, Task{Name: name, Call: "child"})
	}
	mustEnd(t, s, h, start(t, h, p), event.Succeeded)
	if w.count() != 6 || w.most != 1 {
		t.Errorf("%d attempts were made, want 6, and up to %d at once, want 1", w.count(), w.most)
	}
}

// scarceNull has a null agent that needs an admission answer only after another attempt of the run has begun.
func scarceNull(t *testing.T, s Store) {
	began := make(chan struct{})
	h := s.Open(t, Factory, executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		if a.Name == "other" {
			close(began)
		} else {
			select {
			case <-began:
			case <-time.After(time.Minute):
				t.Error("an attempt keeps the others of its run from their starts")
			}
		}
		f := executor.Answer(a)
		f.Outcome = event.OK
		return f
	}))
	mustEnd(t, s, h, start(t, h, Program{Tasks: []Task{{Name: "null", Null: true, Scarce: 1}, {Name: "other"}}}), event.Succeeded)
}

// held drives a run that holds what is scarce until its context is done, on a host of its own.
func held(t *testing.T, s Store) (h Host, run string, w *witness, done chan error) {
	t.Helper()
	w = newWitness()
	w.hangs["scarce"] = true
	h = s.Open(t, Factory, w)
	run = start(t, h, scarce())
	done = make(chan error, 1)
	go func() {
		_, err := h.Drive(context.Background(), run, nil)
		done <- err
	}()
	<-w.begun
	return h, run, w, done
}

// refused drives another such run, on a host of its own, until it was refused.
func refused(t *testing.T, s Store) (h Host, run string, w *witness, done chan error) {
	t.Helper()
	w = newWitness()
	h = s.Open(t, Factory, w)
	run = start(t, h, scarce())
	done = make(chan error, 1)
	said := make(chan error, 1)
	go func() {
		_, err := h.Drive(context.Background(), run, func(list []event.Event, _ *event.Reaction, _ bool) {
			if f := list[0].AttemptFinished; f != nil && f.Outcome == event.Refused {
				said <- nil
			}
		})
		done <- err
	}()
	if err := moveUntil(s, said); err != nil {
		t.Fatal(err)
	}
	return h, run, w, done
}

// checkGranted checks the journal of a run that was refused and then granted.
func checkGranted(t *testing.T, h Host, run string, w *witness) {
	t.Helper()
	kinds, attempts := "", 0
	for _, ev := range events(t, h, run) {
		switch {
		case ev.AttemptFinished != nil:
			kinds += string(ev.AttemptFinished.Outcome) + " "
			attempts += ev.AttemptFinished.Attempt
		case ev.External != nil:
			kinds += string(ev.External.Kind) + " "
		}
	}
	if took := w.took("scarce"); kinds != "refused granted ok " || attempts != 2 || len(took) != 1 || took[0].Attempt != 1 {
		t.Errorf("the journal holds %q, and %d attempts were made", kinds, len(took))
	}
}

func scarceGranted(t *testing.T, s Store) {
	first, run, _, done := held(t, s)
	h, other, w, otherDone := refused(t, s)
	if err := first.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	for _, d := range []chan error{done, otherDone} {
		if err := moveUntil(s, d); err != nil {
			t.Fatal(err)
		}
	}
	checkGranted(t, h, other, w)
}

// scarceCancelled has two runs wait. The first of them is cancelled, and the grant goes to the other.
func scarceCancelled(t *testing.T, s Store) {
	first, run, _, done := held(t, s)
	second, tired, none, tiredDone := refused(t, s)
	h, other, w, otherDone := refused(t, s)
	if err := second.Cancel(context.Background(), tired, "too long"); err != nil {
		t.Fatal(err)
	}
	if err := moveUntil(s, tiredDone); err != nil {
		t.Fatal(err)
	}
	if err := first.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	for _, d := range []chan error{done, otherDone} {
		if err := moveUntil(s, d); err != nil {
			t.Fatal(err)
		}
	}
	checkGranted(t, h, other, w)
	if none.count() != 0 {
		t.Error("the attempt of the cancelled run was made")
	}
}

// scarceAfterDeath kills the process that holds what is scarce, and finishes its run when the other has ended.
func scarceAfterDeath(t *testing.T, s Store) {
	first, run, hung, done := held(t, s)
	h, other, w, otherDone := refused(t, s)
	first.Crash()
	<-done
	if err := moveUntil(s, otherDone); err != nil {
		t.Fatal(err)
	}
	checkGranted(t, h, other, w)
	hung.allow("scarce")
	again := s.Open(t, Factory, hung)
	defer again.Close()
	mustEnd(t, s, again, run, event.Succeeded)
}

// scarceElsewhere has an attempt ask for another agent when the first refuses: it leaves the line of the first, and holds the second alone.
func scarceElsewhere(t *testing.T, s Store) {
	first, run, _, done := held(t, s)
	w := newWitness()
	h := s.Open(t, Factory, w)
	defer h.Close()
	other := start(t, h, Program{Tasks: []Task{{Name: "scarce", Scarce: 1, Spare: "spare"}}})
	ended := make(chan error, 1)
	go func() {
		_, err := h.Drive(context.Background(), other, nil)
		ended <- err
	}()
	if err := moveUntil(s, ended); err != nil {
		t.Fatal(err)
	}
	outcomes := ""
	for _, ev := range events(t, h, other) {
		if ev.AttemptFinished != nil {
			outcomes += string(ev.AttemptFinished.Outcome) + " "
		} else if ev.External != nil {
			outcomes += string(ev.External.Kind) + " "
		}
	}
	if took := w.took("scarce"); outcomes != "refused ok " || len(took) != 1 || took[0].Attempt != 1 {
		t.Errorf("the journal holds %q, and %d attempts were made", outcomes, len(took))
	}
	if err := first.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	if err := moveUntil(s, done); err != nil {
		t.Fatal(err)
	}
	last := start(t, h, scarce())
	mustEnd(t, s, h, last, event.Succeeded)
	for _, ev := range events(t, h, last) {
		if f := ev.AttemptFinished; f != nil && f.Outcome != event.OK {
			t.Errorf("nothing is held, and an attempt ends as %s", f.Outcome)
		}
	}
}
