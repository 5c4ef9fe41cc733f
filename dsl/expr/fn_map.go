package expr

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/value"
)

var mapFunctions = []function{
	{name: "keys", sig: "map", result: constant(value.List(value.StringType)), call: func(r *run, a []value.Value) (value.Value, error) {
		m := a[0].(map[string]any)
		out := make([]any, 0, len(m))
		for _, k := range value.Keys(m) {
			out = append(out, k)
		}
		return out, r.list(len(m))
	}},
	{name: "values", sig: "map", result: listLike(0), call: func(r *run, a []value.Value) (value.Value, error) {
		m := a[0].(map[string]any)
		out := make([]any, 0, len(m))
		for _, k := range value.Keys(m) {
			out = append(out, m[k])
		}
		return out, r.list(len(m))
	}},
	{name: "lookup", sig: "map string any!?", result: lookupType, call: func(r *run, a []value.Value) (value.Value, error) {
		if v, ok := a[0].(map[string]any)[a[1].(string)]; ok {
			return v, nil
		}
		if len(a) == 3 {
			return a[2], nil
		}
		return nil, fmt.Errorf("there is no key %q, and no default is given", shorten(a[1].(string)))
	}},
	{name: "merge", sig: "map!...", result: mergeType, call: func(r *run, a []value.Value) (value.Value, error) {
		out := map[string]any{}
		for _, v := range a {
			m, _ := v.(map[string]any)
			if err := r.list(len(m)); err != nil {
				return nil, err
			}
			for k, e := range m { // any order: it fills a map
				out[k] = e
			}
		}
		return out, nil
	}},
	{name: "zipmap", sig: "strings list", result: func(a []value.Type) value.Type { return value.Map(elemType(a[1])) }, call: func(r *run, a []value.Value) (value.Value, error) {
		keys, vals := a[0].([]any), a[1].([]any)
		if len(keys) != len(vals) {
			return nil, fmt.Errorf("%d keys for %d values", len(keys), len(vals))
		}
		out := make(map[string]any, len(keys))
		for i, k := range keys {
			out[k.(string)] = vals[i]
		}
		return out, r.list(len(keys))
	}},
	{name: "coalesce", sig: "any! any!...", result: coalesceType, call: func(r *run, a []value.Value) (value.Value, error) {
		for _, v := range a {
			if v != nil && v != "" {
				return v, nil
			}
		}
		return nil, fmt.Errorf("all %d arguments are null or empty", len(a))
	}},
	{name: "coalescelist", sig: "list! list!...", result: func(a []value.Type) value.Type { return unifyAll(a).NotNull() }, call: func(r *run, a []value.Value) (value.Value, error) {
		for _, v := range a {
			if list, _ := v.([]any); len(list) > 0 {
				return v, nil
			}
		}
		return nil, fmt.Errorf("all %d lists are null or empty", len(a))
	}},
}

func lookupType(a []value.Type) value.Type {
	if len(a) < 3 {
		return elemType(a[0])
	}
	return unify(elemType(a[0]), a[2])
}

// mergeType knows the attributes where all arguments are objects; else it is a map of what all of them hold.
func mergeType(a []value.Type) value.Type {
	attrs := map[string]value.Type{}
	for _, t := range a {
		if t.Kind != value.ObjectT || t.Nullable {
			elems := make([]value.Type, len(a))
			for i := range a {
				elems[i] = elemType(a[i])
			}
			return value.Map(unifyAll(elems))
		}
		for n, at := range t.Attrs { // any order: it fills an object
			if before, ok := attrs[n]; ok && at.Optional {
				at = unify(before, at)
			}
			attrs[n] = at
		}
	}
	return value.Object(attrs)
}

// coalesceType is not null: where all arguments are, the call fails, and says so.
func coalesceType(a []value.Type) value.Type { return unifyAll(a).NotNull() }
