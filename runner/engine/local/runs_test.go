package local

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

func TestFind(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	for _, r := range []struct{ id, workflow string }{{"aaaa22222222", "one"}, {"aaab22222222", "two"}, {"bbbb22222222", "one"}} {
		start := enginetest.Chain(1).Start()
		start.Header.Run, start.Header.Workflow = r.id, r.workflow
		if _, err := e.Start(context.Background(), start); err != nil {
			t.Fatal(err)
		}
		s.Advance(time.Second)
	}
	for name, want := range map[string]string{
		"latest": "bbbb22222222", "one": "bbbb22222222", "two": "aaab22222222", "aaab": "aaab22222222", "AAAA": "aaaa22222222", "aaaa22222222": "aaaa22222222",
	} {
		if i, err := e.Find(context.Background(), name); err != nil || i.Run != want || i.Status != event.Pending {
			t.Errorf("Find(%q) = %+v, %v, want %s", name, i, err, want)
		}
	}
	var a *engine.Ambiguous
	if _, err := e.Find(context.Background(), "aa"); !errors.As(err, &a) || len(a.Runs) != 2 {
		t.Errorf("a beginning of two ids gives %v", err)
	}
	for _, name := range []string{"", "zz", "%", "aaaa222222222"} {
		if _, err := e.Find(context.Background(), name); !errors.Is(err, engine.ErrNoRun) {
			t.Errorf("Find(%q) gives %v", name, err)
		}
	}
	if list, err := e.List(context.Background(), 2); err != nil || len(list) != 2 || list[0].Run != "bbbb22222222" {
		t.Errorf("the two newest are %v, %v", list, err)
	}
}

// A run and those that repeat it know of each other, and what is asked of a run can be read before anybody takes it.
func TestRetriesAndInbox(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	for _, r := range []struct{ id, of string }{{"aaaa22222222", ""}, {"bbbb22222222", "aaaa22222222"}, {"cccc22222222", "aaaa22222222"}} {
		start := enginetest.Chain(1).Start()
		start.Header.Run, start.First.RetryOf = r.id, r.of
		if _, err := e.Start(ctx, start); err != nil {
			t.Fatal(err)
		}
		s.Advance(time.Second)
	}
	old, err := e.Get(ctx, "aaaa22222222")
	if err != nil || old.RetryOf != "" || old.RetriedBy != "cccc22222222" {
		t.Errorf("the first run is %+v, %v", old, err)
	}
	if again, err := e.Get(ctx, "bbbb22222222"); err != nil || again.RetryOf != old.Run || again.RetriedBy != "" {
		t.Errorf("the second run is %+v, %v", again, err)
	}
	if list, err := e.Inbox(ctx, old.Run); err != nil || list != nil {
		t.Errorf("of the first run is asked %v, %v", list, err)
	}
	if err := errors.Join(e.Cancel(ctx, old.Run, "not needed"), e.Cancel(ctx, "bbbb22222222", "nor this")); err != nil {
		t.Fatal(err)
	}
	if list, err := e.Inbox(ctx, old.Run); err != nil || len(list) != 1 || list[0].Kind != "cancel" || list[0].Reason != "not needed" {
		t.Errorf("of the first run is asked %v, %v", list, err)
	}
}

func TestSummaryIsBounded(t *testing.T) {
	long := strings.Repeat("é", engine.MaxSummary)
	end := event.End{Status: event.FailedS, Error: &event.Error{Kind: event.Fatal, Message: long}, Outputs: map[string]value.Value{"x": "y"}}
	if b := engine.EncodeSummary(&end); len(b) > engine.MaxSummary || !bytes.Contains(b, []byte(`"cut":true`)) || end.Error.Message != long {
		t.Errorf("%d bytes: %.200s", len(b), b)
	}
	small := event.End{Status: event.Succeeded, Outputs: map[string]value.Value{"x": "y"}}
	if b := engine.EncodeSummary(&small); string(b) != `{"outputs":{"x":"y"}}` {
		t.Errorf("%s", b)
	}
}

func TestSourceAndDefinitionComeBack(t *testing.T) {
	for _, size := range []int{0, 10, packFrom - 1, packFrom, 100 * packFrom} {
		s := newStore(t)
		e := s.open(t, Options{Factory: enginetest.Factory})
		start := enginetest.Chain(1 + size/100).Start()
		start.Source = bytes.Repeat([]byte("s"), size)
		run, err := e.Start(context.Background(), start)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := e.Source(context.Background(), run); err != nil || !bytes.Equal(b, start.Source) {
			t.Errorf("a source of %d bytes came back with %d, %v", size, len(b), err)
		}
		if list, err := eventsOf(e, run); err != nil || len(list) != 1 {
			t.Errorf("size %d: %v, %v", size, list, err)
		}
	}
}

// TestWritersShareACommit holds the first commit until others have queued up, and counts.
func TestWritersShareACommit(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory})
	const writers = MaxGroup + 10
	commits := 0
	e.commits.fault = func(after bool) error {
		if after {
			commits++
		}
		return nil
	}
	e.commits.turn <- struct{}{} // somebody commits
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			if err := e.write(func(*transaction) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	for queued := 0; queued < writers; time.Sleep(time.Millisecond) {
		e.commits.mu.Lock()
		queued = len(e.commits.queue)
		e.commits.mu.Unlock()
	}
	<-e.commits.turn
	all.Wait()
	if commits != 2 {
		t.Errorf("%d writers took %d commits, want 2: %d share one", writers, commits, MaxGroup)
	}
}

func TestCloseEndsDrives(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	run := begin(t, e, enginetest.Program{Tasks: []enginetest.Task{{Name: "a", Wait: 1e18}}})
	shown, done := make(chan struct{}, 1), make(chan error)
	go func() {
		_, err := e.Drive(context.Background(), run, func([]event.Event, *event.Reaction, bool) { shown <- struct{}{} })
		done <- err
	}()
	<-shown
	e.Close()
	if err := <-done; !errors.Is(err, engine.ErrClosed) {
		t.Errorf("got %v", err)
	}
	e = s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	if i, err := e.Get(context.Background(), run); err != nil || i.Crashed || i.Driver != 0 {
		t.Errorf("a clean end left %+v, %v", i, err)
	}
	if _, err := e.Start(context.Background(), enginetest.Chain(1).Start()); err != nil {
		t.Error(err)
	}
}

// TestManyReadersAtOnce reads within the callbacks of more readers than the pool has connections.
func TestManyReadersAtOnce(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	run := begin(t, e, enginetest.Chain(pageBatches+10)) // two pages
	if _, err := e.Drive(context.Background(), run, nil); err != nil {
		t.Fatal(err)
	}
	var all, inside sync.WaitGroup
	inside.Add(2 * readers)
	for range 2 * readers {
		all.Go(func() {
			var once sync.Once
			n := 0
			_, _, err := e.Journal(context.Background(), run, func(b journal.Batch) error {
				once.Do(func() { inside.Done(); inside.Wait() })
				n += b.Count
				_, err := e.Get(context.Background(), run)
				return err
			})
			if err != nil || n != pageBatches+11 {
				t.Errorf("%d events were read, %v", n, err)
			}
		})
	}
	all.Wait()
}

// A run that has not ended and that nobody drives is interrupted since its last event.
func TestInterrupted(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	run, err := e.Start(ctx, enginetest.Chain(3).Start())
	if err != nil {
		t.Fatal(err)
	}
	began := e.now()
	s.Advance(time.Hour)
	i, err := e.Get(ctx, run)
	if err != nil || !i.Interrupted() || i.Last == 0 || i.Last > began {
		t.Errorf("before it is driven: %+v, %v", i, err)
	}
	during := make(chan engine.Info, 1)
	_, err = e.Drive(ctx, run, func(events []event.Event, _ *event.Reaction, _ bool) {
		if i, err := e.Get(ctx, run); err == nil && len(during) == 0 && !i.Status.Terminal() {
			during <- i
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if i := <-during; i.Interrupted() || i.Last != 0 {
		t.Errorf("while it is driven: %+v", i)
	}
	if i, err := e.Get(ctx, run); err != nil || i.Interrupted() || i.Last != 0 {
		t.Errorf("after its end: %+v, %v", i, err)
	}
}

// TestStamp: a commit of this process or of another changes the stamp, once a reader can see it; nothing else does.
func TestStamp(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	other := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	before := e.Stamp()
	if again := e.Stamp(); before == "" || again != before {
		t.Fatalf("the stamps of a store to which nobody writes are %q and %q", before, again)
	}
	for who, by := range map[string]func(context.Context, engine.Start) (string, error){"this process": e.Start, "another": other.Start} {
		if _, err := by(context.Background(), enginetest.Chain(1).Start()); err != nil {
			t.Fatal(err)
		}
		now := e.Stamp()
		if now == before {
			t.Errorf("after a commit of %s the stamp is still %q", who, now)
		}
		before = now
	}
}
