package compose

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Triggered computes the inputs of the run that a subscription starts for the data of an event. The composer is that of a run that has
// the variables alone. fits is false if the condition of the subscription does not hold; data of another type than the declared one are no
// error then. An error says why the event cannot start a run.
func (c *Composer) Triggered(on *ir.On, data value.Value) (inputs map[string]value.Value, fits bool, err error) {
	var wrong error
	if on.Data != nil {
		converted, no := value.Convert(data, *on.Data)
		if no != nil { // the condition reads the data as they are: it may say that the event is not meant
			wrong = fmt.Errorf("its data is not of the declared type: %w", no)
		} else {
			data = converted
		}
	}
	sc := c.Constants()
	sc.Mode, sc.More = InMatch, data
	if on.When != nil {
		holds, err := c.Condition(on.When, sc)
		switch {
		case err != nil && wrong == nil:
			return nil, false, fmt.Errorf("when cannot be computed: %w", err)
		case err == nil && !holds:
			return nil, false, nil
		}
	}
	if wrong != nil {
		return nil, false, wrong
	}
	inputs, _, err = c.ChildInputs(&ir.Call{Workflow: on.Workflow, With: on.With}, sc)
	if err != nil {
		return nil, false, fmt.Errorf("with: %w", err)
	}
	return inputs, true, nil
}
