package benchmark

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// attempt measures a program that prints one text for each run, in order. A text that begins with "exit" makes the program fail.
func attempt(t *testing.T, metric string, baseline value.Value, texts ...string) (ans event.AttemptFinished, asked []event.BaselineRequest) {
	t.Helper()
	ran := 0
	next := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		if a.Kind != event.RunAttempt || a.Benchmark != nil {
			t.Errorf("the program is an attempt of kind %s", a.Kind)
		}
		f := event.AttemptFinished{Outcome: event.OK, Stdout: texts[ran], StartedAt: event.Time(ran + 1)}
		executor.NotePeak(ctx, int64(1000*(ran+1)))
		if ran++; strings.HasPrefix(f.Stdout, "exit") {
			executor.Fail(&f, executor.ExitError(1))
		}
		return f
	})
	x := New(next, func(_ context.Context, r event.StoreRequest) (value.Value, error) {
		asked = append(asked, *r.Baseline)
		if err, bad := baseline.(error); bad {
			return nil, err
		}
		return baseline, nil
	})
	ans = x.Execute(context.Background(), event.Attempt{Run: "r", Key: "k", Kind: event.BenchmarkAttempt,
		Benchmark: &event.Benchmark{Samples: len(texts), Metric: metric, Baseline: "b"}})
	return ans, asked
}

func TestTheFigureIsTheMedian(t *testing.T) {
	for metric, want := range map[string]float64{"ops": 4, ir.MetricMemory: 2000} {
		ans, asked := attempt(t, metric, map[string]any{"figure": 3.5}, "ops=4", "noise\nops=9\n ops= 9.5 \n", "ops=1\n")
		o, _ := ans.Output.(map[string]any)
		if ans.Outcome != event.OK || o["figure"] != want || o["baseline"] != 3.5 || len(o["samples"].([]any)) != 3 || ans.StartedAt != 1 {
			t.Errorf("%s: %+v", metric, ans)
		}
		if r := (event.BaselineRequest{Name: "b", Metric: metric, Figure: want, Run: "r", Key: "k", Measure: true}); len(asked) != 1 || asked[0] != r {
			t.Errorf("%s: the store is asked %+v", metric, asked)
		}
	}
	ans, _ := attempt(t, ir.MetricTime, nil, "", "")
	if o, _ := ans.Output.(map[string]any); o["figure"] == nil || o["figure"].(float64) < 0 || o["baseline"] != nil {
		t.Errorf("time: %+v", ans)
	}
	if m := Median([]float64{4, 1, 3, 2}); m != 2.5 {
		t.Errorf("the median of four is %g", m)
	}
}

// A sample that fails or says no number fails the attempt, and the store is not asked.
func TestNoFigureIsAFailure(t *testing.T) {
	for _, texts := range [][]string{{"ops=1", "exit 1", "ops=1"}, {"ops=1", "fast"}, {"ops=NaN"}, {"ops=+Inf"}, {"ops="}, {"ops=1e400"}, {"rops=1"}, {"ops=1\nops=many"}} {
		if ans, asked := attempt(t, "ops", nil, texts...); ans.Outcome != event.Failed || ans.Error == nil || ans.Output != nil || len(asked) != 0 {
			t.Errorf("%q: %+v, asked %v", texts, ans, asked)
		}
	}
	if ans, _ := attempt(t, "ops", errors.New("the disk is full"), "ops=1"); ans.Outcome != event.Failed || ans.Error.Reason != event.ReasonStore {
		t.Errorf("without a store: %+v", ans)
	}
	if ans, _ := attempt(t, "ops", nil); fmt.Sprint(ans.Error) == "<nil>" || ans.Outcome != event.Failed {
		t.Errorf("without samples: %+v", ans)
	}
}

// The time limit of the gate is that of all samples together.
func TestTheTimeLimitIsOfAllSamples(t *testing.T) {
	left := []time.Duration{}
	next := executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		left = append(left, a.Timeout)
		for began := time.Now(); time.Since(began) == 0; { // until the clock moves
		}
		return event.AttemptFinished{Outcome: event.OK}
	})
	x := New(next, func(context.Context, event.StoreRequest) (value.Value, error) { return nil, nil })
	measure := func(limit time.Duration) event.AttemptFinished {
		left = nil
		return x.Execute(context.Background(), event.Attempt{Timeout: limit, Benchmark: &event.Benchmark{Samples: 3, Metric: ir.MetricTime, Baseline: "b"}})
	}
	if ans := measure(time.Hour); ans.Outcome != event.OK || len(left) != 3 || left[0] != time.Hour || left[1] >= left[0] || left[2] >= left[1] || left[2] <= 0 {
		t.Errorf("%v, %+v", left, ans)
	}
	if measure(0); len(left) != 3 || left[0]+left[1]+left[2] != 0 {
		t.Errorf("without a limit: %v", left)
	}
	if measure(1); len(left) != 3 || left[2] != 1 {
		t.Errorf("when the time is over: %v", left)
	}
}
