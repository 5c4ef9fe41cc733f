package expr

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/value"
)

// predicate is expr-lang's builtins over a list.
func (r *run) predicate(n *predicate) (value.Value, error) {
	coll, err := r.take(n.coll, kList)
	if err != nil {
		return nil, err
	}
	list := coll.([]any)
	at := func(i int) node { r.slots[n.item], r.slots[n.index] = list[i], float64(i); return n.body }
	switch n.name {
	case "reduce":
		return r.reduce(n, list, at)
	case "map", "sum", "groupBy", "sortBy":
		return r.each(n, list, at)
	}
	var found []int
	from, step := 0, 1
	if n.name == "findLast" || n.name == "findLastIndex" {
		from, step = len(list)-1, -1
	}
	for i := from; i >= 0 && i < len(list); i += step {
		holds, err := r.truth(at(i))
		if err != nil {
			return nil, err
		}
		switch {
		case n.name == "all" && !holds:
			return false, nil
		case n.name == "any" && holds:
			return true, nil
		case n.name == "none" && holds:
			return false, nil
		}
		if holds {
			found = append(found, i)
			if step < 0 || n.name == "find" || n.name == "findIndex" {
				break
			}
		}
	}
	return n.found(list, found), r.list(len(found))
}

func (n *predicate) found(list []any, at []int) value.Value {
	switch n.name {
	case "all", "none":
		return true
	case "any":
		return false
	case "one":
		return len(at) == 1
	case "count":
		return float64(len(at))
	case "filter":
		out := make([]any, len(at))
		for i, j := range at {
			out[i] = list[j]
		}
		return out
	}
	if len(at) == 0 {
		return nil
	}
	if n.name == "find" || n.name == "findLast" {
		return list[at[0]]
	}
	return float64(at[0])
}

// each is the builtins that need the body's value for every member.
func (r *run) each(n *predicate, list []any, at func(int) node) (value.Value, error) {
	if err := r.list(len(list)); err != nil {
		return nil, err
	}
	vals := make([]any, len(list))
	for i := range list {
		v, err := r.eval(at(i))
		if err != nil {
			return nil, err
		}
		vals[i] = v
	}
	switch n.name {
	case "map":
		return vals, nil
	case "sum":
		numbers, err := kNumbers.take(vals)
		if err != nil {
			return nil, err
		}
		return functions["sum"].call(r, []value.Value{numbers})
	case "groupBy":
		return group(list, vals)
	}
	return r.sortBy(n, list, vals)
}

func group(list, keys []any) (value.Value, error) {
	out := map[string]any{}
	for i, k := range keys {
		name, err := kString.take(k)
		if err != nil {
			return nil, err
		}
		members, _ := out[name.(string)].([]any)
		out[name.(string)] = append(members, list[i])
	}
	return out, nil
}

func (r *run) sortBy(n *predicate, list, keys []any) (value.Value, error) {
	sign := 1
	if n.extra != nil {
		order, err := r.take(n.extra, kPure)
		if err != nil {
			return nil, err
		}
		switch order {
		case "asc":
		case "desc":
			sign = -1
		default:
			return nil, fmt.Errorf("the order is %s; it can be \"asc\" or \"desc\"", describe(order))
		}
	}
	at := make([]int, len(list))
	for i := range at {
		at[i] = i
	}
	if err := r.work(16 * len(list)); err != nil {
		return nil, err
	}
	var failed error
	slices.SortStableFunc(at, func(i, j int) int {
		c, err := compare(keys[i], keys[j])
		if err != nil {
			failed = err
		}
		return sign * c
	})
	out := make([]any, len(list))
	for i, j := range at {
		out[i] = list[j]
	}
	return out, failed
}

func (r *run) reduce(n *predicate, list []any, at func(int) node) (value.Value, error) {
	from := 0
	var acc value.Value
	switch {
	case n.extra != nil:
		v, err := r.eval(n.extra)
		if err != nil {
			return nil, err
		}
		acc = v
	case len(list) == 0:
		return nil, fmt.Errorf("reduce of an empty list needs a first value, reduce(list, body, first)")
	default:
		acc, from = list[0], 1
	}
	for i := from; i < len(list); i++ {
		body := at(i)
		r.slots[n.acc] = acc
		v, err := r.eval(body)
		if err != nil {
			return nil, err
		}
		acc = v
	}
	return acc, nil
}
