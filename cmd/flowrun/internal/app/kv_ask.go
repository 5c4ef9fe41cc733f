package app

import (
	"context"
	"errors"
	"fmt"

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
	how := makesStore
	switch q.Operation {
	case ir.KVGet, ir.KVScan:
		how = readsStore
	case ir.KVDelete:
		how = changesStore
	case ir.KVSet, ir.KVIncr, ir.KVCAS:
	}
	return a.askShared(event.StoreRequest{KV: q}, how)
}

// storeUse says what a request needs of a store.
type storeUse int

const (
	readsStore   storeUse = iota // a store that does not exist is empty
	changesStore                 // the same
	makesStore                   // a store is made where there is none
)

// askShared asks for what the runs of a store share.
func (a *app) askShared(q event.StoreRequest, how storeUse) (value.Value, error) {
	dir, err := a.storeDir("")
	if err != nil {
		return nil, err
	}
	var s *store
	switch how {
	case readsStore:
		s, err = a.openExisting(dir, nil)
	case changesStore:
		s, err = a.openExisting(dir, &args.Drive{})
	case makesStore:
		s, err = a.openStore(dir, args.Drive{})
	}
	if errors.Is(err, engine.ErrNoStore) {
		none, err := shared.Apply(new(shared.Map), &q, shared.Waiter{}, 0)
		return none.Output, refusedRequest(err)
	}
	if err != nil {
		return nil, err
	}
	defer s.Close()
	v, err := s.Ask(context.Background(), q)
	if errors.Is(err, engine.ErrReadOnly) { // expired keys must be removed first
		writing, err := a.openExisting(dir, &args.Drive{})
		if err != nil {
			return nil, err
		}
		defer writing.Close()
		v, err = writing.Ask(context.Background(), q)
		return v, refusedRequest(err)
	}
	return v, refusedRequest(err)
}

// refusedRequest turns a request that is not possible into an error of usage.
func refusedRequest(err error) error {
	var no *shared.Refusal
	if errors.As(err, &no) {
		return &args.Error{Message: ui.CleanLines(no.Message)}
	}
	return err
}

// valueOf reads a value of the command line: JSON, or else a text. what names the value.
func valueOf(what, text string) (value.Value, error) {
	v, err := value.JSONOrText(text)
	var broken *value.BrokenJSON
	if errors.As(err, &broken) {
		return nil, &args.Error{Message: fmt.Sprintf("%s is not JSON: %s", what, ui.Clean(broken.Fault)), Hint: value.HowToQuote + "."}
	}
	return v, err
}

// printAdded prints the id of an event or of work that was added, and duplicate if its key was used before.
func (a *app) printAdded(v value.Value, duplicate string, asJSON bool) error {
	o, _ := v.(map[string]any)
	id, _ := o["id"].(string)
	again := o["duplicate"] == true
	switch {
	case asJSON:
		return ui.WriteJSON(a.out, struct {
			ID        string `json:"id"`
			Duplicate bool   `json:"duplicate"`
		}{id, again})
	case again:
		a.out.Printf("%s %s\n", ui.Clean(id), duplicate)
	default:
		a.out.Printf("%s\n", ui.Clean(id))
	}
	return nil
}

// askNamespaces returns the number of keys of each namespace that has keys.
func (a *app) askNamespaces() (map[string]value.Value, error) {
	v, err := a.askShared(event.StoreRequest{Namespaces: true}, readsStore)
	found, _ := v.(map[string]value.Value)
	return found, err
}
