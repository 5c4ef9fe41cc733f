package expr

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// maxTimeText bounds the texts that functions about times take, so that what they make is small.
const maxTimeText = 1000

// timeFunctions work on moments in RFC 3339. They are cty's own, so that they mean what they mean in Terraform; none of them
// reads a clock.
var timeFunctions = []function{
	{name: "timeadd", sig: "string string", result: constant(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) {
		return r.ofTimes(stdlib.TimeAdd, a[0], a[1])
	}},
	{name: "formatdate", sig: "string string", result: constant(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) {
		return r.ofTimes(stdlib.FormatDate, a[0], a[1])
	}},
}

// ofTimes calls a function of cty on two texts.
func (r *run) ofTimes(f func(a, b cty.Value) (cty.Value, error), a, b value.Value) (string, error) {
	for _, v := range []value.Value{a, b} {
		if s := v.(string); len(s) > maxTimeText {
			return "", fmt.Errorf("a text of %d bytes; times and their forms have at most %d", len(s), maxTimeText)
		}
	}
	v, err := f(cty.StringVal(a.(string)), cty.StringVal(b.(string)))
	if err != nil {
		return "", err
	}
	s := v.AsString()
	return s, r.text(len(s))
}
