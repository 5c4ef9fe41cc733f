package local

import (
	"context"
	"testing"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// TestFreshRunIsNotReplayed drives a run where it was made, which takes one machine; and a run that others have driven
// meanwhile, which is replayed.
func TestFreshRunIsNotReplayed(t *testing.T) {
	s := newStore(t)
	made := 0
	count := func(h journal.Header, definition []byte) (engine.Machine, error) {
		made++
		return enginetest.Factory(h, definition)
	}
	e := s.open(t, Options{Factory: count, Executor: answersOK})
	seen := 0
	watch := func(events []event.Event, _ *event.Reaction, _ bool) { seen += len(events) }
	if _, err := e.Drive(context.Background(), begin(t, e, enginetest.Chain(3)), watch); err != nil {
		t.Fatal(err)
	}
	if made != 1 || seen != 4 {
		t.Errorf("it took %d machines, and %d of 4 events were shown", made, seen)
	}
	run := begin(t, e, enginetest.Chain(3))
	other := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	want, err := other.Drive(context.Background(), run, nil)
	if err != nil {
		t.Fatal(err)
	}
	made, seen = 0, 0
	end, err := e.Drive(context.Background(), run, watch)
	if err != nil || end.Status != want.Status || made != 1 || seen != 4 {
		t.Errorf("after others it ends %s (%v), with %d machines and %d of 4 events", end.Status, err, made, seen)
	}
}
