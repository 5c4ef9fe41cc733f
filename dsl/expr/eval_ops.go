package expr

import (
	"fmt"
	"math"
	"strings"

	"github.com/flowrun/flowrun/dsl/libm"
	"github.com/flowrun/flowrun/dsl/value"
)

func (r *run) unary(n *unary) (value.Value, error) {
	if n.op == "!" {
		b, err := r.truth(n.x)
		return !b, err
	}
	v, err := r.take(n.x, kNumber)
	if err != nil {
		return nil, err
	}
	return number(-v.(float64))
}

func (r *run) binary(n *binary) (value.Value, error) {
	switch n.op {
	case "&&", "||":
		b, err := r.truth(n.l)
		if err != nil || b == (n.op == "||") {
			return b, err
		}
		return r.truth(n.r)
	case "??":
		v, err := r.eval(n.l)
		if v != nil || err != nil {
			return v, err
		}
		return r.eval(n.r)
	}
	left, err := r.eval(n.l)
	if err != nil {
		return nil, err
	}
	right, err := r.eval(n.r)
	if err != nil {
		return nil, err
	}
	switch n.op {
	case "==", "!=":
		same, err := r.equal(left, right)
		return same == (n.op == "=="), err
	case "in":
		return r.in(left, right)
	}
	k := operand(n.op)
	if n.op == "+~" || k == kOrdered { // both numbers or both strings
		k = kOrdered
	}
	if left, err = k.take(left); err != nil {
		return nil, r.fail(n.l.at(), fmt.Errorf("%s: %w", shownOp(n.op), err))
	}
	if right, err = k.take(right); err != nil {
		return nil, r.fail(n.r.at(), fmt.Errorf("%s: %w", shownOp(n.op), err))
	}
	switch k {
	case kOrdered:
		return r.ordered(n, left, right)
	case kPure:
		return r.textOp(n, left.(string), right.(string))
	}
	return r.arithmetic(n.op, left.(float64), right.(float64))
}

// operand is the kind that both sides of an operator must be.
func operand(op string) kind {
	switch op {
	case "<", "<=", ">", ">=", "+~":
		return kOrdered
	case "contains", "startsWith", "endsWith", "matches":
		return kPure
	case "&&", "||":
		return kBool
	case "..":
		return kWhole
	}
	return kNumber
}

// shownOp is the operator as it is written.
func shownOp(op string) string { return strings.TrimSuffix(op, "~") }

func (r *run) ordered(n *binary, left, right value.Value) (value.Value, error) {
	if n.op == "+~" {
		a, ok := left.(string)
		b, is := right.(string)
		if ok && is {
			if err := r.text(len(a) + len(b)); err != nil {
				return nil, err
			}
			return a + b, nil
		}
		if ok != is {
			return nil, fmt.Errorf("%s + %s: two numbers or two strings are needed", describe(left), describe(right))
		}
		return number(left.(float64) + right.(float64))
	}
	c, err := compare(left, right)
	if err != nil {
		return nil, err
	}
	switch n.op {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	}
	return c >= 0, nil
}

func (r *run) textOp(n *binary, a, b string) (value.Value, error) {
	if err := r.work((len(a) + len(b)) / 64); err != nil {
		return nil, err
	}
	switch n.op {
	case "contains":
		return strings.Contains(a, b), nil
	case "startsWith":
		return strings.HasPrefix(a, b), nil
	case "endsWith":
		return strings.HasSuffix(a, b), nil
	}
	if n.re != nil {
		if err := r.matching(n.reSize, a); err != nil {
			return nil, err
		}
		return n.re.MatchString(a), nil
	}
	re, err := r.pattern(b, a)
	if err != nil {
		return nil, err
	}
	return re.MatchString(a), nil
}

func (r *run) arithmetic(op string, a, b float64) (value.Value, error) {
	switch op {
	case "+":
		return number(a + b)
	case "-":
		return number(a - b)
	case "*":
		return number(float64(a * b))
	case "**":
		return number(libm.Pow(a, b))
	case "/":
		if b == 0 {
			return nil, fmt.Errorf("%s divided by 0", textOf(a))
		}
		return number(a / b)
	case "%":
		if b == 0 {
			return nil, fmt.Errorf("the remainder of %s by 0", textOf(a))
		}
		return number(math.Mod(a, b))
	case "..":
		if b < a {
			return []any{}, nil
		}
		if b-a >= MaxRange {
			return nil, r.list(MaxRange + 1)
		}
		out := make([]any, int(b-a)+1)
		for i := range out {
			out[i] = a + float64(i)
		}
		return out, r.list(len(out))
	}
	return nil, fmt.Errorf("there is no operator %s", op)
}

// in tells whether a value is a member of a list, or a key of a map. Nothing is in null.
func (r *run) in(v, where value.Value) (value.Value, error) {
	switch where := where.(type) {
	case nil:
		return false, nil
	case []any:
		i, err := r.find(where, v)
		return i >= 0, err
	case map[string]any:
		k, ok := v.(string)
		_, there := where[k]
		return ok && there, nil
	}
	return nil, fmt.Errorf("in: a list or a map is needed, but this is %s", describe(where))
}
