package machine

import (
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// readAttribute returns one attribute of a node's result, or the whole object if attr is empty.
// Most attributes of a node without a result are null.
func (m *Machine) readAttribute(r ref, attr string) (value.Value, error) {
	s := m.state(r)
	d := s.liveState
	if attr == "" {
		o := make(map[string]any, len(attributes))
		for _, a := range attributes {
			v, err := m.readAttribute(r, a)
			if err != nil {
				return nil, err
			}
			o[a] = v
		}
		return o, nil
	}
	if !s.status.Terminal() && attr == "status" {
		return string(event.Running), nil // a rule let a node start before this one ended
	}
	if attr == "status" {
		return string(s.status), nil
	}
	if d == nil {
		switch attr {
		case "exit_code":
			return -1.0, nil
		case "attempts", "duration":
			return 0.0, nil
		}
		return nil, nil
	}
	switch attr {
	case "output":
		return m.outputOf(r), nil
	case "exit_code":
		return float64(d.exit), nil
	case "stdout":
		return m.streamValue(r, d.streams.stdout), nil
	case "stderr":
		return m.streamValue(r, d.streams.stderr), nil
	case "error":
		return objectOrNull(errorObject(d.err)), nil
	case "attempts":
		return float64(d.attempts), nil
	case "duration":
		switch {
		case d.started == 0:
			return 0.0, nil
		case d.finished == 0:
			return m.now.Sub(d.started).Seconds(), nil
		}
		return d.finished.Sub(d.started).Seconds(), nil
	case "started_at":
		return timeValue(d.started), nil
	case "finished_at":
		return timeValue(d.finished), nil
	case "agent":
		if d.agent == "" {
			return nil, nil
		}
		return d.agent, nil
	case "instances":
		return m.instancesValue(r), nil
	case "counts":
		return m.countsValue(r), nil
	case "winner":
		if d.groupState != nil && d.winnerName() != "" {
			return d.winnerName(), nil
		}
	case "iterations":
		if d.groupState != nil && d.loop != nil {
			return float64(d.loop.count), nil
		}
	}
	return nil, nil
}

// attributes are those of every result object.
var attributes = []string{"output", "status", "exit_code", "stdout", "stderr", "error", "attempts", "duration", "started_at",
	"finished_at", "agent", "instances", "counts", "winner", "iterations"}

// streamValue returns a stream; null for a node that ran nothing and printed nothing.
func (m *Machine) streamValue(r ref, s string) value.Value {
	switch m.node(r).Action.(type) {
	case *ir.Run, *ir.AgentTask:
		return s
	}
	if s == "" {
		return nil
	}
	return s
}

func (m *Machine) instancesValue(r ref) value.Value {
	s := m.state(r)
	if !m.isCollector(r) || !s.open {
		return nil
	}
	if v := m.instanceSeen.find(r); v != nil {
		return v
	}
	v := m.listInstances(r, s.liveState)
	if s.status.Terminal() && m.instancesEnded(r, s.liveState) {
		m.instanceSeen.add(r, v)
	}
	return v
}

// instanceLists caches the lists of instances that expressions read last as a whole. Each list
// belongs to a for_each whose instances have all ended. Few programs need a list, because reading
// one instance needs none.
type instanceLists struct {
	of   [8]ref
	list [8]value.Value
	next int
}

func (l *instanceLists) find(r ref) value.Value {
	for i := range l.of {
		if l.of[i] == r {
			return l.list[i]
		}
	}
	return nil
}

func (l *instanceLists) add(r ref, v value.Value) {
	l.of[l.next], l.list[l.next] = r, v
	l.next = (l.next + 1) % len(l.of)
}

// instancesEnded reports whether all instances were made and have ended. The losers of a join may
// go on after the for_each.
func (m *Machine) instancesEnded(r ref, d *liveState) bool {
	return len(d.frames) == len(d.items) &&
		!slices.ContainsFunc(d.frames, func(f *frame) bool { return !m.state(ref{f, r.node}).status.Terminal() })
}

func (m *Machine) listInstances(r ref, d *liveState) value.Value {
	list, byKey := make([]any, len(d.frames)), make(map[string]any, len(d.frames))
	for i, f := range d.frames {
		o, _ := m.readAttribute(ref{f, r.node}, "")
		list[i], byKey[f.key] = o, o
	}
	if d.keyed {
		return byKey
	}
	return list
}

func (m *Machine) countsValue(r ref) value.Value {
	if !m.isCollector(r) {
		return nil
	}
	all := m.countSoFar(r)
	delete(all, "done")
	return all
}

func timeValue(t event.Time) value.Value {
	if t == 0 {
		return nil
	}
	return t.String()
}

func objectOrNull(o map[string]any) value.Value {
	if o == nil {
		return nil
	}
	return o
}

// errorObject returns an error as expressions see it. A field that does not apply is null.
func errorObject(e *event.Error) map[string]any {
	if e == nil {
		return nil
	}
	o := map[string]any{
		"kind": string(e.Kind), "reason": string(e.Reason), "message": e.Message, "exit_code": float64(e.ExitCode), "attempt": nil,
		"status": nil, "signal": nil, "gate": nil, "node": nil, "retry_after": nil,
	}
	if e.Attempt != 0 {
		o["attempt"] = float64(e.Attempt)
	}
	if e.Status != 0 {
		o["status"] = float64(e.Status)
	}
	if e.RetryAfter != 0 {
		o["retry_after"] = e.RetryAfter
	}
	for k, v := range map[string]string{"signal": e.Signal, "gate": e.Gate, "node": e.Node} { // any order: it fills an object
		if v != "" {
			o[k] = v
		}
	}
	return o
}
