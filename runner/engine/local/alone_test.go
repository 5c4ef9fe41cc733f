package local

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/shared"
)

// holdsUntil is an executor whose attempt of the task "holds" says that it has begun, and ends when free is closed.
func holdsUntil(begun chan<- struct{}, free <-chan struct{}) executor.Func {
	return func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		if a.Name == "holds" {
			begun <- struct{}{}
			<-free
		}
		return answersOK(ctx, a)
	}
}

// A node whose path is longer than a person may name gets its grant.
func TestGrantOfALongPath(t *testing.T) {
	s := newStore(t)
	begun, free := make(chan struct{}, 1), make(chan struct{})
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: holdsUntil(begun, free)})
	drive := func(name string) <-chan error {
		run, done := begin(t, e, enginetest.Program{Tasks: []enginetest.Task{{Name: name, Scarce: 1}}}), make(chan error, 1)
		go func() { _, err := e.Drive(context.Background(), run, nil); done <- err }()
		return done
	}
	holder := drive("holds")
	<-begun
	waiter := drive(strings.Repeat("x", engine.MaxReason+1))
	for refused := 0; refused == 0; time.Sleep(time.Millisecond) {
		if err := e.read.QueryRow("SELECT count(*) FROM admissions WHERE refused = 1").Scan(&refused); err != nil {
			t.Fatal(err)
		}
		s.Advance(time.Second)
	}
	close(free)
	for name, done := range map[string]<-chan error{"the run that held": holder, "the run with the long path": waiter} {
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%s: %.200v", name, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s does not end; the error of the store: %.200v", name, e.commits.currentFailure())
		}
	}
}

// A request that fails by itself is undone, and the requests that share its transaction are written.
func TestOneRequestFailsAlone(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	put := func(key string, err error) *request {
		return &request{done: make(chan struct{}), do: func(tx *transaction) error {
			return errors.Join(sharedRows{tx}.Put("test", key, nil), err)
		}}
	}
	group := []*request{put("a", nil), put("b", &shared.Refusal{Message: "the row is damaged"}), put("c", engine.ErrExternal), put("d", nil)}
	e.commits.turn <- struct{}{}
	e.commits.commitGroup(group)
	<-e.commits.turn
	for i, fails := range []bool{false, true, true, false} {
		<-group[i].done
		_, found, err := e.readRows().Get("test", string(rune('a'+i)))
		if err != nil || found == fails || (group[i].err != nil) != fails {
			t.Errorf("request %d: %v; written %v (%v), want %v", i, group[i].err, found, err, !fails)
		}
	}
	if err := e.commits.currentFailure(); err != nil {
		t.Errorf("the store has failed: %v", err)
	}
}

// The disk is full while a process looks at the lines. It looks again when the disk has room.
func TestFullDiskDoesNotEndTheLooks(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	looked := make(chan bool, 100)
	full := 2 // the look, and the look with the reserve
	e.commits.turn <- struct{}{}
	e.commits.fault = func(after bool) error {
		if after {
			return nil
		}
		if full--; full >= 0 {
			looked <- false
			return syscall.ENOSPC
		}
		looked <- true
		return nil
	}
	<-e.commits.turn
	e.line.look([]event.Need{{Kind: event.NeedQuota, Name: "q", Units: 1, Capacity: 1}}, e.now())
	for limit := time.After(time.Minute); ; {
		select {
		case ok := <-looked:
			if ok {
				return
			}
		case <-e.line.gone:
			t.Fatalf("the process looks no more; the error of the store: %v", e.commits.currentFailure())
		case <-limit:
			t.Fatal("the process does not look again")
		case <-time.After(time.Millisecond):
			s.Advance(time.Second)
		}
	}
}

// A run that ends with its first event leaves nothing in the store that it would have shared.
func TestEndAtOnceForgets(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK,
		Events: func([]byte, event.RunStarted) ([]string, error) { return []string{"x"}, nil }})
	run := begin(t, e, enginetest.Program{})
	if err := e.postForTest(run); err != nil {
		t.Fatal(err)
	}
	if end, err := e.Drive(context.Background(), run, nil); err != nil || !end.Status.Terminal() {
		t.Fatal(end, err)
	}
	left, err := readTexts(e.read.Query("SELECT space || ' ' || key FROM shared UNION ALL SELECT 'message ' || id FROM inbox"))
	if len(left) > 0 || err != nil {
		t.Errorf("left after the end: %v (%v)", left, err)
	}
}

func (e *Engine) postForTest(run string) error {
	return e.write(func(tx *transaction) error {
		return e.postAll(tx, []shared.Post{{Run: run, External: event.External{Kind: event.ExternalEvent, Data: map[string]any{"name": "x"}}}})
	})
}

// The store fails while a run waits for a timer, and nothing of the run writes. The run ends with the error all the same.
func TestFailureReachesAWaitingRun(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	run := begin(t, e, enginetest.Program{Tasks: []enginetest.Task{{Name: "waits", Wait: time.Hour}}})
	waits, done := make(chan struct{}, 100), make(chan error, 1)
	go func() {
		_, err := e.Drive(context.Background(), run, func([]event.Event, *event.Reaction, bool) { waits <- struct{}{} })
		done <- err
	}()
	<-waits
	time.Sleep(100 * time.Millisecond) // the run most likely waits now; if not, the test is easier to pass
	broken := errors.New("input/output error")
	if err := e.write(func(*transaction) error { return broken }); !errors.Is(err, broken) {
		t.Fatalf("the store fails with %v", err)
	}
	select {
	case err := <-done:
		if !errors.Is(err, broken) {
			t.Errorf("the run ends with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the run does not end")
	}
}

// The look for messages costs nothing for the messages of runs that others drive.
func TestLookReadsOwnRuns(t *testing.T) {
	e := newStore(t).open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	rows, err := e.read.Query("EXPLAIN QUERY PLAN "+postedRuns, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, detail)
	}
	text := strings.Join(plan, "; ")
	if !strings.Contains(text, "runs_owner (owner=?)") || !strings.Contains(text, "inbox_run (run=?)") || strings.Contains(text, "SCAN ") {
		t.Errorf("the plan is %s", text)
	}
}
