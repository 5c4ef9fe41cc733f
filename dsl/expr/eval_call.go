package expr

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/value"
)

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
