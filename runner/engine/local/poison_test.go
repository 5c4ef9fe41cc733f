package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

// allergic is a machine that panics over one record.
type allergic struct{ engine.Machine }

func (m allergic) Step(ev event.Event) error {
	if f := ev.AttemptFinished; f != nil && f.Node == "poison" {
		panic("this cannot be")
	}
	return m.Machine.Step(ev)
}

func allergicFactory(h journal.Header, definition []byte) (engine.Machine, error) {
	m, err := enginetest.Factory(h, definition)
	return allergic{m}, err
}

// TestOneRecordThatPanics has one process drive 100 runs, of which one holds a record over which the machine panics. That one
// is told, with its journal as it was; the others end.
func TestOneRecordThatPanics(t *testing.T) {
	const runs = 100
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		if a.Name == "b" {
			<-ctx.Done()
		}
		return answersOK(ctx, a)
	})})
	ids := make([]string, runs)
	for i := range ids {
		first := "fine"
		if i == runs/2 {
			first = "poison"
		}
		ids[i] = begin(t, e, enginetest.Program{Tasks: []enginetest.Task{{Name: first, Null: true}, {Name: "b", After: []string{first}}}})
		stopAfter(t, e, ids[i], 2)
	}
	e.Close()
	before := s.open(t, Options{Factory: allergicFactory, Executor: answersOK})
	errs := driveAll(before, ids)
	for i, err := range errs {
		if i != runs/2 && err != nil {
			t.Errorf("run %d: %v", i, err)
		}
	}
	bad := ids[runs/2]
	if err := errs[runs/2]; err == nil || !strings.Contains(err.Error(), "run "+bad) || !strings.Contains(err.Error(), "this cannot be") {
		t.Errorf("the run with the record gives %v", err)
	}
	if list, err := eventsOf(before, bad); err != nil || len(list) != 2 {
		t.Errorf("its journal has %d events, %v; it had 2", len(list), err)
	}
	before.Close()
	mended := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	if end, err := mended.Drive(context.Background(), bad, nil); err != nil || end.Status != event.Succeeded {
		t.Errorf("with a machine that can bear the record it ends %v, %v", end, err)
	}
}

// stopAfter drives a run until so many of its events are durable.
func stopAfter(t *testing.T, e *Engine, run string, events uint64) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	_, err := e.Drive(ctx, run, func(list []event.Event, _ *event.Reaction, _ bool) {
		if list[len(list)-1].Seq >= events {
			cancel(enough)
		}
	})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
}

// driveAll drives runs at the same time and gives what each ended with.
func driveAll(e *Engine, runs []string) []error {
	errs := make([]error, len(runs))
	var wg sync.WaitGroup
	for i, run := range runs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			end, err := e.Drive(context.Background(), run, nil)
			if err == nil && end.Status != event.Succeeded {
				err = fmt.Errorf("it ended %s", end.Status)
			}
			errs[i] = err
		}()
	}
	wg.Wait()
	return errs
}

// TestOneAttemptThatPanics has the executor panic over one attempt of many.
func TestOneAttemptThatPanics(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		if a.Name == "poison" {
			panic("no such thing")
		}
		return answersOK(ctx, a)
	})})
	bad := begin(t, e, enginetest.Program{Tasks: []enginetest.Task{{Name: "poison"}}})
	errs := driveAll(e, []string{begin(t, e, enginetest.Chain(3)), bad, begin(t, e, enginetest.Fan(3, 0))})
	if errs[0] != nil || errs[2] != nil || errs[1] == nil {
		t.Errorf("the runs end with %v", errs)
	}
	list, err := eventsOf(e, bad)
	if err != nil {
		t.Fatal(err)
	}
	f := list[len(list)-1].AttemptFinished
	if f == nil || f.Outcome != event.Failed || f.Error.Kind != event.Fatal || !strings.Contains(f.Error.Message, "no such thing") {
		t.Errorf("the journal says %+v", f)
	}
}
