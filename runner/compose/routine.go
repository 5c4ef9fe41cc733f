package compose

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Scheduled computes the inputs of the run that a routine starts. The composer is that of a run that has the variables alone. An error
// says why the routine cannot start a run.
func (c *Composer) Scheduled(r *ir.Routine) (map[string]value.Value, error) {
	inputs, _, err := c.ChildInputs(&ir.Call{Workflow: r.Workflow, With: r.With}, c.Constants())
	if err != nil {
		return nil, fmt.Errorf("with: %w", err)
	}
	return inputs, nil
}

// RoutineGroup is the concurrency group of the runs of a routine whose workflow has none, and what a run does while another one is under
// way. The name is "" if the runs have no group.
func RoutineGroup(r *ir.Routine) (name string, busy ir.WhenBusy) {
	switch name = "routine:" + r.Name; r.Overlap {
	case ir.OverlapAllow:
		return "", ""
	case ir.OverlapQueue:
		return name, ir.WhenBusyQueue
	case ir.OverlapCancelPrevious:
		return name, ir.WhenBusyCancelPrevious
	case ir.OverlapSkip:
	case "":
		if r.Missed == ir.MissedAll { // all but the first would be skipped
			return name, ir.WhenBusyQueue
		}
	}
	return name, ir.WhenBusySkip
}
