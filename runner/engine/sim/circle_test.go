package sim

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Two runs each have a turn and call a run that needs the turn of the other. The call that would close the circle is refused.
func TestWaitsInACircle(t *testing.T) {
	ok := executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		f := executor.Answer(a)
		f.Outcome = event.OK
		return f
	})
	store := NewStore(1)
	e := New(store, Options{Factory: enginetest.Factory, World: world{ok}, Group: enginetest.Group})
	ctx, ends := context.Background(), map[string]event.End{}
	var left []string
	for _, groups := range [][2]string{{"x", "y"}, {"y", "x"}} {
		s := enginetest.Program{
			Tasks:     []enginetest.Task{{Name: "w", Wait: time.Hour}, {Name: "kid", Call: "child", After: []string{"w"}}},
			Workflows: map[string]enginetest.Program{"child": {Tasks: []enginetest.Task{{Name: "a"}}}},
		}.Start()
		s.First.Vars = map[string]any{"group": groups[0], "child": groups[1]}
		run, err := e.Start(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, run)
	}
	for steps := 0; len(ends) < 2; steps++ {
		for _, run := range left {
			end, err := e.DriveUntilParked(ctx, run, nil)
			if err == nil {
				ends[run] = end
			} else if !errors.Is(err, engine.ErrParked) {
				t.Fatal(err)
			}
		}
		var next event.Time
		var err error
		if left, next, err = e.Wakeable(ctx, 10); err != nil || steps > 10 {
			t.Fatalf("after %d steps: %v", steps, err)
		}
		if len(left) == 0 && next != 0 {
			store.Pass(next.Sub(store.Now()))
		}
	}
	how := map[event.Status]int{}
	for _, end := range ends {
		how[end.Status]++
	}
	if how[event.Succeeded] != 1 || how[event.FailedS] != 1 {
		t.Errorf("they ended %v, want one refused", how)
	}
}
