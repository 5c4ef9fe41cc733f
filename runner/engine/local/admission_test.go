package local

import (
	"context"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// driveInBackground drives a run and sends the error.
func driveInBackground(e *Engine, run string) chan error {
	done := make(chan error, 1)
	go func() {
		_, err := e.Drive(context.Background(), run, nil)
		done <- err
	}()
	return done
}

// advanceUntil moves the clock until a drive has ended, and returns its error.
func advanceUntil(t *testing.T, s *store, done chan error) error {
	t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); {
		select {
		case err := <-done:
			return err
		case <-time.After(time.Millisecond):
			s.Advance(time.Second)
		}
	}
	t.Fatal("the drive does not end")
	return nil
}

// waitForRequests waits until requests of a run stand in the table with an epoch or a later one.
func waitForRequests(t *testing.T, e *Engine, run string, epoch func() int64) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		var n int
		if at := epoch(); at != 0 {
			if err := e.read.QueryRow("SELECT count(*) FROM admissions WHERE run = ? AND epoch >= ?", run, at).Scan(&n); err != nil || n > 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
		}
	}
	t.Fatal("no request stands in the line")
}

// Another process takes a run over while its attempt waits for its first answer. The old driver leaves the request of the new one alone.
func TestTakeOverKeepsTheRequest(t *testing.T) {
	s := newStore(t)
	begun, free := make(chan struct{}, 10), make(chan struct{})
	x := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		if a.Name == "holds" {
			begun <- struct{}{}
			<-free
		}
		return answersOK(ctx, a)
	})
	o := Options{Factory: enginetest.Factory, Executor: x}
	other, old := s.open(t, o), s.open(t, o)
	o.TakeOver = true
	taker := s.open(t, o)
	held := driveInBackground(other, begin(t, other, enginetest.Program{Tasks: []enginetest.Task{{Name: "holds", Scarce: 1}}}))
	<-begun
	run := begin(t, old, enginetest.Program{Tasks: []enginetest.Task{{Name: "wants", Scarce: 1}}})
	fenced := driveInBackground(old, run)
	waitForRequests(t, old, run, func() int64 { return 1 })
	taken := driveInBackground(taker, run)
	waitForRequests(t, taker, run, taker.driverEpoch)
	<-fenced
	if left, err := readTexts(taker.read.Query("SELECT node FROM admissions WHERE run = ?", run)); err != nil || len(left) != 1 {
		t.Errorf("the requests of the new driver are %v, %v; want one", left, err)
	}
	close(free)
	for _, done := range []chan error{held, taken} {
		if err := advanceUntil(t, s, done); err != nil {
			t.Error(err)
		}
	}
}

// An attempt whose executor panics has ended: it gives back what it holds, and its breaker counts it.
func TestAPanicGivesTheGrantBack(t *testing.T) {
	s := newStore(t)
	x := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		if a.Name == "panics" {
			panic("as told")
		}
		return answersOK(ctx, a)
	})
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: x})
	needs := []event.Need{{Kind: event.NeedAgent, Name: "coder", Units: 1, Capacity: 1, Breaker: &event.Breaker{Failures: 1, Reset: time.Minute}}}
	run := begin(t, e, enginetest.Program{Tasks: []enginetest.Task{{Name: "panics", Needs: needs}, {Name: "long", Wait: 1000 * time.Hour}}})
	ctx, stop := context.WithCancel(context.Background())
	ended, done := make(chan struct{}, 10), make(chan error, 1)
	go func() {
		_, err := e.Drive(ctx, run, func(list []event.Event, _ *event.Reaction, _ bool) {
			for _, ev := range list {
				if ev.AttemptFinished != nil {
					ended <- struct{}{}
				}
			}
		})
		done <- err
	}()
	<-ended
	left, err := readTexts(e.read.Query("SELECT node FROM admissions WHERE run = ?", run))
	if len(left) > 0 || err != nil {
		t.Errorf("the attempt has ended, and its run holds %v, %v", left, err)
	}
	if l, err := e.Limits(context.Background()); err != nil || len(l) != 1 || l[0].Health != "open" {
		t.Errorf("the limits are %+v, %v; want an open breaker", l, err)
	}
	stop()
	<-done
}

// The probe of a breaker dies with its process, and the run is pruned: the next attempt is the probe.
func TestPruneFreesTheProbe(t *testing.T) {
	s := newStore(t)
	begun := make(chan struct{}, 10)
	x := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		f := executor.Answer(a)
		f.Outcome = event.OK
		switch a.Name {
		case "fails":
			f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Fatal, Message: "as told", ExitCode: -1}
		case "hangs":
			begun <- struct{}{}
			<-ctx.Done()
		}
		return f
	})
	o := Options{Factory: enginetest.Factory, Executor: x}
	e := s.open(t, o)
	task := func(name string) enginetest.Program {
		needs := []event.Need{{Kind: event.NeedAgent, Name: "coder", Breaker: &event.Breaker{Failures: 1, Reset: time.Minute}}}
		return enginetest.Program{Tasks: []enginetest.Task{{Name: name, Needs: needs}}}
	}
	if err := advanceUntil(t, s, driveInBackground(e, begin(t, e, task("fails")))); err != nil {
		t.Fatal(err)
	}
	s.Advance(2 * time.Minute)
	dies := &host{s.open(t, o)}
	run := begin(t, dies.Engine, task("hangs"))
	done := driveInBackground(dies.Engine, run)
	<-begun
	dies.Crash()
	<-done
	if err := e.Remove(context.Background(), []string{run}, true); err != nil {
		t.Fatal(err)
	}
	if err := advanceUntil(t, s, driveInBackground(e, begin(t, e, task("next")))); err != nil {
		t.Error(err)
	}
}

// A reservation asks again after its agent was stopped. The store has it in the line again, and its grant comes after the start of the agent.
func TestAReservationGoesBackIntoTheLine(t *testing.T) {
	e := newStore(t).open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	epoch, err := e.registerDriver()
	if err != nil {
		t.Fatal(err)
	}
	x := &admitting{engine: e, run: &claimed{epoch: epoch}}
	operate := func(op admission.Operation) admission.Answer {
		t.Helper()
		a, err := x.runOperation(op)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	ask := func(key string) admission.Answer {
		t.Helper()
		needs := []event.Need{{Kind: event.NeedAgent, Name: "coder", Units: 1, Capacity: 1}}
		return operate(admission.Operation{Ask: &admission.Request{Key: key, Run: key, Node: "n", Ticket: 1, Driver: epoch, Needs: needs}})
	}
	change := func(c event.LimitChange) {
		t.Helper()
		if changed, err := e.ChangeLimit(context.Background(), c); err != nil || !changed {
			t.Fatal(changed, err)
		}
	}
	ask("holder")
	ask("reserved")
	operate(admission.Operation{Refuse: "reserved"})
	operate(admission.Operation{End: []admission.End{{Key: "holder"}}})
	change(event.LimitChange{Stop: "coder"})
	if a := ask("reserved"); a.Verdict != admission.Refused || !a.Obstacle.Stopped {
		t.Errorf("the answer is %+v", a)
	}
	if at, err := e.grantOf("reserved", epoch); at != 0 || err != nil {
		t.Errorf("the request has its grant of %d, %v", at, err)
	}
	change(event.LimitChange{Start: "coder"})
	if a := ask("reserved"); a.Verdict != admission.Granted {
		t.Errorf("the answer is %+v", a)
	}
}
