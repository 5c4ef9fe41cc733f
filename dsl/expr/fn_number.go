package expr

import (
	"fmt"
	"math"
	"strings"

	"github.com/flowrun/flowrun/dsl/libm"
	"github.com/flowrun/flowrun/dsl/value"
)

var numberFunctions = []function{
	math1("abs", math.Abs), math1("ceil", math.Ceil), math1("floor", math.Floor), math1("round", math.Round),
	math1("signum", func(f float64) float64 {
		switch {
		case f < 0:
			return -1
		case f > 0:
			return 1
		}
		return 0
	}),
	{name: "int", sig: "scalar", result: constant(value.NumberType), call: func(r *run, a []value.Value) (value.Value, error) {
		v, err := toNumber(a[0])
		if err != nil {
			return nil, err
		}
		return number(math.Trunc(v.(float64)))
	}},
	{name: "pow", sig: "number number", result: constant(value.NumberType), call: func(r *run, a []value.Value) (value.Value, error) {
		return number(libm.Pow(a[0].(float64), a[1].(float64)))
	}},
	{name: "max", sig: "any any...", result: constant(value.NumberType), call: fold("max", math.Max)},
	{name: "min", sig: "any any...", result: constant(value.NumberType), call: fold("min", math.Min)},
	{name: "sum", sig: "numbers", result: constant(value.NumberType), call: func(r *run, a []value.Value) (value.Value, error) {
		total := 0.0
		for _, e := range a[0].([]any) {
			total += e.(float64)
		}
		return number(total)
	}},
	{name: "mean", sig: "numbers", result: constant(value.NumberType), call: func(r *run, a []value.Value) (value.Value, error) {
		list := a[0].([]any)
		if len(list) == 0 {
			return nil, fmt.Errorf("the mean of an empty list")
		}
		total := 0.0
		for _, e := range list {
			total += e.(float64)
		}
		return number(total / float64(len(list)))
	}},
	{name: "parseint", sig: "string number", result: constant(value.NumberType), call: parseInt},
}

func math1(name string, f func(float64) float64) function {
	return function{name: name, sig: "number", result: same(0), call: func(r *run, a []value.Value) (value.Value, error) {
		return number(f(a[0].(float64)))
	}}
}

// fold is max and min: over numbers, or, as in expr-lang, over the numbers of lists.
func fold(name string, f func(a, b float64) float64) func(r *run, a []value.Value) (value.Value, error) {
	return func(r *run, a []value.Value) (value.Value, error) {
		found, best := false, 0.0
		add := func(v value.Value) error {
			n, ok := v.(float64)
			if !ok {
				return fmt.Errorf("a number is needed, but this is %s", describe(v))
			}
			if found {
				n = f(best, n)
			}
			found, best = true, n
			return nil
		}
		for _, v := range a {
			list, ok := v.([]any)
			if !ok {
				list = []any{v}
			}
			for _, e := range list {
				if err := add(e); err != nil {
					return nil, err
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("the %s of an empty list", name)
		}
		return best, nil
	}
}

func parseInt(r *run, a []value.Value) (value.Value, error) {
	base := int(a[1].(float64))
	if base < 2 || base > 36 {
		return nil, fmt.Errorf("the base is %d, and must be 2 to 36", base)
	}
	text := strings.ToLower(a[0].(string))
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	if text == "" {
		return nil, fmt.Errorf("no digits in %q", a[0])
	}
	n := 0.0
	for _, c := range text {
		d := strings.IndexRune("0123456789abcdefghijklmnopqrstuvwxyz"[:base], c)
		if d < 0 {
			return nil, fmt.Errorf("%q is not a whole number in base %d", shorten(a[0].(string)), base)
		}
		if n = float64(n*float64(base)) + float64(d); n > value.MaxNumber {
			break
		}
	}
	if negative {
		n = -n
	}
	return number(n)
}
