package expr

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/value"
)

var listFunctions = []function{
	{name: "length", sig: "sized", result: constant(value.IntType), call: func(r *run, a []value.Value) (value.Value, error) {
		switch v := a[0].(type) {
		case string:
			return float64(len([]rune(v))), nil
		case []any:
			return float64(len(v)), nil
		}
		return float64(len(a[0].(map[string]any))), nil
	}},
	{name: "contains", sig: "list any!", result: constant(value.BoolType), call: func(r *run, a []value.Value) (value.Value, error) {
		i, err := r.find(a[0].([]any), a[1])
		return i >= 0, err
	}},
	{name: "index", sig: "list any!", result: constant(value.IntType), call: func(r *run, a []value.Value) (value.Value, error) {
		i, err := r.find(a[0].([]any), a[1])
		if err == nil && i < 0 {
			err = fmt.Errorf("%s is not in the list", describe(a[1]))
		}
		return float64(i), err
	}},
	{name: "concat", sig: "list...", result: concatType, call: func(r *run, a []value.Value) (value.Value, error) {
		out := []any{}
		for _, l := range a {
			if err := r.list(len(l.([]any))); err != nil {
				return nil, err
			}
			out = append(out, l.([]any)...)
		}
		return out, r.list(len(out))
	}},
	{name: "distinct", sig: "list", result: listLike(0), call: func(r *run, a []value.Value) (value.Value, error) { return r.distinct(a[0].([]any)) }},
	{name: "element", sig: "list index", result: memberOf(0), call: func(r *run, a []value.Value) (value.Value, error) {
		list := a[0].([]any)
		if len(list) == 0 {
			return nil, fmt.Errorf("the list is empty")
		}
		i := int(a[1].(float64)) % len(list)
		if i < 0 {
			i += len(list)
		}
		return list[i], nil
	}},
	{name: "flatten", sig: "list", result: constant(value.List(value.AnyType)), call: func(r *run, a []value.Value) (value.Value, error) {
		out, err := r.flatten(nil, a[0].([]any))
		if out == nil {
			out = []any{}
		}
		return out, err
	}},
	{name: "range", sig: "number number? number?", result: constant(value.List(value.NumberType)), call: rangeList},
	{name: "reverse", sig: "list", result: listLike(0), call: func(r *run, a []value.Value) (value.Value, error) {
		out := slices.Clone(a[0].([]any))
		slices.Reverse(out)
		return out, r.list(len(out))
	}},
	{name: "slice", sig: "list index index", result: listLike(0), call: func(r *run, a []value.Value) (value.Value, error) {
		list, from, to := a[0].([]any), a[1].(float64), a[2].(float64)
		if from < 0 || to < from || to > float64(len(list)) {
			return nil, fmt.Errorf("a slice from %s to %s of a list of %d", textOf(from), textOf(to), len(list))
		}
		return list[int(from):int(to):int(to)], nil
	}},
	{name: "sort", sig: "list string?", result: listLike(0), call: sortList},
	{name: "compact", sig: "list", result: listLike(0), call: func(r *run, a []value.Value) (value.Value, error) {
		out := []any{}
		for _, e := range a[0].([]any) {
			if e != nil && e != "" {
				out = append(out, e)
			}
		}
		return out, r.list(len(out))
	}},
	{name: "one", sig: "list", result: func(a []value.Type) value.Type { return memberOf(0)(a).OrNull() }, call: func(r *run, a []value.Value) (value.Value, error) {
		switch list := a[0].([]any); len(list) {
		case 0:
			return nil, nil
		case 1:
			return list[0], nil
		default:
			return nil, fmt.Errorf("the list has %d members; none or one is needed", len(list))
		}
	}},
	{name: "first", sig: "list", result: func(a []value.Type) value.Type { return memberOf(0)(a).OrNull() }, call: func(r *run, a []value.Value) (value.Value, error) {
		if list := a[0].([]any); len(list) > 0 {
			return list[0], nil
		}
		return nil, nil
	}},
	{name: "last", sig: "list", result: func(a []value.Type) value.Type { return memberOf(0)(a).OrNull() }, call: func(r *run, a []value.Value) (value.Value, error) {
		if list := a[0].([]any); len(list) > 0 {
			return list[len(list)-1], nil
		}
		return nil, nil
	}},
	{name: "take", sig: "list index", result: listLike(0), call: func(r *run, a []value.Value) (value.Value, error) {
		list, n := a[0].([]any), a[1].(float64)
		if n < 0 {
			return nil, fmt.Errorf("%s members cannot be taken", textOf(n))
		}
		end := int(min(n, float64(len(list))))
		return list[:end:end], nil
	}},
	{name: "chunklist", sig: "list index", result: func(a []value.Type) value.Type { return value.List(listLike(0)(a)) }, call: func(r *run, a []value.Value) (value.Value, error) {
		list, n := a[0].([]any), int(a[1].(float64))
		if n < 1 {
			return nil, fmt.Errorf("chunks of %d members", n)
		}
		out := []any{}
		for chunk := range slices.Chunk(list, n) {
			out = append(out, chunk)
		}
		return out, r.list(len(out))
	}},
	{name: "alltrue", sig: "list", result: constant(value.BoolType), call: func(r *run, a []value.Value) (value.Value, error) {
		return !slices.ContainsFunc(a[0].([]any), func(e any) bool { return e != true }), nil
	}},
	{name: "anytrue", sig: "list", result: constant(value.BoolType), call: func(r *run, a []value.Value) (value.Value, error) {
		return slices.ContainsFunc(a[0].([]any), func(e any) bool { return e == true }), nil
	}},
	{name: "setunion", sig: "list list...", result: setLike, call: func(r *run, a []value.Value) (value.Value, error) {
		var all []any
		for _, l := range a {
			if err := r.list(len(l.([]any))); err != nil {
				return nil, err
			}
			all = append(all, l.([]any)...)
		}
		return r.set(all, nil)
	}},
	{name: "setintersection", sig: "list list...", result: setLike, call: func(r *run, a []value.Value) (value.Value, error) {
		out := a[0]
		for _, l := range a[1:] {
			has, err := r.keySet(l.([]any))
			if err != nil {
				return nil, err
			}
			if out, err = r.set(out.([]any), func(k string) bool { return has[k] }); err != nil {
				return nil, err
			}
		}
		return r.set(out.([]any), nil)
	}},
	{name: "setsubtract", sig: "list list", result: setLike, call: func(r *run, a []value.Value) (value.Value, error) {
		has, err := r.keySet(a[1].([]any))
		if err != nil {
			return nil, err
		}
		return r.set(a[0].([]any), func(k string) bool { return !has[k] })
	}},
}

func elemType(t value.Type) value.Type {
	switch t.Kind {
	case value.ListT, value.SetT, value.MapT:
		return *t.Elem
	case value.TupleT:
		return unifyAll(t.Elems)
	case value.ObjectT:
		all := make([]value.Type, 0, len(t.Attrs))
		for _, n := range t.Names() {
			a := t.Attrs[n]
			if a.Optional {
				a = a.OrNull()
			}
			all = append(all, a)
		}
		return unifyAll(all)
	}
	return value.AnyType
}

func memberOf(i int) func([]value.Type) value.Type {
	return func(a []value.Type) value.Type {
		if i < len(a) {
			return elemType(a[i])
		}
		return value.AnyType
	}
}

func concatType(a []value.Type) value.Type {
	elems := make([]value.Type, len(a))
	for i, t := range a {
		elems[i] = elemType(t)
	}
	return value.List(unifyAll(elems))
}

func setLike(a []value.Type) value.Type {
	t := concatType(a)
	t.Kind = value.SetT
	return t
}
