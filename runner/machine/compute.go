package machine

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/policy"
	"github.com/flowrun/flowrun/runner/request"
)

// evaluationError returns the error of an expression that could not be evaluated. A retry would
// fail in the same way.
func evaluationError(what string, err error) *event.Error {
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonEvaluation, ExitCode: -1, Message: what + ": " + err.Error()}
}

// evalCondition evaluates a condition. Any value but true or false is an error.
func (m *Machine) evalCondition(e *ir.Expr, sc *scope) (bool, error) {
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

// explainCondition returns the text of a false condition, followed by the values of its names.
func (m *Machine) explainCondition(e *ir.Expr, sc *scope) string {
	if r := m.eval.Readings(e, sc); r != "" {
		return e.Text + " (" + r + ")"
	}
	return e.Text
}

// evalCount evaluates a whole number from 1 to most; a nil expression gives the default.
func (m *Machine) evalCount(e *ir.Expr, sc *scope, otherwise, most int) (int, error) {
	if e == nil {
		return otherwise, nil
	}
	return m.evalWhole(e, sc, 1, most)
}

// evalWhole evaluates a whole number from least to most.
func (m *Machine) evalWhole(e *ir.Expr, sc *scope, least, most int) (int, error) {
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

func (m *Machine) evalFactor(e *ir.Expr, sc *scope) (float64, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return 0, err
	}
	f, ok := v.(float64)
	if !ok || f < 1 || f > policy.MaxMultiplier {
		return 0, fmt.Errorf("a number from 1 to %d is needed, but this is %.60s", policy.MaxMultiplier, value.Text(v))
	}
	return f, nil
}

func (m *Machine) evalDuration(e *ir.Expr, sc *scope) (time.Duration, error) {
	s, err := m.evalText(e, sc)
	if err != nil {
		return 0, err
	}
	return value.ParseDuration(s)
}

// evalDue evaluates a duration and adds it to now.
func (m *Machine) evalDue(e *ir.Expr, sc *scope) (event.Time, error) {
	d, err := m.evalDuration(e, sc)
	return m.now.Add(d), err
}

// evalText evaluates a string. Numbers and bools are written as in JSON.
func (m *Machine) evalText(e *ir.Expr, sc *scope) (string, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return "", err
	}
	return request.Text(v)
}
