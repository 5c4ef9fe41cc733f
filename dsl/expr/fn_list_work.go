package expr

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
)

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
		v := start + float64(float64(i)*step)
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
