package app

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/view"
)

// iteration matches the last part of the path of an iteration, as in build/i2.
var iteration = regexp.MustCompile(`^i[1-9][0-9]*$`)

// knownStep refuses a step that a workflow does not have. step is its name, or the path of an
// instance or iteration; "" means no step.
func knownStep(w *ir.Workflow, step string) error {
	if step == "" {
		return nil
	}
	names, name := w.StepNames(), view.Base(step)
	if up := view.Parent(step); up != "" && iteration.MatchString(name) {
		name = view.Base(up)
	}
	if slices.Contains(names, name) {
		return nil
	}
	return unknown(name, names, "Its steps are "+ui.First(names, 3), fmt.Sprintf("workflow %q has no step %q", w.Name, step))
}
