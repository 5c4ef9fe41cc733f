package forecast

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/durations"
	"github.com/flowrun/flowrun/runner/plan"
)

// Where a clock was set while steps ran, they seem to have taken half a century each. No sum of such may run over.
func TestForecastOfCenturies(t *testing.T) {
	const century = 100 * 365 * 24 * 3600
	for steps, rehearsed := range map[int]bool{1: true, 2: true, 3: false, 6: false, 20: false} {
		var b strings.Builder
		b.WriteString("workflow \"w\" {\n")
		x := durations.Expected{US: map[string]int64{}}
		for i := range steps {
			fmt.Fprintf(&b, "step \"s%d\" {\nrun = [\"true\"]\ndepends_on = [", i)
			if i > 0 {
				fmt.Fprintf(&b, "step.s%d", i-1)
			}
			b.WriteString("]\n}\n")
			x.US[fmt.Sprint("s", i)] = math.MaxInt32 * 1e6 // as long as history has it
		}
		f := Of(graph(t, b.String()+"}"), literals, x, 1, 0)
		if (f.Seconds != nil) != rehearsed || f.Seconds != nil && (*f.Seconds < century/2 || *f.Seconds > 3*century) {
			t.Errorf("%d steps: %+v", steps, f)
		}
		if want := min(float64(steps)*math.MaxInt32, plan.MaxLeft/1e6); math.Abs(f.ChainSeconds-want) > 1 {
			t.Errorf("a chain of %d steps takes %g s, want %g", steps, f.ChainSeconds, want)
		}
	}
}
