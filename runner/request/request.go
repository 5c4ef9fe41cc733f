// Package request makes parts of attempts of computed values: what is a text, an argument list, a header, and how large each
// may be.
//
// Machine and host both do this. A machine computes what it can when an attempt starts; what reads secrets is computed by
// the host, from the same expressions, and must come out the same. So the rules stand here, once. The package evaluates nothing
// and knows neither of them. Enter at [Put].
package request

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// The places of an attempt that a value can be put. Env and Value stand before a name and a number. URL comes before Query, and
// Headers before Body: each of the second adds to the first.
const (
	Env     = "env."
	Value   = "value."
	Argv    = "argv"
	Script  = "script"
	Stdin   = "stdin"
	Task    = "task"
	With    = "with"
	URL     = "http.url"
	Query   = "http.query"
	Headers = "http.headers"
	Body    = "http.body"
)

// MaxValue bounds a value that is handed on, as JSON, in bytes.
const MaxValue = 1 << 20

// MaxScriptValue is how large one value in a script can be: it is passed in the environment, where Linux takes 128 KiB in
// one string.
const MaxScriptValue = 100 << 10

// Put puts a value where it belongs. The attempt's maps must be its own, and Agent or HTTP must be there for their places.
func Put(a *event.Attempt, place string, v value.Value) (err error) {
	switch place {
	case Argv:
		a.Argv, err = arguments(v)
	case Script:
		a.Script, err = Text(v)
	case Stdin:
		text, err := printed(v)
		a.Stdin = &text
		return err
	case Task:
		a.Agent.Task, err = Text(v)
	case With:
		a.Agent.With, err = v, Sized(v)
	case URL:
		a.HTTP.URL, err = address(v)
	case Query:
		a.HTTP.URL, err = query(a.HTTP.URL, v)
	case Headers:
		a.HTTP.Headers, err = headers(v)
	case Body:
		err = body(a.HTTP, v)
	default:
		err = named(a, place, v)
	}
	return err
}

// named puts what has a name or a number.
func named(a *event.Attempt, place string, v value.Value) (err error) {
	if name, ok := strings.CutPrefix(place, Env); ok {
		if a.Env == nil {
			a.Env = map[string]string{}
		}
		a.Env[name], err = Text(v)
		return err
	}
	n, err := strconv.Atoi(strings.TrimPrefix(place, Value))
	if err != nil || n < 0 || n >= len(a.Values) {
		return fmt.Errorf("an attempt has no place %q", place)
	}
	a.Values[n], err = scriptValue(v)
	return err
}
