package expr

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
)

func (r *run) member(n *member) (value.Value, error) {
	x, err := r.eval(n.x)
	if err != nil {
		return nil, err
	}
	switch x := x.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return x[n.name], nil
	}
	return nil, fmt.Errorf("%s has no attribute %q", describe(x), shorten(n.name))
}

func (r *run) index(n *index) (value.Value, error) {
	x, err := r.eval(n.x)
	if err != nil {
		return nil, err
	}
	key, err := r.eval(n.key)
	if err != nil {
		return nil, err
	}
	switch x := x.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		name, err := kString.take(key)
		if err != nil {
			return nil, fmt.Errorf("the key of a map: %w", err)
		}
		return x[name.(string)], nil
	case []any:
		i, err := kWhole.take(key)
		if err != nil {
			return nil, fmt.Errorf("the index of a list: %w", err)
		}
		f, size := i.(float64), float64(len(x))
		if f < 0 {
			f += size
		}
		if f < 0 || f >= size {
			return nil, fmt.Errorf("the index %s of a list of %d", textOf(i), len(x))
		}
		return x[int(f)], nil
	}
	return nil, fmt.Errorf("%s has no members", describe(x))
}

// slice is x[from:to] of a list or a string, with ends beyond it moved to it, as expr-lang does.
func (r *run) slice(n *slice) (value.Value, error) {
	x, err := r.eval(n.x)
	if x == nil || err != nil {
		return nil, err
	}
	size := 0
	switch x := x.(type) {
	case []any:
		size = len(x)
	case string:
		size = len(x)
	default:
		return nil, fmt.Errorf("%s has no slices", describe(x))
	}
	end := func(n node, otherwise int) (int, error) {
		if n == nil {
			return otherwise, nil
		}
		v, err := r.take(n, kWhole)
		if err != nil {
			return 0, err
		}
		f := v.(float64)
		if f < 0 {
			f += float64(size)
		}
		return int(max(0, min(f, float64(size)))), nil
	}
	from, err := end(n.from, 0)
	if err != nil {
		return nil, err
	}
	to, err := end(n.to, size)
	if err != nil {
		return nil, err
	}
	from = min(from, to)
	if list, ok := x.([]any); ok {
		return list[from:to:to], nil
	}
	return strings.ToValidUTF8(x.(string)[from:to], "\uFFFD"), nil
}
