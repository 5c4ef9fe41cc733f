package machine

import (
	"fmt"
	"strconv"

	"github.com/flowrun/flowrun/dsl/value"
)

// expandForEach evaluates for_each and starts to make instances.
func (m *Machine) expandForEach(r ref) {
	n, d, s := m.node(r), m.liveState(r), m.state(r)
	v, err := m.eval.Eval(n.ForEach, m.newScope(r))
	if err == nil {
		d.items, d.keyed, err = listItems(v, n.ForEach.Type.Kind == value.SetT)
	}
	if err != nil {
		m.failNode(r, evaluationError("for_each", err))
		return
	}
	if !m.ensureNodeLimiter(r) || !m.openJoin(r) {
		return
	}
	s.open, d.remaining, d.total = true, len(d.items), len(d.items)
	if d.remaining == 0 {
		m.agenda.push(task{do: doCollect, ref: r})
		return
	}
	d.frames = make([]*frame, 0, len(d.items))
	m.agenda.push(task{do: doSpawn, ref: r})
}

// listItems lists the items of a for_each: a list by index, a set by its strings, a map by its
// keys in order.
func listItems(v value.Value, set bool) (list []item, keyed bool, err error) {
	keyed = set
	switch v := v.(type) {
	case []any:
		list = make([]item, len(v))
		for i, e := range v {
			list[i] = item{strconv.Itoa(i), e}
			if set {
				key, ok := e.(string)
				if !ok {
					return nil, false, fmt.Errorf("a set of strings is needed, but member %d is %s", i, value.Text(e))
				}
				list[i].key = key
			}
		}
	case map[string]any:
		keyed = true
		list = make([]item, 0, len(v))
		for _, k := range value.Keys(v) {
			list = append(list, item{k, v[k]})
		}
	default:
		return nil, false, fmt.Errorf("a list, a set of strings or a map is needed, but this is %.60s", value.Text(v))
	}
	if len(list) > MaxInstances {
		return nil, false, fmt.Errorf("%d instances are more than the limit of %d", len(list), MaxInstances)
	}
	return list, keyed, nil
}

// makeInstance makes the next instance.
func (m *Machine) makeInstance(t task) {
	s := m.state(t.ref)
	d := s.liveState
	if s.status.Terminal() && !(d.join != nil && d.join.detached) || len(d.frames) == len(d.items) {
		return
	}
	at := len(d.frames)
	f := m.newFrame(&frame{region: m.node(t.ref).Body, up: t.ref.frame, key: d.items[at].key, index: at, each: d.items[at].each})
	d.frames = append(d.frames, f)
	m.noteDependency(ref{f, t.ref.node}, released)
	m.agenda.push(t)
}
