package flowtest

import (
	"context"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// fillStore puts into the store what it holds when the run starts.
func (t *test) fillStore(ctx context.Context) error {
	for _, text := range value.Keys(t.Store) {
		namespace, key := ir.SplitStoreKey(text)
		if _, err := t.host.Ask(ctx, event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVSet, Namespace: namespace, Key: key, Value: t.Store[text]}}); err != nil {
			return err
		}
	}
	return nil
}

// readKey reads a value of the store.
func (t *test) readKey(text string) (value.Value, error) {
	namespace, key := ir.SplitStoreKey(text)
	return t.host.Ask(context.Background(), event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVGet, Namespace: namespace, Key: key}})
}
