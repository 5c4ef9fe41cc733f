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
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
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
		return nil, r.fail(n.at(), r.heard.quiet(n, err))
	}
	r.heard.made(n, v)
	return v, nil
}

func (r *run) compute(n node) (value.Value, error) {
	switch n := n.(type) {
	case *lit:
		return n.v, nil
	case *ref:
		return r.scope.Lookup(n.ref)
	case *fileText:
		return r.file(n)
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
