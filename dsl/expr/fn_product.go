package expr

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
)

// productFunctions combine several lists, or a list and a map, in the ways of Terraform.
var productFunctions = []function{
	{name: "setproduct", sig: "list list list...", result: productType, call: setProduct},
	{name: "matchkeys", sig: "list list list", result: listLike(0), call: func(r *run, a []value.Value) (value.Value, error) {
		vals, keys := a[0].([]any), a[1].([]any)
		if len(vals) != len(keys) {
			return nil, fmt.Errorf("%d keys for %d values", len(keys), len(vals))
		}
		wanted, err := r.keySet(a[2].([]any))
		if err != nil {
			return nil, err
		}
		out := []any{}
		for i, k := range keys {
			key, err := r.key(k)
			if err != nil {
				return nil, err
			}
			if wanted[key] {
				out = append(out, vals[i])
			}
		}
		return out, r.list(len(out))
	}},
	{name: "transpose", sig: "map", result: constant(value.Map(value.List(value.StringType))), call: transpose},
	{name: "formatlist", sig: "string any!...", result: constant(value.List(value.StringType)), call: formatList},
	{name: "urlencode", sig: "string", result: constant(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) {
		s := a[0].(string)
		if err := r.text(len(s)); err != nil {
			return nil, err
		}
		out := url.QueryEscape(s) // at most three times as long
		return out, r.text(len(out))
	}},
	text1("basename", path.Base), text1("dirname", path.Dir),
	{name: "csvdecode", sig: "string", result: constant(value.List(value.AnyType)), call: decodeCSV},
}

// productType is a list of tuples with a member of each list.
func productType(a []value.Type) value.Type {
	t := value.Type{Kind: value.TupleT}
	for _, l := range a {
		t.Elems = append(t.Elems, elemType(l))
	}
	return value.List(t)
}

// setProduct gives every combination of a member of each list; the last list varies fastest.
func setProduct(r *run, a []value.Value) (value.Value, error) {
	if slices.ContainsFunc(a, func(l value.Value) bool { return len(l.([]any)) == 0 }) {
		return []any{}, nil
	}
	n := 1
	for _, l := range a {
		if n *= len(l.([]any)); n > MaxRange {
			return nil, r.list(n)
		}
	}
	if err := r.list(n); err != nil {
		return nil, err
	}
	if err := r.work(n * len(a)); err != nil {
		return nil, err
	}
	if err := r.memory(n * (32 + 16*len(a))); err != nil {
		return nil, err
	}
	out := make([]any, n)
	for i := range out {
		tuple, rest := make([]any, len(a)), i
		for j := len(a) - 1; j >= 0; j-- {
			l := a[j].([]any)
			tuple[j], rest = l[rest%len(l)], rest/len(l)
		}
		out[i] = tuple
	}
	return out, nil
}

// transpose makes of a map of lists of texts the map from each text to the keys that it stood under, in order.
func transpose(r *run, a []value.Value) (value.Value, error) {
	m, lists := a[0].(map[string]any), map[string][]any{}
	for _, k := range value.Keys(m) {
		list, err := kStrings.take(m[k])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", shorten(k), err)
		}
		if err := r.list(len(list.([]any))); err != nil {
			return nil, err
		}
		for _, e := range list.([]any) {
			lists[e.(string)] = append(lists[e.(string)], k)
		}
	}
	out := make(map[string]any, len(lists))
	for k, l := range lists { // any order: it fills a map
		out[k] = l
	}
	return out, r.list(len(out))
}

// formatList is format for each member of its lists, which have the same length; what is not a list stands in each text.
func formatList(r *run, a []value.Value) (value.Value, error) {
	n, first := 1, -1
	for i, v := range a[1:] {
		list, is := v.([]any)
		if !is {
			continue
		}
		if first >= 0 && len(list) != n {
			return nil, fmt.Errorf("argument %d has %d members, and argument %d has %d", first+2, n, i+2, len(list))
		}
		if first < 0 {
			n, first = len(list), i
		}
	}
	if err := r.list(n); err != nil {
		return nil, err
	}
	out := make([]any, 0, n)
	for i := range n {
		args := slices.Clone(a)
		for j, v := range a[1:] {
			if list, is := v.([]any); is {
				args[j+1] = list[i]
			}
		}
		if err := r.work(len(args) + len(a[0].(string))/16); err != nil {
			return nil, err
		}
		s, err := format(r, args)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// decodeCSV reads a table whose first line names the columns: a list of objects of texts.
func decodeCSV(r *run, a []value.Value) (value.Value, error) {
	in := csv.NewReader(strings.NewReader(a[0].(string)))
	if err := r.memory(16 * len(a[0].(string))); err != nil {
		return nil, err
	}
	names, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the first line, which names the columns, is missing")
	}
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, n := range names {
		if known[n] {
			return nil, fmt.Errorf("two columns have the name %q", shorten(n))
		}
		known[n] = true
	}
	out := []any{}
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return out, r.list(len(out))
		}
		if err != nil {
			return nil, err
		}
		if err := r.list(len(row)); err != nil {
			return nil, err
		}
		if err := r.memory(64 * len(row)); err != nil {
			return nil, err
		}
		object := make(map[string]any, len(row))
		for i, v := range row {
			object[names[i]] = v
		}
		out = append(out, object)
		if len(out) > MaxRange {
			return nil, r.list(len(out))
		}
	}
}
