package expr

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/value"
)

// members calls f with the members of a list, or of a map in order of its keys.
func (r *run) members(v value.Value, f func(key, val value.Value) error) error {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			if err := f(float64(i), e); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		if err := r.list(len(v)); err != nil {
			return err
		}
		for _, k := range value.Keys(v) {
			if err := f(k, v[k]); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("a list or a map is needed, but this is %s", describe(v))
}

func (r *run) forEach(n *forEach) (value.Value, error) {
	coll, err := r.eval(n.coll)
	if err != nil {
		return nil, err
	}
	list, object := []any{}, map[string]any{}
	err = r.members(coll, func(key, val value.Value) error {
		if n.keySlot >= 0 {
			r.slots[n.keySlot] = key
		}
		r.slots[n.valSlot] = val
		if n.cond != nil {
			if keep, err := r.truth(n.cond); err != nil || !keep {
				return err
			}
		}
		if err := r.memory(32); err != nil {
			return err
		}
		if n.key == nil {
			v, err := r.eval(n.val)
			list = append(list, v)
			return err
		}
		return r.pair(n, object)
	})
	if err != nil {
		return nil, r.fail(n.coll.at(), err)
	}
	if n.key == nil {
		return list, nil
	}
	return object, nil
}

func (r *run) pair(n *forEach, object map[string]any) error {
	k, err := r.take(n.key, kString)
	if err != nil {
		return err
	}
	v, err := r.eval(n.val)
	if err != nil {
		return err
	}
	name := k.(string)
	before, twice := object[name]
	switch {
	case n.group:
		group, _ := before.([]any)
		object[name] = append(group, v)
	case twice:
		return r.fail(n.key.at(), fmt.Errorf("the key %q comes twice; write ... behind the value to keep a list of all", shorten(name)))
	default:
		object[name] = v
	}
	return nil
}

// splat computes each of the members of a list. Null has none; what is not a list is a list of itself.
func (r *run) splat(n *splat) (value.Value, error) {
	x, err := r.eval(n.x)
	if err != nil {
		return nil, err
	}
	list, ok := x.([]any)
	if !ok && x != nil {
		list = []any{x}
	}
	if err := r.list(len(list)); err != nil {
		return nil, err
	}
	out := make([]any, len(list))
	for i, e := range list {
		r.slots[n.slot] = e
		if out[i], err = r.eval(n.each); err != nil {
			return nil, err
		}
	}
	return out, nil
}
