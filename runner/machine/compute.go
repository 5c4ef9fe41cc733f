package machine

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/request"
)

// evaluation is the error of an expression that could not be computed. Trying again would give the same.
func evaluation(what string, err error) *event.Error {
	return &event.Error{Kind: event.Blocking, Reason: "evaluation", ExitCode: -1, Message: what + ": " + err.Error()}
}

// holds computes a condition. Anything but true or false is an error.
func (m *Machine) holds(e *ir.Expr, sc *scope) (bool, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("true or false is needed, but this is %.60s", value.Text(v))
	}
	return b, nil
}

// number computes a whole number from 1 to most; a nil expression gives the default.
func (m *Machine) number(e *ir.Expr, sc *scope, otherwise, most int) (int, error) {
	if e == nil {
		return otherwise, nil
	}
	return m.whole(e, sc, 1, most)
}

// whole computes a whole number.
func (m *Machine) whole(e *ir.Expr, sc *scope, least, most int) (int, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return 0, err
	}
	f, ok := v.(float64)
	if !ok || f < float64(least) || f > float64(most) || f != float64(int(f)) {
		return 0, fmt.Errorf("a whole number from %d to %d is needed, but this is %.60s", least, most, value.Text(v))
	}
	return int(f), nil
}

func (m *Machine) factor(e *ir.Expr, sc *scope) (float64, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return 0, err
	}
	f, ok := v.(float64)
	if !ok || f < 1 || f > 100 {
		return 0, fmt.Errorf("a number from 1 to 100 is needed, but this is %.60s", value.Text(v))
	}
	return f, nil
}

func (m *Machine) duration(e *ir.Expr, sc *scope) (time.Duration, error) {
	s, err := m.text(e, sc)
	if err != nil {
		return 0, err
	}
	return value.ParseDuration(s)
}

// due is the moment that lies a duration from now.
func (m *Machine) due(e *ir.Expr, sc *scope) (event.Time, error) {
	d, err := m.duration(e, sc)
	return m.now.Add(d), err
}

// text computes a string; numbers and bools are written as JSON writes them.
func (m *Machine) text(e *ir.Expr, sc *scope) (string, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return "", err
	}
	return request.Text(v)
}

// output makes a node's output of what its attempt brought.
func (m *Machine) output(n *plan.Node, f *event.AttemptFinished) (value.Value, *event.Error) {
	if n.Run == nil || f.Output != nil {
		return f.Output, nil // an agent's, or what was written to $FLOWRUN_OUTPUT
	}
	switch n.Run.Parse {
	case ir.ParseNone:
		return nil, nil
	case ir.ParseLines:
		text := strings.TrimSuffix(f.Stdout, "\n")
		if text == "" {
			return []any{}, nil
		}
		lines := strings.Split(text, "\n")
		list := make([]any, len(lines))
		for i, l := range lines {
			list[i] = strings.TrimSuffix(l, "\r")
		}
		return list, nil
	case ir.ParseJSON:
		v, err := value.Decode([]byte(f.Stdout))
		if err != nil {
			return nil, &event.Error{Kind: event.Blocking, Reason: "bad_json", ExitCode: -1, Message: "standard output is not JSON: " + err.Error()}
		}
		return v, nil
	}
	return strings.TrimRight(f.Stdout, "\r\n"), nil
}

// conform converts a node's output to the type that the file declares for it.
func (m *Machine) conform(r ref) *event.Error {
	d, t := m.detail(r), m.declared(r)
	if t == nil {
		return nil
	}
	v, err := value.Convert(d.output, *t)
	if err != nil {
		return &event.Error{Kind: event.Fatal, Reason: "output_type", ExitCode: -1,
			Message: "the output is not of its declared type: " + err.Error()}
	}
	d.output = v
	return nil
}

// Bound keeps the head and the tail of a text and says between them how much is left out. The result has at most limit
// bytes and a mark, and never half a character.
func Bound(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := text[:limit/2], text[len(text)-limit/2:]
	for len(head) > 0 && !utf8.RuneStart(text[len(head)]) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[flowrun: %d bytes left out]\n%s", head, len(text)-len(head)-len(tail), tail)
}
