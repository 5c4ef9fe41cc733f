package compose

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds and defaults of kv steps. The host holds the bounds of keys and values.
const (
	// MaxScanned is the highest limit of a scan, in keys.
	MaxScanned = 10_000

	defaultScanned   = 1000
	defaultNamespace = "default"
)

// composeKV computes the request of a kv step.
func (c *Composer) composeKV(k *ir.KV, sc *Scope) (q *event.KVRequest, place string, err error) {
	q = &event.KVRequest{Operation: k.Operation, Namespace: defaultNamespace}
	if q.Key, err = c.Text(&k.Key, sc); err != nil {
		return nil, string(k.Operation), err
	}
	if k.Namespace != nil {
		if q.Namespace, err = c.Text(k.Namespace, sc); err != nil {
			return nil, "namespace", err
		}
	}
	for _, part := range []struct {
		name string
		expr *ir.Expr
		to   *value.Value
	}{{"value", k.Value, &q.Value}, {"old", k.Old, &q.Old}} {
		if part.expr != nil {
			if *part.to, err = c.Value(part.expr, sc); err != nil {
				return nil, part.name, err
			}
		}
	}
	if k.Operation == ir.KVIncr {
		if q.By, err = c.evalBy(k.By, sc); err != nil {
			return nil, "by", err
		}
	}
	if k.TTL != nil {
		if q.TTL, err = c.Duration(k.TTL, sc); err != nil {
			return nil, "ttl", err
		}
	}
	if k.Operation == ir.KVScan {
		q.Limit, err = c.Count(k.Limit, sc, defaultScanned, MaxScanned)
	}
	return q, "limit", err
}

// evalBy evaluates what is added to a number.
func (c *Composer) evalBy(e *ir.Expr, sc *Scope) (float64, error) {
	if e == nil {
		return 1, nil
	}
	v, err := c.Value(e, sc)
	if err != nil {
		return 0, err
	}
	f, ok := v.(float64)
	if !ok {
		return 0, fmt.Errorf("a number is needed, but this is %.60s", value.Text(v))
	}
	return f, nil
}
