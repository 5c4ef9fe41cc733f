package machine

import (
	"fmt"
	"math"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// judgeFigure compares what a benchmark has measured with the baseline that came with it. said is "" if it passes: nothing but a number
// within the bound does, or the first figure of a baseline.
func judgeFigure(b *ir.Benchmark, output value.Value, e *event.Evidence, rules ir.Rules) (said string) {
	o, _ := output.(map[string]value.Value)
	median, ok := o["figure"].(float64)
	if !ok || math.IsNaN(median) || math.IsInf(median, 0) {
		return "it has no figure"
	}
	f := &event.Figure{Name: b.Baseline, Metric: b.Metric, Median: median}
	samples, _ := o["samples"].([]value.Value)
	for _, s := range samples {
		if n, ok := s.(float64); ok {
			f.Samples = append(f.Samples, n)
		}
	}
	e.Figure = f
	if o["baseline"] == nil {
		return ""
	}
	baseline, ok := o["baseline"].(float64)
	if !ok {
		return "its baseline is not a number"
	}
	f.Baseline, f.Most = &baseline, baseline+float64(math.Abs(baseline)*b.MaxRegression)
	if median <= f.Most {
		return ""
	}
	metric := "" // without units
	if rules[ir.FiguresHaveUnits] {
		metric = b.Metric
	}
	text := func(figure float64) string { return event.MeasuredText(metric, figure, 4) }
	return fmt.Sprintf("%s is %s, and at most %s passes: baseline %q is %s, and the bound is %.4g%% above it", b.Metric, text(median), text(f.Most), b.Baseline, text(baseline), float64(b.MaxRegression*100))
}
