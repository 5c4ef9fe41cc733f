package compose

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Triggered computes the inputs of the run that a subscription starts for the data of an event. The composer is that of a run that has
// the variables alone. fits is false if the condition of the subscription does not hold. An error says why the event cannot start a run.
func (c *Composer) Triggered(on *ir.On, data value.Value) (inputs map[string]value.Value, fits bool, err error) {
	if on.Data != nil {
		if data, err = value.Convert(data, *on.Data); err != nil {
			return nil, false, fmt.Errorf("its data is not of the declared type: %w", err)
		}
	}
	sc := c.Constants()
	sc.Mode, sc.More = InMatch, data
	if on.When != nil {
		holds, err := c.Condition(on.When, sc)
		if err != nil {
			return nil, false, fmt.Errorf("when cannot be computed: %w", err)
		}
		if !holds {
			return nil, false, nil
		}
	}
	inputs, _, err = c.ChildInputs(&ir.Call{Workflow: on.Workflow, With: on.With}, sc)
	if err != nil {
		return nil, false, fmt.Errorf("with: %w", err)
	}
	return inputs, true, nil
}
