package flowtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/webhook"
)

// fillStore puts into the store what it holds when the run starts.
func (t *test) fillStore(ctx context.Context) error {
	if err := t.register(ctx); err != nil {
		return err
	}
	return Stored(t.Test, func(namespace, key string, v value.Value) error {
		_, err := t.host.Ask(ctx, event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVSet, Namespace: namespace, Key: key, Value: v}})
		return err
	})
}

// readKey reads a value of the store.
func (t *test) readKey(text string) (value.Value, error) {
	namespace, key := ir.SplitStoreKey(text)
	return t.host.Ask(context.Background(), event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVGet, Namespace: namespace, Key: key}})
}

// publish publishes an event, for one run or for all that wait, or checks a party in.
func (t *test) publish(m *ir.Moment, run string) error {
	q := event.StoreRequest{Emit: &event.EmitRequest{Name: m.Name, Data: m.Data, Key: m.Key, Run: run}}
	if m.Kind == ir.CheckInMoment {
		q = event.StoreRequest{Sync: &event.SyncRequest{Point: m.Name, As: m.As, Blocked: m.Reason != "", Reason: m.Reason}}
	}
	if hook := t.program.Hook(m.Name); hook != nil && m.Kind == ir.EmitMoment {
		return t.deliverToHook(m, hook)
	}
	v, err := t.host.Ask(context.Background(), q)
	t.noteInjected(m, v)
	return err
}

// keyOfTests is the key of the signatures of webhooks in tests: no test has the real one.
const keyOfTests = "the key of tests"

// deliverToHook delivers to a webhook, as the daemon takes deliveries: signed, or forged with another key.
func (t *test) deliverToHook(m *ir.Moment, hook *ir.Hook) error {
	data := m.Data.(map[string]any)
	body, isText := data["body"].(string)
	kind := "text/plain"
	if !isText {
		body, kind = string(value.Append(nil, data["body"])), "application/json"
	}
	t.deliveries++
	id, key, now := m.Key, keyOfTests, t.store.Now().Go()
	if id == "" {
		id = fmt.Sprintf("delivery-%d", t.deliveries)
	}
	if m.Forge {
		key = "another key"
	}
	headers := webhook.Sign(hook, key, id, now, []byte(body))
	headers["content-type"] = kind
	given, _ := data["headers"].(map[string]any)
	for name, text := range given { // any order: it fills a map
		headers[strings.ToLower(name)] = value.Text(text)
	}
	d := webhook.Delivery{Header: func(name string) string { return headers[name] }, Body: []byte(body)}
	q := &event.DeliveryRequest{Name: m.Name, From: "test"}
	known, err := webhook.Verify(hook, keyOfTests, d, now)
	if err == nil {
		q.ID, q.Signed = known.ID, known.Signed
		q.Data, err = webhook.Data(hook, d, known)
	}
	var no *webhook.Refusal
	if errors.As(err, &no) {
		q.Reason, q.Message = string(no.Reason), no.Message
	}
	v, err := t.host.Ask(context.Background(), event.StoreRequest{Delivery: q})
	if o, _ := v.(map[string]any); err == nil && q.Reason == "" && o["replayed"] != true {
		t.noteInjected(m, v)
	}
	return err
}

// readBreaker tells how the breaker of a quota or an agent stands.
func (t *test) readBreaker(name string) (value.Value, error) {
	state := map[string]any{"state": "closed", "failures": 0.0}
	limits, err := t.host.Limits(context.Background())
	for i := range limits { // agents come before quotas
		if l := &limits[i]; l.Name == name && l.Breaker != nil {
			state["state"], state["failures"] = l.Health, float64(l.Failed)
		}
	}
	return state, err
}

// setFigures gives figures of the machine to one run, or to all that read them.
func (t *test) setFigures(ctx context.Context, m *ir.Moment, of *seen) error {
	heard := false
	for _, s := range t.order {
		if of != nil && s != of || s.view.Status.Terminal() {
			continue
		}
		g, err := t.program.graph(s.workflow)
		if err != nil {
			return err
		}
		if !g.ReadsMachine() {
			continue
		}
		heard = true
		if err := t.host.Signal(ctx, s.id, event.External{Kind: event.ExternalMetrics, Data: m.Data}); err != nil && !errors.Is(err, engine.ErrEnded) {
			return err
		}
	}
	if !heard {
		t.unheard(m, "No run that reads them was there.")
	}
	return nil
}

// published lists the events of the store, with moments in seconds since the start.
func (t *test) published() (value.Value, error) {
	v, err := t.host.Ask(context.Background(), event.StoreRequest{Events: true})
	list, _ := v.([]any)
	for _, e := range list {
		o := e.(map[string]any)
		at, err := time.Parse(time.RFC3339, o["at"].(string))
		if err != nil {
			return nil, err
		}
		o["at"] = event.At(at).Sub(t.start).Seconds()
	}
	return v, err
}
