package temporal_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/snapshot"
)

// release makes machines whose state has the layout of a release: no other release can read it.
type release struct {
	*runner.Programs
	layout string
}

func (r release) Machine(h journal.Header, definition []byte) (engine.Machine, error) {
	return r.of(r.Programs.Machine(h, definition))
}

func (r release) Restore(h journal.Header, definition, state []byte) (engine.Machine, error) {
	inner, own := bytes.CutPrefix(state, []byte(r.layout))
	if !own {
		return nil, fmt.Errorf("%w: another layout", snapshot.ErrBroken)
	}
	return r.of(r.Programs.Restore(h, definition, inner))
}

func (r release) of(m engine.Machine, err error) (engine.Machine, error) {
	if err != nil {
		return nil, err
	}
	return laidOut{m.(*machine.Machine), r.layout}, nil
}

// laidOut is a machine whose state has a layout.
type laidOut struct {
	*machine.Machine
	layout string
}

func (m laidOut) AppendState(b []byte, most int) ([]byte, error) {
	return m.Machine.AppendState(append(b, m.layout...), most)
}

// TestStateOfAnotherRelease lets workers of two releases take turns at a run that continues as new: neither can read the state that the other has
// left, also in the middle of an execution. Each step is done once, and readers of both releases, and of a third, see the same journal.
func TestStateOfAnotherRelease(t *testing.T) {
	needServer(t)
	const steps = 120
	queue := engine.NewID()
	of := func(layout string) *temporal.Host {
		return dial(t, temporal.Options{Machines: release{&runner.Programs{}, layout}, Soft: 20, Queue: queue, Task: 5 * time.Second, Heartbeat: 5 * time.Second})
	}
	old, next := of("layout 1 "), of("layout 2 ")
	var mu sync.Mutex
	done, stopAt, reached := map[string]int{}, 40, make(chan struct{}, steps)
	says := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		mu.Lock()
		n := len(done)
		stop := n == stopAt
		if !stop {
			done[a.Key]++
		}
		mu.Unlock()
		f := executor.Answer(a)
		if stop { // its worker stops, and gives the attempt back
			reached <- struct{}{}
			<-ctx.Done()
			return f
		}
		f.Outcome, f.Stdout = event.OK, "said "+a.Key
		return f
	})
	id, err := old.Start(t.Context(), begin(parse(t, chain(steps))))
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range []*temporal.Host{old, next, old, next} {
		stop := serve(t, h, says, 4)
		if i == 3 {
			break
		}
		select {
		case <-reached:
		case <-time.After(30 * time.Second):
			info, err := h.Get(t.Context(), id)
			t.Fatalf("worker %d does not reach step %d: %s, %v", i, stopAt, info.Trouble, err)
		}
		mu.Lock()
		stopAt += 25
		mu.Unlock()
		stop()
	}
	mu.Lock()
	stopAt = -1
	mu.Unlock()
	end, err := next.Drive(t.Context(), id, nil)
	if err != nil || end.Status != event.Succeeded {
		t.Fatalf("the run ended %s: %v, %v", end.Status, end.Error, err)
	}
	for key, n := range done {
		if n != 1 {
			t.Errorf("%s was done %d times", key, n)
		}
	}
	if n := len(histories(t, id)); len(done) != steps || n < 6 {
		t.Errorf("%d of %d steps were done, in %d executions", len(done), steps, n)
	}
	var want []journal.Batch
	for i, layout := range []string{"layout 1 ", "layout 2 ", "layout 3 "} {
		var have []journal.Batch
		_, _, err := of(layout).Journal(t.Context(), id, func(b journal.Batch) error {
			b.From = nil
			have = append(have, b)
			return nil
		})
		if want == nil {
			want = have
		}
		if err != nil || len(have) == 0 || !reflect.DeepEqual(have, want) {
			t.Errorf("reader %d sees %d batches, and the first one %d: %v", i+1, len(have), len(want), err)
		}
	}
}
