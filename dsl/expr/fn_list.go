package expr

import (
	"fmt"
	"math"
	"slices"
	"strings"

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

// find returns where v stands in the list, or -1.
func (r *run) find(list []any, v value.Value) (int, error) {
	for i, e := range list {
		same, err := r.equal(e, v)
		if same || err != nil {
			return i, err
		}
	}
	return -1, nil
}

// key is the canonical JSON of v, by which members are told apart.
func (r *run) key(v value.Value) (string, error) { return r.json(v) }

func (r *run) keySet(list []any) (map[string]bool, error) {
	set := make(map[string]bool, len(list))
	for _, e := range list {
		k, err := r.key(e)
		if err != nil {
			return nil, err
		}
		set[k] = true
	}
	return set, r.list(len(list))
}

func (r *run) distinct(list []any) (value.Value, error) {
	seen, out := map[string]bool{}, []any{}
	for _, e := range list {
		k, err := r.key(e)
		if err != nil {
			return nil, err
		}
		if !seen[k] {
			seen[k] = true
			out = append(out, e)
		}
	}
	return out, r.list(len(out))
}

// set sorts the members that keep holds for by their canonical JSON, as value.Convert does, and drops repeats.
func (r *run) set(list []any, keep func(key string) bool) (value.Value, error) {
	byKey := make(map[string]any, len(list))
	for _, e := range list {
		k, err := r.key(e)
		if err != nil {
			return nil, err
		}
		if keep == nil || keep(k) {
			byKey[k] = e
		}
	}
	out := make([]any, 0, len(byKey))
	for _, k := range value.Keys(byKey) {
		out = append(out, byKey[k])
	}
	return out, r.list(2 * len(out))
}

func (r *run) flatten(out, list []any) ([]any, error) {
	if err := r.list(len(list)); err != nil {
		return nil, err
	}
	for _, e := range list {
		inner, ok := e.([]any)
		if !ok {
			out = append(out, e)
			continue
		}
		var err error
		if out, err = r.flatten(out, inner); err != nil {
			return nil, err
		}
	}
	if len(out) > MaxRange {
		return nil, r.list(len(out))
	}
	return out, nil
}

// rangeList is range(end), range(start, end), range(start, end, step). It counts towards the end when no step is given.
func rangeList(r *run, a []value.Value) (value.Value, error) {
	start, end, step := 0.0, a[0].(float64), 1.0
	if len(a) > 1 {
		start, end = end, a[1].(float64)
	}
	if end < start {
		step = -1
	}
	if len(a) > 2 {
		step = a[2].(float64)
	}
	if step == 0 || (end-start)/step < 0 {
		return nil, fmt.Errorf("a step of %s never leads from %s to %s", textOf(step), textOf(start), textOf(end))
	}
	n := (end - start) / step
	if n > MaxRange {
		return nil, r.list(MaxRange + 1)
	}
	if err := r.list(int(math.Ceil(n))); err != nil {
		return nil, err
	}
	out := make([]any, 0, int(math.Ceil(n)))
	for i := 0; ; i++ {
		v := start + float64(i)*step
		if step > 0 && v >= end || step < 0 && v <= end {
			return out, nil
		}
		out = append(out, v)
	}
}

// sortList sorts strings by their bytes and numbers by size; a second argument "desc" turns it round.
func sortList(r *run, a []value.Value) (value.Value, error) {
	out := slices.Clone(a[0].([]any))
	if err := r.list(20 * len(out) / 4); err != nil {
		return nil, err
	}
	sign := 1
	if len(a) > 1 {
		switch strings.ToLower(a[1].(string)) {
		case "asc":
		case "desc":
			sign = -1
		default:
			return nil, fmt.Errorf("the order is %q; it can be \"asc\" or \"desc\"", shorten(a[1].(string)))
		}
	}
	var failed error
	slices.SortStableFunc(out, func(x, y any) int {
		c, err := compare(x, y)
		if err != nil {
			failed = err
		}
		return sign * c
	})
	if failed != nil {
		return nil, failed
	}
	return out, nil
}

// compare orders two numbers or two strings.
func compare(a, b value.Value) (int, error) {
	switch x := a.(type) {
	case float64:
		if y, ok := b.(float64); ok {
			switch {
			case x < y:
				return -1, nil
			case x > y:
				return 1, nil
			}
			return 0, nil
		}
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), nil
		}
	}
	return 0, fmt.Errorf("%s and %s have no order: two numbers or two strings are needed", describe(a), describe(b))
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
