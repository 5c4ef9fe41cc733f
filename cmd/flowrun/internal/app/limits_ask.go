package app

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// readLimits returns the agents and quotas that the store knows. A store that does not exist knows none.
func (a *app) readLimits() ([]event.Limit, error) {
	return readStore(a, func(ctx context.Context, s *store) ([]event.Limit, error) { return s.Limits(ctx) })
}

// changeLimit changes an agent or a breaker. Only stop makes a store where there is none.
func (a *app) changeLimit(c event.LimitChange) (changed bool, err error) {
	dir, err := a.storeDir("")
	if err != nil {
		return false, err
	}
	var s *store
	if c.Stop != "" {
		s, err = a.openStore(dir, args.Drive{})
	} else {
		s, err = a.openExisting(dir, &args.Drive{})
	}
	if errors.Is(err, engine.ErrNoStore) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer s.Close()
	return s.ChangeLimit(context.Background(), c)
}

// jsonFlag declares --json.
func jsonFlag(c *cobra.Command, asJSON *bool) { c.Flags().BoolVar(asJSON, "json", false, "as JSON") }

func now() event.Time { return event.At(time.Now()) }
