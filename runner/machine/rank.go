package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/plan"
)

// Bounds of a priority.
const (
	LeastPriority = -1000
	MostPriority  = 1000
)

// ranks are the priorities that have names.
var ranks = map[string]int16{"low": -10, "normal": 0, "high": 10, "critical": 20}

// takeRank computes a node's priority, once, if it has any.
func (m *Machine) takeRank(r ref) error {
	if m.node(r).Ranked == plan.None {
		return nil
	}
	rank, err := m.rank(r)
	m.rare(r).rank = rank
	return err
}

// rank is the priority of a node: its own, or that of the nearest group around that has one.
func (m *Machine) rank(r ref) (int16, error) {
	at, ranked := r, m.node(r).Ranked
	for at.node != ranked {
		at = m.parent(at)
	}
	v, err := m.eval.Eval(m.node(at).Priority, m.scope(at))
	if err != nil {
		return 0, err
	}
	if name, ok := v.(string); ok {
		if rank, known := ranks[name]; known {
			return rank, nil
		}
	}
	f, ok := v.(float64)
	if !ok || f < LeastPriority || f > MostPriority || f != float64(int16(f)) {
		return 0, fmt.Errorf("low, normal, high, critical or a whole number from %d to %d is needed, but this is %.60s",
			LeastPriority, MostPriority, value.Text(v))
	}
	return int16(f), nil
}
