package machine

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// readOwnResult returns an attribute of the node's own result, for modes that have one.
func (s *scope) readOwnResult(attr string) (value.Value, error) {
	m := s.m
	switch {
	case s.mode == plainly:
		return nil, nil
	case s.mode == ended:
		return m.readAttribute(s.ref, attr)
	case attr == "":
		o := make(map[string]any, len(attributes))
		for _, a := range attributes {
			v, err := s.readOwnResult(a)
			if err != nil {
				return nil, err
			}
			o[a] = v
		}
		return o, nil
	case attr == "output" && s.mode == joins:
		return m.gatherSoFar(s.ref), nil
	case attr == "output":
		return m.liveState(s.ref).output, nil
	case attr == "status" && s.mode == gates:
		return string(event.Succeeded), nil
	}
	return m.readAttribute(s.ref, attr)
}

// countSoFar counts the ends of a node's children or instances, as a join sees them.
func (m *Machine) countSoFar(r ref) map[string]any {
	d := m.liveState(r)
	t := &d.tally
	return map[string]any{
		"total": float64(d.total), "done": float64(d.total - d.remaining), "succeeded": float64(t.succeeded),
		"failed": float64(t.failed + t.blocked + t.cancelled), "skipped": float64(t.skipped),
	}
}

// readLast reads a node of the previous iteration, in the nearest repeat that contains the node or
// is the node. In the first iteration the value is null.
func (m *Machine) readLast(f *frame, r ir.Ref) (value.Value, error) {
	number := m.graph.Number(r.Name)
	if number == plan.None {
		return nil, nil
	}
	n := &m.graph.Nodes[number]
	for ; f != nil; f = f.up {
		if f.iteration == 0 || f.region != n.Region && f.region != n.Loop {
			continue
		}
		if f.last == nil {
			return nil, nil
		}
		return m.readAttribute(ref{f.last, number}, r.Attr)
	}
	return nil, nil
}

// iterationNumber returns the number of the nearest iteration around a frame, from 1.
func iterationNumber(f *frame) value.Value {
	for ; f != nil; f = f.up {
		if f.iteration > 0 {
			return float64(f.iteration)
		}
	}
	return nil
}
