package app

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// kvFlags declares the flags of all commands of kv.
func kvFlags(c *cobra.Command, r *args.KV) {
	c.Flags().StringVar(&r.Namespace, "namespace", shared.DefaultNamespace, "the `namespace` of the key")
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
}

// kvJSON is the output of kv get and kv set with --json.
type kvJSON struct {
	Namespace string      `json:"namespace"`
	Key       string      `json:"key"`
	Value     value.Value `json:"value"`
}

// askKV carries out an operation on the key of a command. A store that does not exist is empty, and only set makes one.
func (a *app) askKV(r *args.KV, q *event.KVRequest) (value.Value, error) {
	q.Namespace, q.Key = r.Namespace, r.Key
	dir, err := a.storeDir("")
	if err != nil {
		return nil, err
	}
	var s *store
	switch q.Operation {
	case ir.KVGet, ir.KVScan:
		s, err = a.openExisting(dir, nil)
	case ir.KVDelete:
		s, err = a.openExisting(dir, &args.Drive{})
	case ir.KVSet, ir.KVIncr, ir.KVCAS:
		s, err = a.openStore(dir, args.Drive{})
	}
	if errors.Is(err, engine.ErrNoStore) {
		v, err := shared.Apply(new(shared.Map), &event.StoreRequest{KV: q}, 0)
		return v, refusedKV(err)
	}
	if err != nil {
		return nil, err
	}
	defer s.Close()
	v, err := s.Ask(context.Background(), event.StoreRequest{KV: q})
	if errors.Is(err, engine.ErrReadOnly) { // expired keys must be removed first
		writing, err := a.openExisting(dir, &args.Drive{})
		if err != nil {
			return nil, err
		}
		defer writing.Close()
		v, err = writing.Ask(context.Background(), event.StoreRequest{KV: q})
		return v, refusedKV(err)
	}
	return v, refusedKV(err)
}

// refusedKV turns a request that is not possible into an error of usage.
func refusedKV(err error) error {
	var no *shared.Refusal
	if errors.As(err, &no) {
		return &args.Error{Message: ui.CleanLines(no.Message)}
	}
	return err
}
