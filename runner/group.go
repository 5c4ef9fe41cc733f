package runner

import (
	"bytes"
	"fmt"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// Group gives the group of a run that is about to start: the zero value where its workflow has none. Runs that a routine starts have that
// of the routine where their workflow has none.
func (c *Programs) Group(definition []byte, first event.RunStarted) (engine.Group, error) {
	routine := first.Cause != nil && first.Cause.Kind == event.CauseRoutine
	if !routine && !bytes.Contains(definition, []byte(`"concurrency":{"group":`)) { // so that a large program without a group is not loaded for this
		return engine.Group{}, nil
	}
	p, err := c.Load("", definition)
	if err != nil {
		return engine.Group{}, err
	}
	w := p.Workflow(first.Workflow)
	if w == nil {
		return engine.Group{}, nil
	}
	if w.Concurrency == nil {
		if r := p.Program.Routine(first.CauseOf().Name); routine && r != nil {
			name, busy := compose.RoutineGroup(r)
			return engine.Group{Name: name, WhenBusy: engine.WhenBusy(busy)}, nil
		}
		return engine.Group{}, nil
	}
	g, err := p.Graph(w.Name)
	if err != nil {
		return engine.Group{}, err
	}
	name, err := compose.New(g, expr.NewEvaluator(ir.NewestRules(), p.Files), &first).GroupName()
	if err != nil {
		return engine.Group{}, fmt.Errorf("the concurrency group of workflow %q: %w", w.Name, err)
	}
	return engine.Group{Name: name, WhenBusy: engine.WhenBusy(w.Concurrency.WhenBusy)}, nil
}
