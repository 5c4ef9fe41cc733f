package temporal_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/run"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

// TestLongRuns has runs of many steps continue as new: each step is done once, no execution comes near the bounds of the server, the
// journal goes through all executions, and what the steps said at first is still known in the last execution.
func TestLongRuns(t *testing.T) {
	needServer(t)
	for _, l := range []struct {
		name    string
		steps   int
		text    int // bytes that each step says
		program func(steps int) string
		soft    int // 0: that of all runs
		least   int // executions
	}{
		{"many at once", 7000, 40, many, 0, 2},
		{"one after the other", 1000, 40, chain, 500, 2},
	} {
		t.Run(l.name, func(t *testing.T) { longRun(t, l.program(l.steps), l.steps, l.text, l.soft, l.least) })
	}
}

// many is a program of which all steps may be done at once.
func many(steps int) string {
	return fmt.Sprintf(`workflow "w" {
  max_concurrency = 500
  step "all" {
    for_each = range(%d)
    run = ["say"]
  }
}`, steps)
}

// chain is a program of which each step comes after the one before.
func chain(steps int) string {
	var b strings.Builder
	b.WriteString("workflow \"w\" {\n  sequence \"all\" {\n")
	for i := range steps {
		fmt.Fprintf(&b, "    step \"s%d\" {\n      run = [\"say\"]\n    }\n", i)
	}
	return b.String() + "  }\n}\n"
}

func longRun(t *testing.T, program string, steps, bytes, soft, least int) {
	h := dial(t, temporal.Options{Machines: &runner.Programs{}, Soft: soft})
	var mu sync.Mutex
	done := map[string]int{}
	serve(t, h, executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		mu.Lock()
		done[a.Key]++
		mu.Unlock()
		f := executor.Answer(a)
		f.Outcome, f.Stdout = event.OK, a.Key+strings.Repeat("x", bytes)
		return f
	}), 200)
	id, err := h.Start(t.Context(), begin(parse(t, program)))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	end, err := h.Drive(t.Context(), id, nil)
	if err != nil || end.Status != event.Succeeded {
		t.Fatalf("the run ended %s: %v, %v", end.Status, end.Error, err)
	}
	took := time.Since(began)
	for key, n := range done {
		if n != 1 {
			t.Errorf("%s was done %d times", key, n)
		}
	}
	answers := 0
	_, _, err = h.Journal(t.Context(), id, func(b journal.Batch) error {
		answers += strings.Count(string(b.Body), `"attempt_finished"`)
		return nil
	})
	list := histories(t, id)
	most, largest := 0, 0
	for _, one := range list {
		most, largest = max(most, len(one.Events)), max(largest, sizeOf(one))
	}
	t.Logf("%d steps in %s: %.0f a second, %d executions, the longest of %d events, the largest of %d bytes", steps, took.Round(time.Second),
		float64(steps)/took.Seconds(), len(list), most, largest)
	if err != nil || len(done) != steps || len(list) < least {
		t.Errorf("%d steps were done, %d answers journaled, in %d executions: %v", len(done), answers, len(list), err)
	}
	if most > 6*cmp.Or(soft, run.Soft) || largest > run.HardBytes {
		t.Errorf("an execution had %d events, and one %d bytes", most, largest)
	}
}
