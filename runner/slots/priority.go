package slots

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

// Bounds of a priority.
const (
	LeastPriority = -1000
)

// priorities are those that have names.
var priorities = map[string]int16{"low": -10, "normal": 0, "high": 10, "critical": 20}

// Priority converts a priority in a file to its number. A priority is a name, or a whole number
// from LeastPriority to limits.MaxPriority.
func Priority(v value.Value) (int16, error) {
	if name, ok := v.(string); ok {
		if p, known := priorities[name]; known {
			return p, nil
		}
	}
	f, ok := v.(float64)
	if !ok || f < LeastPriority || f > limits.MaxPriority || f != float64(int16(f)) {
		return 0, fmt.Errorf("low, normal, high, critical or a whole number from %d to %d is needed, but this is %.60s",
			LeastPriority, limits.MaxPriority, value.Text(v))
	}
	return int16(f), nil
}
