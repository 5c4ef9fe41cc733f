package local

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

func TestAppendOfAFencedOwnerIsRefused(t *testing.T) {
	s := newStore(t)
	old := s.open(t, Options{Factory: enginetest.Factory})
	run := begin(t, old, enginetest.Chain(3))
	mine, err := old.claimRun(run)
	if err != nil {
		t.Fatal(err)
	}
	taker := s.open(t, Options{Factory: enginetest.Factory, TakeOver: true})
	theirs, err := taker.claimRun(run)
	if err != nil {
		t.Fatal(err)
	}
	if theirs.epoch <= mine.epoch || !theirs.alive {
		t.Errorf("epoch %d follows %d", theirs.epoch, mine.epoch)
	}
	w := journal.NewWriter(2, mine.link)
	w.Add(event.Event{Seq: 2, External: &event.External{Kind: "cancel"}})
	b := w.Cut(1)
	if err := old.appendBatch(&mine, b, change{status: event.Running}); !errors.Is(err, engine.ErrFenced) {
		t.Errorf("the old owner's append gives %v", err)
	}
	if err := old.commits.currentFailure(); err != nil {
		t.Errorf("a refusal broke the store: %v", err)
	}
	if err := taker.appendBatch(&theirs, b, change{status: event.Running}); err != nil {
		t.Errorf("the new owner's append gives %v", err)
	}
	if err := taker.appendBatch(&theirs, b, change{status: event.Running}); !errors.Is(err, journal.ErrBroken) {
		t.Errorf("an append that stands in the journal already gives %v", err)
	}
}

// TestOneOfManyDrives opens one new store many times at once; one host drives, the others are told so.
func TestOneOfManyDrives(t *testing.T) {
	const hosts = 16
	s := newStore(t)
	free := make(chan struct{})
	began := make(chan struct{}, hosts)
	x := executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		began <- struct{}{}
		<-free
		return answersOK(context.Background(), a)
	})
	start := enginetest.Program{Tasks: []enginetest.Task{{Name: "a"}}}.Start()
	start.Header.Run = "aaaaaaaaaaaa"
	var refused, drove atomic.Int32
	var all sync.WaitGroup
	one := func() {
		e, err := Open(s.dir, Options{Factory: enginetest.Factory, Executor: x})
		if err != nil {
			t.Error(err)
			return
		}
		defer e.Close()
		if _, err := e.Start(context.Background(), start); err != nil {
			t.Error(err)
		}
		if _, err = e.Drive(context.Background(), "aaaaaaaaaaaa", nil); err == nil {
			drove.Add(1)
			return
		}
		if !errors.Is(err, engine.ErrOwned) {
			t.Error(err)
		}
	}
	for range hosts {
		all.Go(func() {
			one()
			if refused.Add(1) == hosts-1 {
				close(free) // all but the one that drives are through
			}
		})
	}
	all.Wait()
	if drove.Load() != 1 || len(began) != 1 {
		t.Errorf("%d hosts drove, %d attempts began", drove.Load(), len(began))
	}
}

func TestDeadDriversAreSweptUp(t *testing.T) {
	s := newStore(t)
	for range 5 {
		h := s.Open(t, enginetest.Factory, answersOK).(*host)
		run := begin(t, h.Engine, enginetest.Chain(2))
		h.CrashAt(3, true)
		h.Drive(context.Background(), run, nil)
	}
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	if _, err := e.registerDriver(); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := e.read.QueryRow("SELECT count(*) FROM drivers").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d drivers are left, %v", rows, err)
	}
}

// A driver that was killed while it started a child leaves its lock to that for a moment: nobody drives the run then.
func TestLockOfADeadDriverIsWaitedFor(t *testing.T) {
	_, e, run, c := drivenElsewhere(t)
	c.Process.Kill()
	c.Wait()
	var owner int64
	if err := e.read.QueryRow("SELECT owner FROM runs WHERE id = ?", run).Scan(&owner); err != nil {
		t.Fatal(err)
	}
	lock, err := lockFile(e.lockPath(owner), 0)
	if err != nil {
		t.Fatal(err)
	}
	e.forks = 2 * time.Minute // longer than any machine takes to let the lock go
	release := time.AfterFunc(50*time.Millisecond, func() { lock.Close() })
	defer release.Stop()
	if end, err := e.Drive(context.Background(), run, nil); err != nil || end.Status != event.Succeeded {
		t.Errorf("it ends %v, %v", end, err)
	}
}

// TestRowIsWrittenSeldom looks at a run's row while it is driven: a commit that only adds to the journal leaves it alone. All
// else that tells of the journal's end goes by the journal itself.
func TestRowIsWrittenSeldom(t *testing.T) {
	e := newStore(t).open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	run := begin(t, e, enginetest.Chain(5))
	last, behind := uint64(0), 0
	watch := func(events []event.Event, _ *event.Reaction, _ bool) {
		last = events[len(events)-1].Seq
		c, err := e.scanRun(e.read.QueryRow(runRow, run).Scan, run)
		i, err2 := e.Get(context.Background(), run)
		if err != nil || err2 != nil || c.seq != last || i.Events != last {
			t.Errorf("after event %d the journal ends at %d, the list says %d: %v, %v", last, c.seq, i.Events, err, err2)
		}
		if c.noted.seq < c.seq {
			behind++
		}
	}
	if _, err := e.Drive(context.Background(), run, watch); err != nil {
		t.Fatal(err)
	}
	if behind < 4 {
		t.Errorf("the row was behind %d times in a chain of 5", behind)
	}
	c, err := e.scanRun(e.read.QueryRow(runRow, run).Scan, run)
	if err != nil || c.noted.seq != last || c.checkEnd() != nil {
		t.Errorf("at the end the row says %d of %d: %v, %v", c.noted.seq, last, err, c.checkEnd())
	}
}
