package simulate

import (
	"context"
	"fmt"
	"math"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// Change is what the same runs come to, drawn in the same way, if one thing of the workflow is another.
type Change struct {
	What    string  `json:"what"` // in words, such as "9 slots in place of 8"
	Success float64 `json:"success"`
	Seconds Marks   `json:"seconds"`
	CostUSD Marks   `json:"cost_usd"`
}

// Changes simulates the runs of [Of] with one more slot, and with one retry less wherever the program has some. A number that depends on the
// values of a run, and not on the program alone, stays as it is, and a change that changes no number is left out.
func Changes(ctx context.Context, p *ir.Program, first event.RunStarted, secrets map[string]value.Value, s *Samples, runs int, seed uint64) (list []Change, err error) {
	add := func(what string, p *ir.Program, first event.RunStarted) error {
		r, err := Of(ctx, p, first, secrets, s, runs, seed)
		if err == nil {
			list = append(list, Change{What: what, Success: r.Success, Seconds: r.Seconds, CostUSD: r.CostUSD})
		}
		return err
	}
	if n := slots(p.Workflow(first.Workflow), first.Parallel); n > 0 {
		more := first
		more.Parallel = n + 1
		if err := add(fmt.Sprintf("%d slots in place of %d", n+1, n), p, more); err != nil {
			return nil, err
		}
	}
	fewer, changed, err := fewerRetries(p)
	if err == nil && changed {
		err = add("one retry less", fewer, first)
	}
	return list, err
}

// slots returns how many attempts of a run can be live at once; 0: only a run knows.
func slots(w *ir.Workflow, given int) int {
	switch {
	case given > 0:
		return given
	case w.MaxConcurrency == nil:
		return plan.DefaultConcurrency
	}
	n, _ := w.MaxConcurrency.Const.(float64)
	return int(math.Max(n, 0))
}

// fewerRetries copies a program, with one attempt less in each retry block that has more than one. It reports whether there is such a block.
func fewerRetries(p *ir.Program) (fewer *ir.Program, changed bool, err error) {
	fewer, err = ir.Load(p.Canonical())
	if err != nil {
		return nil, false, err
	}
	less := func(r *ir.Retry) {
		if r == nil || r.MaxAttempts == nil {
			return
		}
		if n, _ := r.MaxAttempts.Const.(float64); n > 1 {
			r.MaxAttempts, changed = ir.Lit(n-1, value.NumberType), true
		}
	}
	for i := range fewer.Agents {
		less(fewer.Agents[i].Retry)
	}
	for i := range fewer.Workflows {
		w := &fewer.Workflows[i]
		less(w.Retry)
		for n := range ir.All(w.Nodes) {
			less(n.Retry)
		}
		if w.Finally != nil {
			for n := range ir.All(w.Finally.Nodes) {
				less(n.Retry)
			}
		}
	}
	return fewer, changed, nil
}
