package compose

import (
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

// GroupName evaluates the text that names the group of the run; "" if its workflow has none. The text can read the values that the run has
// when it starts.
func (c *Composer) GroupName() (string, error) {
	group := c.graph.Workflow.Concurrency
	if group == nil {
		return "", nil
	}
	v, err := c.Value(&group.Group, c.Constants())
	if err != nil {
		return "", err
	}
	name, ok := v.(string)
	switch {
	case !ok:
		return "", fmt.Errorf("a text is needed, but this is %.60s", value.Text(v))
	case name == "":
		return "", errors.New("the text is empty")
	case len(name) > limits.MaxGroupName:
		return "", fmt.Errorf("the text has %d bytes; it may have %d", len(name), limits.MaxGroupName)
	}
	return name, nil
}
