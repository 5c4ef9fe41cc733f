package compose

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds and defaults of kv steps. The host holds the bounds of keys and values.
const (
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
		q.Limit, err = c.Count(k.Limit, sc, defaultScanned, limits.MaxKVScanned)
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

// composeEmit computes the request of an emit step.
func (c *Composer) composeEmit(e *ir.Emit, sc *Scope) (q *event.EmitRequest, place string, err error) {
	q = &event.EmitRequest{Name: e.Event, Causes: c.run.Events()}
	if e.Data != nil {
		if q.Data, err = c.Value(e.Data, sc); err != nil {
			return nil, "data", err
		}
	}
	err = c.composeTexts(sc, &place, textPart{"key", e.Key, &q.Key}, textPart{"run", e.Run, &q.Run})
	return q, place, err
}

// composeSync computes the request of a sync step.
func (c *Composer) composeSync(y *ir.Sync, sc *Scope) (q *event.SyncRequest, place string, err error) {
	q = &event.SyncRequest{}
	if err = c.composeTexts(sc, &place, textPart{"point", &y.Point, &q.Point}, textPart{"as", &y.As, &q.As}, textPart{"reason", y.Reason, &q.Reason}); err != nil {
		return nil, place, err
	}
	if q.Needs, err = c.evalNames(&y.Needs, sc); err != nil {
		return nil, "needs", err
	}
	if y.Ready == nil {
		return q, "", nil
	}
	ready, err := c.Condition(y.Ready, sc)
	q.Blocked = !ready
	return q, "ready", err
}

// textPart is a text of a request. Null counts as "".
type textPart struct {
	place string
	expr  *ir.Expr
	to    *string
}

func (c *Composer) composeTexts(sc *Scope, place *string, parts ...textPart) error {
	for _, p := range parts {
		if p.expr == nil {
			continue
		}
		v, err := c.Value(p.expr, sc)
		text, isText := v.(string)
		if err == nil && v != nil && !isText {
			err = fmt.Errorf("a text is needed, but this is %.60s", value.Text(v))
		}
		if err != nil {
			*place = p.place
			return err
		}
		*p.to = text
	}
	return nil
}

// evalNames evaluates a list of names with at least one member.
func (c *Composer) evalNames(e *ir.Expr, sc *Scope) (names []string, err error) {
	v, err := c.Value(e, sc)
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	for _, v := range list {
		name, isText := v.(string)
		if !isText {
			return nil, fmt.Errorf("a list of texts is needed, but a member is %.60s", value.Text(v))
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("a list of texts with at least one is needed, but this is %.60s", value.Text(v))
	}
	return names, nil
}
