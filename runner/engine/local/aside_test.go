package local

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

// TestLargeBatchesAreShownBesideTheNext drives a wide fan-out. The next batch is on its way to the disk while a large one is still
// being shown; what is shown is what a replay of the journal shows, in order, and one call at a time.
func TestLargeBatchesAreShownBesideTheNext(t *testing.T) {
	var showing atomic.Bool
	beside := make(chan struct{}, 1)
	dir := t.TempDir()
	e, err := Open(dir, Options{Factory: enginetest.Factory, At: func(p engine.Point) {
		if p == engine.Appending && showing.Load() {
			select {
			case beside <- struct{}{}:
			default:
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	program := enginetest.Fan(50*worthAside, worthAside)
	run, err := e.Start(context.Background(), program.Start())
	if err != nil {
		t.Fatal(err)
	}
	words := func(events []event.Event, r *event.Reaction) (out []string) {
		for _, ev := range events {
			out = append(out, fmt.Sprint("event ", ev.Seq))
		}
		for _, tr := range r.Transitions {
			out = append(out, fmt.Sprintf("%s %s", tr.Node, tr.To))
		}
		return out
	}
	var live, again []string
	large, seen := 0, 0
	_, err = e.Drive(context.Background(), run, func(events []event.Event, r *event.Reaction, _ bool) {
		if !showing.CompareAndSwap(false, true) {
			t.Error("two batches are shown at once")
		}
		defer showing.Store(false)
		if len(events) >= worthAside {
			large++
		}
		if len(events) >= worthAside && seen < 3 { // more than one, so that both memories are used
			patience := 200 * time.Millisecond
			if seen == 0 {
				patience = 10 * time.Second // the next batch needs long on a slow machine
			}
			select {
			case <-beside:
				seen++
				time.Sleep(50 * time.Millisecond) // in which a driver that did not wait would show the next
			case <-time.After(patience): // nothing had come behind this one
			}
		}
		live = append(live, words(events, r)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Errorf("beside none of %d large batches the next was on its way", large)
	}
	if _, err := e.Drive(context.Background(), run, func(events []event.Event, r *event.Reaction, _ bool) {
		again = append(again, words(events, r)...)
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(live, again) {
		t.Errorf("shown were %d words, a replay shows %d others", len(live), len(again))
	}
}
