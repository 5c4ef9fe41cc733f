package compose

import (
	"fmt"
	"math"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/policy"
	"github.com/flowrun/flowrun/runner/request"
)

// EvaluationError returns the error of an expression that could not be evaluated. It is blocking,
// because a retry would fail in the same way. what names the expression.
func EvaluationError(what string, err error) *event.Error {
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonEvaluation, ExitCode: -1, Message: what + ": " + err.Error()}
}

// Value evaluates an expression.
func (c *Composer) Value(e *ir.Expr, sc *Scope) (value.Value, error) { return c.eval.Eval(e, sc) }

// Conforms returns an error if a value does not fit a JSON Schema. See [ir.Evaluator].
func (c *Composer) Conforms(schema, v value.Value) error { return c.eval.Conforms(schema, v) }

// Condition evaluates a condition. Any value but true or false is an error.
func (c *Composer) Condition(e *ir.Expr, sc *Scope) (bool, error) {
	v, err := c.eval.Eval(e, sc)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("true or false is needed, but this is %.60s", value.Text(v))
	}
	return b, nil
}

// ExplainCondition returns the text of a false condition, followed by the values of its names.
func (c *Composer) ExplainCondition(e *ir.Expr, sc *Scope) string {
	if r := c.eval.Readings(e, sc); r != "" {
		return e.Text + " (" + r + ")"
	}
	return e.Text
}

// Count evaluates a whole number from 1 to most; a nil expression gives the default.
func (c *Composer) Count(e *ir.Expr, sc *Scope, otherwise, most int) (int, error) {
	if e == nil {
		return otherwise, nil
	}
	return c.evalWhole(e, sc, 1, most)
}

// evalWhole evaluates a whole number from least to most.
func (c *Composer) evalWhole(e *ir.Expr, sc *Scope, least, most int) (int, error) {
	v, err := c.eval.Eval(e, sc)
	if err != nil {
		return 0, err
	}
	f, ok := v.(float64)
	if !ok || f < float64(least) || f > float64(most) || f != float64(int(f)) {
		return 0, fmt.Errorf("a whole number from %d to %d is needed, but this is %.60s", least, most, value.Text(v))
	}
	return int(f), nil
}

// evalShare evaluates a number from 0 to 1.
func (c *Composer) evalShare(e *ir.Expr, sc *Scope) (float64, error) {
	v, err := c.eval.Eval(e, sc)
	if err != nil {
		return 0, err
	}
	f, ok := v.(float64)
	if !ok || !(f >= 0 && f <= 1) {
		return 0, fmt.Errorf("a number from 0 to 1 is needed, but this is %.60s", value.Text(v))
	}
	return f, nil
}

func (c *Composer) evalFactor(e *ir.Expr, sc *Scope) (float64, error) {
	v, err := c.eval.Eval(e, sc)
	if err != nil {
		return 0, err
	}
	f, ok := v.(float64)
	if !ok || f < 1 || f > limits.MaxMultiplier {
		return 0, fmt.Errorf("a number from 1 to %d is needed, but this is %.60s", limits.MaxMultiplier, value.Text(v))
	}
	return f, nil
}

// DefaultWarn is the percentage of a budget at which a run warns.
const DefaultWarn = 80

// MaxBudget is the largest bound of a budget.
const MaxBudget = 1e12

// Budget evaluates the bounds of a budget, and the percentage at which it warns.
func (c *Composer) Budget(b *ir.Budget, sc *Scope) (most event.Bounds, warn float64, err error) {
	number := func(what string, e *ir.Expr, least, most float64) (f float64) {
		if e == nil || err != nil {
			return 0
		}
		v, wrong := c.eval.Eval(e, sc)
		f, ok := v.(float64)
		switch {
		case wrong != nil:
			err = fmt.Errorf("%s: %w", what, wrong)
		case !ok || !(f >= least && f <= most):
			err = fmt.Errorf("%s: a number from %s to %s is needed, but this is %.60s", what, value.Text(least), value.Text(most), value.Text(v))
		}
		return f
	}
	attempts := number("attempts", b.Attempts, 1, MaxBudget)
	if err == nil && attempts != math.Trunc(attempts) {
		err = fmt.Errorf("attempts: a whole number is needed, but this is %.60s", value.Text(attempts))
	}
	most = event.Bounds{Attempts: int64(attempts), Tokens: number("tokens", b.Tokens, 1, MaxBudget), CostUSD: number("cost_usd", b.CostUSD, 1e-6, MaxBudget)}
	if warn = DefaultWarn; b.Warn != nil {
		warn = number("warn", b.Warn, 1, 100)
	}
	return most, warn, err
}

// Duration evaluates a duration.
func (c *Composer) Duration(e *ir.Expr, sc *Scope) (time.Duration, error) {
	s, err := c.Text(e, sc)
	if err != nil {
		return 0, err
	}
	return value.ParseDuration(s)
}

// Text evaluates a string. Numbers and bools are written as in JSON.
func (c *Composer) Text(e *ir.Expr, sc *Scope) (string, error) {
	v, err := c.eval.Eval(e, sc)
	if err != nil {
		return "", err
	}
	return request.Text(v)
}

// Backoff evaluates the backoff of retry rules over the defaults. A base delay above the default
// maximum raises the maximum.
func (c *Composer) Backoff(rules ir.Retry, sc *Scope) (b policy.Backoff, err error) {
	b = policy.Backoff{Base: policy.DefaultBaseDelay, Max: policy.DefaultMaxDelay, Multiplier: policy.DefaultMultiplier,
		Jitter: policy.DefaultJitter}
	if rules.Jitter != "" {
		b.Jitter = policy.Jitter(rules.Jitter)
	}
	if rules.BaseDelay != nil {
		if b.Base, err = c.Duration(rules.BaseDelay, sc); err != nil {
			return b, fmt.Errorf("retry.base_delay: %w", err)
		}
		b.Max = max(b.Max, b.Base)
	}
	if rules.MaxDelay != nil {
		if b.Max, err = c.Duration(rules.MaxDelay, sc); err != nil {
			return b, fmt.Errorf("retry.max_delay: %w", err)
		}
	}
	if rules.Multiplier != nil {
		if b.Multiplier, err = c.evalFactor(rules.Multiplier, sc); err != nil {
			return b, fmt.Errorf("retry.multiplier: %w", err)
		}
	}
	return b, nil
}
