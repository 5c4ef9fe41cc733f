package expr

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// membersOf returns the scope if it gives single members of the name x, or nil.
func (r *run) membersOf(x node) (ir.Members, ir.Ref) {
	n, is := x.(*ref)
	if !is || r.heard != nil {
		return nil, ir.Ref{}
	}
	if s, is := r.scope.(ir.Members); is && s.HasMembers(n.ref) {
		return s, n.ref
	}
	return nil, ir.Ref{}
}

func (r *run) member(n *member) (value.Value, error) {
	if s, name := r.membersOf(n.x); s != nil {
		if v, ok := s.Member(name, n.name); ok {
			return v, r.fail(n.x.at(), r.work(1))
		}
	}
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
	if s, name := r.membersOf(n.x); s != nil { // the name itself cannot fail, so the key may come first
		key, err := r.eval(n.key)
		if err != nil {
			return nil, err
		}
		if v, ok := s.Member(name, key); ok {
			return v, r.fail(n.x.at(), r.work(1))
		}
		x, err := r.eval(n.x)
		if err != nil {
			return nil, err
		}
		return indexed(x, key)
	}
	x, err := r.eval(n.x)
	if err != nil {
		return nil, err
	}
	key, err := r.eval(n.key)
	if err != nil {
		return nil, err
	}
	return indexed(x, key)
}

// indexed returns x[key]. Null reads through.
func indexed(x, key value.Value) (value.Value, error) {
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
