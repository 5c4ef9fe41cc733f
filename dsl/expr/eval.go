package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
)

// Error is the failure of an evaluation: what failed, and at which piece of the expression's text.
type Error struct {
	Part string // the piece of text, shortened
	Err  error
	at   span
}

func (e *Error) Error() string { return e.Part + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// fail makes err an *Error at s, unless it is one already: the innermost place is the one that helps.
func (r *run) fail(s span, err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &Error{Err: err, at: s}
}

// eval computes one node. Null reads through members and indexes; everywhere else it fails with the name of what is null.
func (r *run) eval(n node) (value.Value, error) {
	if err := r.work(1); err != nil {
		return nil, r.fail(n.at(), err)
	}
	v, err := r.compute(n)
	if err != nil {
		return nil, r.fail(n.at(), err)
	}
	return v, nil
}

func (r *run) compute(n node) (value.Value, error) {
	switch n := n.(type) {
	case *lit:
		return n.v, nil
	case *ref:
		return r.scope.Lookup(n.ref)
	case *bound:
		return r.slots[n.slot], nil
	case *member:
		return r.member(n)
	case *index:
		return r.index(n)
	case *slice:
		return r.slice(n)
	case *unary:
		return r.unary(n)
	case *binary:
		return r.binary(n)
	case *cond:
		return r.cond(n)
	case *template:
		return r.template(n)
	case *tuple:
		return r.tuple(n)
	case *object:
		return r.object(n)
	case *call:
		return r.call(n)
	case *attempt:
		return r.attempt(n)
	case *forEach:
		return r.forEach(n)
	case *splat:
		return r.splat(n)
	case *predicate:
		return r.predicate(n)
	case *let:
		v, err := r.eval(n.x)
		if err != nil {
			return nil, err
		}
		r.slots[n.slot] = v
		return r.eval(n.body)
	}
	panic(fmt.Sprintf("expr: no evaluation of %T", n))
}

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

// take evaluates n and checks that it is of kind k.
func (r *run) take(n node, k kind) (value.Value, error) {
	v, err := r.eval(n)
	if err != nil {
		return nil, err
	}
	v, err = k.take(v)
	return v, r.fail(n.at(), err)
}

func (r *run) truth(n node) (bool, error) {
	v, err := r.take(n, kBool)
	if err != nil {
		return false, err
	}
	return v.(bool), nil
}

func (r *run) cond(n *cond) (value.Value, error) {
	c, err := r.truth(n.c)
	if err != nil {
		return nil, err
	}
	if c {
		return r.eval(n.yes)
	}
	return r.eval(n.no)
}

func (r *run) template(n *template) (value.Value, error) {
	var b strings.Builder
	for _, p := range n.parts {
		v, err := r.take(p, kString)
		if err != nil {
			return nil, err
		}
		s := v.(string)
		if err := r.text(b.Len() + len(s)); err != nil {
			return nil, err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

func (r *run) tuple(n *tuple) (value.Value, error) {
	if err := r.list(len(n.items)); err != nil {
		return nil, err
	}
	out := make([]any, len(n.items))
	for i, item := range n.items {
		v, err := r.eval(item)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (r *run) object(n *object) (value.Value, error) {
	if err := r.list(len(n.keys)); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(n.keys))
	for i := range n.keys {
		k, err := r.take(n.keys[i], kString)
		if err != nil {
			return nil, err
		}
		v, err := r.eval(n.vals[i])
		if err != nil {
			return nil, err
		}
		if _, twice := out[k.(string)]; twice {
			return nil, r.fail(n.keys[i].at(), fmt.Errorf("the key %q stands twice in one object", shorten(k.(string))))
		}
		out[k.(string)] = v
	}
	return out, nil
}

func (r *run) call(n *call) (value.Value, error) {
	args := make([]value.Value, 0, len(n.args))
	at := make([]node, 0, len(n.args))
	for i, a := range n.args {
		v, err := r.eval(a)
		if err != nil {
			return nil, err
		}
		if n.spread && i == len(n.args)-1 {
			list, ok := v.([]any)
			if !ok {
				return nil, r.fail(a.at(), fmt.Errorf("... needs a list, but this is %s", describe(v)))
			}
			if err := r.list(len(list)); err != nil {
				return nil, err
			}
			for _, e := range list {
				args, at = append(args, e), append(at, a)
			}
			continue
		}
		args, at = append(args, v), append(at, a)
	}
	if len(args) < n.f.required || len(args) > len(n.f.params) && !n.f.variadic {
		return nil, fmt.Errorf("%s takes %s, not %d", n.f.name, n.f.takes(), len(args))
	}
	for i, v := range args {
		if err := r.weigh(v); err != nil {
			return nil, err
		}
		v, err := n.f.param(i).take(v)
		if err != nil {
			return nil, r.fail(at[i].at(), err)
		}
		args[i] = v
	}
	return n.f.call(r, args)
}

// attempt is try and can. An argument that is null has no value, as one that fails: reading through what is not there
// gives null here, where Terraform fails. Bounds are not failures.
func (r *run) attempt(n *attempt) (value.Value, error) {
	var last error
	null := false
	for _, a := range n.args {
		v, err := r.eval(a)
		switch {
		case isLimit(err):
			return nil, err
		case err == nil && v != nil:
			if n.can {
				return true, nil
			}
			return v, nil
		case err == nil:
			null = true
		default:
			last = err
		}
	}
	if n.can {
		return false, nil
	}
	if null {
		return nil, nil
	}
	return nil, last
}
