package local

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Whoever watches all runs sees the called ones too, from the first event to the end, and the past of a run that is driven again.
func TestWatchSeesCalledRuns(t *testing.T) {
	var mu sync.Mutex
	seen, again, begun := map[string]uint64{}, 0, map[string]bool{}
	program := enginetest.Program{Tasks: []enginetest.Task{{Name: "a", Call: "child"}, {Name: "b"}},
		Workflows: map[string]enginetest.Program{"child": {Tasks: []enginetest.Task{{Name: "c"}}}}}
	e, err := Open(t.TempDir(), Options{Factory: enginetest.Factory, Executor: executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		mu.Lock()
		begun[a.Node] = true
		mu.Unlock()
		ans := executor.Answer(a)
		ans.Outcome = event.OK
		return ans
	}), Watch: func(run string, events []event.Event, r *event.Reaction, replayed bool) {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range r.Commands {
			if c.Start != nil && !replayed && begun[c.Start.Node] {
				t.Errorf("%s had begun before it was seen", c.Start.Node)
			}
		}
		if replayed {
			again += len(events)
			return
		}
		for _, ev := range events {
			if seen[run]++; ev.Seq != seen[run] {
				t.Errorf("run %s: event %d after %d", run, ev.Seq, seen[run]-1)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	run, err := e.Start(context.Background(), program.Start())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := e.Drive(context.Background(), run, nil); err != nil {
			t.Fatal(err)
		}
	}
	if runs := slices.Collect(maps.Keys(seen)); len(runs) != 2 || again != int(seen[run]) {
		t.Errorf("runs %v were seen, and %d events of the first again, of %d", runs, again, seen[run])
	}
}

// Large batches are shown beside the drive, in the order of their events, whatever time each takes.
func TestWatchSeesLargeBatchesInOrder(t *testing.T) {
	var program enginetest.Program
	for i := range 3000 {
		program.Tasks = append(program.Tasks, enginetest.Task{Name: "t" + strconv.Itoa(i)})
	}
	var mu sync.Mutex
	var last uint64
	large := 0
	e, err := Open(t.TempDir(), Options{Factory: enginetest.Factory, Executor: executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		ans := executor.Answer(a)
		ans.Outcome = event.OK
		return ans
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	watch := func(events []event.Event, _ *event.Reaction, _ bool) {
		mu.Lock()
		if len(events) >= worthAside {
			large++
		}
		slow := large%2 == 1
		mu.Unlock()
		if slow { // the next one would be faster
			time.Sleep(50 * time.Millisecond)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, ev := range events {
			if last++; ev.Seq != last {
				t.Errorf("event %d is shown after %d", ev.Seq, last-1)
				last = ev.Seq
			}
		}
	}
	run, err := e.Start(context.Background(), program.Start())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Drive(context.Background(), run, watch); err != nil {
		t.Fatal(err)
	}
	if large < 3 {
		t.Errorf("only %d batches were large", large)
	}
}
