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
func judgeFigure(b *ir.Benchmark, output value.Value, e *event.Evidence) (said string) {
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
	return fmt.Sprintf("%s is %.4g, and at most %.4g passes: baseline %q is %.4g, and the bound is %.4g%% above it", b.Metric, median, f.Most, b.Baseline, baseline, float64(b.MaxRegression*100))
}
