package machine

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// The message of a benchmark that is too slow or too large has units. A run of an older behaviour keeps the bare numbers.
func TestFiguresHaveUnits(t *testing.T) {
	for _, tc := range []struct {
		metric           string
		figure, baseline float64
		rules            ir.Rules
		want             string
	}{
		{ir.MetricTime, .5, .125, ir.NewestRules(), `time is 0.5 s, and at most 0.1875 s passes: baseline "b" is 0.125 s, and the bound is 50% above it`},
		{ir.MetricMemory, 3 << 20, 1 << 20, ir.NewestRules(), `memory is 3 MiB, and at most 1.5 MiB passes: baseline "b" is 1 MiB, and the bound is 50% above it`},
		{"ops", 4, 2, ir.NewestRules(), `ops is 4, and at most 3 passes: baseline "b" is 2, and the bound is 50% above it`},
		{ir.MetricTime, .5, .125, ir.RulesOf(1), `time is 0.5, and at most 0.1875 passes: baseline "b" is 0.125, and the bound is 50% above it`},
	} {
		b := &ir.Benchmark{Baseline: "b", Metric: tc.metric, MaxRegression: .5}
		if got := judgeFigure(b, map[string]any{"figure": tc.figure, "baseline": tc.baseline}, &event.Evidence{}, tc.rules); got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
}
