// Package benchmark carries out attempts that measure a program.
//
// The program runs as often as the attempt asks for, one run after the other, by the executor of programs. What a run takes, uses or
// prints is a sample; the median is the figure. The store answers with the baseline of the name, or keeps the figure as the first one.
//
// The package knows no machine, no engine and no journal. Enter at [New]; hosts with another clock use [Finish].
package benchmark

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Ask carries out a request of the store; see engine.Sharer.
type Ask func(ctx context.Context, r event.StoreRequest) (value.Value, error)

// Executor measures programs. It is safe for concurrent use.
type Executor struct {
	next executor.Executor
	ask  Ask
}

// New makes an Executor that has programs carried out by another one.
func New(next executor.Executor, ask Ask) *Executor { return &Executor{next, ask} }

// Execute takes the samples of one benchmark. The answer is that of the last run of the program, or of the first one that fails.
func (x *Executor) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	var ans event.AttemptFinished
	var samples []float64
	began, first := event.Time(0), time.Now()
	for i := range a.Benchmark.Samples {
		program := a
		program.Kind, program.Benchmark = event.RunAttempt, nil
		if a.Timeout > 0 && i > 0 { // 0 would be no limit: a program whose time is over has the shortest one
			program.Timeout = max(a.Timeout-time.Since(first), 1)
		}
		peak := int64(0)
		start := time.Now()
		ans = x.next.Execute(executor.WithPeak(ctx, &peak), program)
		took := time.Since(start)
		if began == 0 {
			began = ans.StartedAt
		}
		if ans.StartedAt = began; ans.Outcome != event.OK {
			return ans
		}
		figure, err := sample(a.Benchmark.Metric, took, peak, ans.Stdout)
		if err != nil {
			executor.Fail(&ans, failure(err))
			return ans
		}
		samples = append(samples, figure)
	}
	Finish(ctx, x.ask, &a, &ans, samples)
	return ans
}

// Finish gives the answer of a benchmark with these samples its figure and its baseline.
func Finish(ctx context.Context, ask Ask, a *event.Attempt, ans *event.AttemptFinished, samples []float64) {
	if len(samples) == 0 {
		executor.Fail(ans, failure(fmt.Errorf("there is no sample of %s", a.Benchmark.Metric)))
		return
	}
	figure := Median(samples)
	v, err := ask(ctx, event.StoreRequest{Baseline: &event.BaselineRequest{Name: a.Benchmark.Baseline, Metric: a.Benchmark.Metric, Figure: figure,
		Run: a.Run, Key: a.Key, Measure: true}})
	if err != nil {
		executor.Fail(ans, &event.Error{Kind: event.Blocking, Reason: event.ReasonStore, ExitCode: -1, Message: err.Error()})
		return
	}
	list := make([]value.Value, len(samples))
	for i, s := range samples {
		list[i] = s
	}
	out := map[string]value.Value{"figure": figure, "samples": list, "baseline": nil}
	if o, ok := v.(map[string]value.Value); ok {
		out["baseline"] = o["figure"]
	}
	ans.Output = out
}

// Median is the middle of the samples, or the mean of the two in the middle. There is at least one.
func Median(samples []float64) float64 {
	s := slices.Sorted(slices.Values(samples))
	return float64((s[(len(s)-1)/2] + s[len(s)/2]) / 2)
}

// sample is the figure of one run of a program.
func sample(metric string, took time.Duration, peak int64, stdout string) (float64, error) {
	switch metric {
	case ir.MetricTime:
		return took.Seconds(), nil
	case ir.MetricMemory:
		if peak == 0 {
			return 0, fmt.Errorf("this system does not say how much memory a program used")
		}
		return float64(peak), nil
	}
	found, last := false, ""
	for line := range strings.Lines(stdout) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), metric+"="); ok {
			found, last = true, strings.TrimSpace(text)
		}
	}
	if !found {
		return 0, fmt.Errorf("the program prints no line %s=number", metric)
	}
	n, err := strconv.ParseFloat(last, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, fmt.Errorf("the program prints %s=%.40s, which is not a number", metric, last)
	}
	return n, nil
}

func failure(err error) *event.Error {
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonBadOutput, ExitCode: -1, Message: err.Error()}
}
