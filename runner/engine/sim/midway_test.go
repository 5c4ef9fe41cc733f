package sim

import (
	"context"
	"errors"
	"testing"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// A run that is called and cancelled in one batch is never made, also if the process dies between the two commands: a host looks at all
// commands of a batch before it carries out the first.
func TestChildIsUnmadeThoughTheDriverDies(t *testing.T) {
	answers := world{executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		f := executor.Answer(a)
		f.Outcome = event.OK
		return f
	})}
	family := enginetest.Program{Tasks: []enginetest.Task{{Name: "kid", Call: "child"}}, Workflows: map[string]enginetest.Program{"child": {Tasks: []enginetest.Task{{Name: "a"}}}}}
	crashes := 0
	for seed := range uint64(100) {
		s := NewStore(seed)
		e := New(s, Options{Factory: enginetest.Factory, World: answers, Faults: Faults{CrashAfterCommit: 0.3, CrashMidway: 0.5}})
		run, err := e.Start(context.Background(), family.Start())
		if err == nil {
			err = e.Cancel(context.Background(), run, "enough") // the next drivers ask for the call again, and for its cancel
		}
		if err != nil {
			t.Fatal(err)
		}
		err = ErrCrashed
		for errors.Is(err, ErrCrashed) {
			_, err = e.Drive(context.Background(), run, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(s.runs) != 1 {
			t.Errorf("seed %d: there are %d runs", seed, len(s.runs))
		}
		crashes += s.Struck().Crashes
	}
	if crashes < 100 {
		t.Errorf("%d deaths prove little", crashes)
	}
}
